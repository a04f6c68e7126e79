"""A work unit as a kernel: its rewritten body, the loops around it, and what a call must pass."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from fusewright.base.errors import KernelError
from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos.decorators import views_of
from fusewright.bridges.pykokkos.dialect import drivers, trees
from fusewright.bridges.pykokkos.dialect.annotations import (
    assigned_by,
    fields_of,
    kind_of,
    last_word,
)
from fusewright.bridges.pykokkos.dialect.closures import Closures
from fusewright.bridges.pykokkos.dialect.drivers import Form
from fusewright.bridges.pykokkos.dialect.functions import RECORD, conversion, table
from fusewright.bridges.pykokkos.dialect.rewrite import Rewriter, Scope, local_names, prologue
from fusewright.bridges.pykokkos.dialect.rules import combine, convert, rule
from fusewright.bridges.pykokkos.dialect.teams import Fission, Members
from fusewright.bridges.pykokkos.spaces import Trait
from fusewright.frontends.kernels import source as sources
from fusewright.frontends.kernels.context import Dialect
from fusewright.frontends.kernels.source import Source

POOL = ("pool_seed", "pool_launch")


@dataclass(slots=True)
class Unit:
    """A work unit taken apart.

    `indices` are its first parameters, then comes the accumulator (`acc`), the flag of a scan
    (`last`), and the arguments by keyword.  `owner` is the class whose method it is, `fields` what
    it uses of its object.
    """

    function: FunctionType
    source: Source
    owner: type | None
    receiver: str
    indices: tuple[str, ...]
    acc: str
    last: str
    keywords: tuple[str, ...]
    team: str
    fields: tuple[str, ...] = ()
    draws: bool = False
    ordered: bool = False


def take_apart(
    function: FunctionType, source: Source, owner: type | None, pattern: str, dims: int
) -> Unit:
    """The parts of a work unit's signature, by their places."""
    args = source.tree.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    receiver = names.pop(0) if owner is not None and names else ""
    extra = {"for": 0, "reduce": 1, "scan": 2}[pattern]
    if len(names) < dims + extra:
        raise KernelError(
            f"{function.__name__} takes {len(names)} arguments, a parallel_{pattern} gives it "
            f"{dims + extra}",
            source.span(source.tree),
            help="an index for each dim, then the accumulator, then (of a scan) whether it is the "
            "last pass",
        )
    rest = names[dims:]
    unit = Unit(
        function, source, owner, receiver, tuple(names[:dims]),
        rest[0] if extra else "", rest[1] if extra > 1 else "", tuple(rest[extra:]), "",
    )  # fmt: skip
    seen: set[FunctionType] = set()
    _survey(unit, source.tree, function, receiver, seen)
    return unit


def _survey(
    unit: Unit, tree: ast.AST, function: FunctionType, receiver: str, seen: set[FunctionType]
) -> None:
    """What a work unit uses of its object, through its methods too; whether it needs order."""
    seen.add(function)
    used = list(unit.fields)
    bound = local_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            word = last_word(node.func)
            unit.draws |= word == "rand"
            unit.ordered |= word.startswith("atomic_") or word == "printf"
        attr = ""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attr = node.attr if receiver and node.value.id == receiver else ""
        elif isinstance(node, ast.Name) and node.id not in bound and unit.owner is not None:
            known = node.id in function.__globals__ or node.id in function.__code__.co_freevars
            attr = node.id if not known and node.id in assigned_by(unit.owner) else ""
        if not attr or unit.owner is None:
            continue
        found = getattr(unit.owner, attr, None)
        if isinstance(found, FunctionType):
            if found not in seen:
                other = sources.read(found)
                own = other.tree.args.args[0].arg if other.tree.args.args else ""
                unit.fields = tuple(dict.fromkeys(used))
                _survey(unit, other.tree, found, own, seen)
                used = list(unit.fields)
        elif found is None:
            used.append(attr)
    unit.fields = tuple(dict.fromkeys(used))


@cache
def rewritten(function: FunctionType) -> Source:
    """A function that work units call, rewritten."""
    plain = sources.read(function)
    tree = copy.deepcopy(plain.tree)
    scope = Scope(function, local_names(tree), returns=kind_of(function, tree.returns))
    start = prologue(scope, tree.args, frozenset())
    closures = Closures(plain, function)
    body = Rewriter(scope)._block(closures.expand(tree.body))
    tree.body = [*start, *body]
    ast.fix_missing_locations(tree)
    return Source(tree, plain.file, plain.indent)


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel to be: the driver's tree, its parameters, and the dialect that reads the rest."""

    function: FunctionType
    source: Source
    parameters: tuple[str, ...]
    dialect: Dialect


@cache
def _rows() -> dict[Any, Callable[..., Any]]:
    return table()


def program(unit: Unit, form: Form, team_size: int, extents: list[tuple[int, ...]]) -> Program:
    """The kernel for a form of dispatch, a team size and extents of scratch views."""
    proxy, tree = _variant(unit, form, team_size, extents)
    place = unit.source.tree
    rest: list[ast.expr] = [trees.name(name) for name in unit.keywords]
    rest += [trees.name(name) for name in POOL] if unit.draws else []
    called: ast.expr = trees.given(proxy)
    names = [*drivers.parameters(form), *unit.keywords]
    names += POOL if unit.draws else ()
    start: list[ast.stmt] = []
    body = drivers.body(form, called, rest, drivers.Called(unit.indices, unit.acc))
    if unit.owner is not None:
        names += [f"self.{name}" for name in unit.fields]
        start = [trees.assign("self.", _object(unit))]
        body = _with_receiver(body, proxy)
    args = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    driver = ast.FunctionDef(
        unit.function.__name__, args, trees.at(place, [*start, *body]), [], None, None
    )
    ast.copy_location(driver, place)
    ast.fix_missing_locations(driver)
    source = Source(driver, unit.source.file, unit.source.indent)
    variant = Source(tree, unit.source.file, unit.source.indent)

    def read(function: FunctionType) -> Source:
        return variant if function is proxy else rewritten(function)

    dialect = Dialect("pykokkos", read, _rows(), rule, combine, _stored)
    plain = FunctionType(_driver.__code__, unit.function.__globals__, unit.function.__name__)
    return Program(plain, source, tuple(names), dialect)


def _driver() -> None:
    """Stands for the loops around a work unit where a function is asked for."""


def _stored(number: Any, dtype: Any, span: Any) -> Any:
    return convert(number, dtype, span).expr


def _object(unit: Unit) -> ast.expr:
    """The work unit's object, handed over in parts."""
    assert unit.owner is not None
    kinds = fields_of(unit.owner)
    parts: list[ast.expr] = []
    for name in unit.fields:
        value: ast.expr = trees.name(f"self.{name}")
        kind = kinds.get(name)
        if kind is not None:
            value = trees.call(conversion(kind), value)
        parts += [ast.Constant(name), value]
    return trees.call(RECORD, trees.given(unit.owner), *parts)


def _with_receiver(body: list[ast.stmt], proxy: FunctionType) -> list[ast.stmt]:
    for root in body:
        for node in ast.walk(root):
            if isinstance(node, ast.Call) and getattr(node.func, "value", None) is proxy:
                node.args.insert(0, trees.name("self."))
    return body


def _variant(
    unit: Unit, form: Form, team_size: int, extents: list[tuple[int, ...]]
) -> tuple[FunctionType, ast.FunctionDef]:
    """The work unit as a function that is called with its accumulator and returns it."""
    function = unit.function
    tree = copy.deepcopy(unit.source.tree)
    parts = form.reducer.parts
    split = frozenset({unit.acc}) if unit.acc and len(parts) > 1 else frozenset[str]()
    scope = Scope(
        function, local_names(tree), owner=unit.receiver,
        fields=frozenset(unit.fields) if unit.owner is not None else frozenset(), split=split,
        index=unit.indices,
    )  # fmt: skip
    skip = frozenset({unit.acc, unit.team} - {""})
    body: list[ast.stmt] = list(tree.body)
    closures = Closures(unit.source, function)
    if unit.team:
        members = Members(unit.team, team_size, unit.source)
        body = [members.visit(statement) for statement in body]
        shared = frozenset({unit.acc} - {""})
        body = Fission(closures, team_size, list(extents), shared).run(body)
    else:
        body = closures.expand(body)
    start = prologue(scope, tree.args, skip)
    given: list[ast.stmt] = []
    if unit.acc:
        result = _accumulator(scope, unit, form)
        if split:
            names = [f"{unit.acc}.{part.name}" for part in parts]
            target = ast.Tuple([trees.target(name) for name in names], ast.Store())
            given = [ast.Assign([target], trees.name(unit.acc))]
        body = [_Returns(result).visit(statement) for statement in body]
        body.append(ast.Return(result))
    body = Rewriter(scope)._block(body)
    tree.body = trees.at(tree, [*given, *start, *body])
    ast.fix_missing_locations(tree)
    return _proxy(unit), tree


def _accumulator(scope: Scope, unit: Unit, form: Form) -> ast.expr:
    """What the work unit returns; its parts' types are noted."""
    parts = form.reducer.parts
    if len(parts) == 1:
        scope.types[unit.acc] = parts[0].kind_of(form.kind)
        return trees.name(unit.acc)
    for part in parts:
        scope.types[f"{unit.acc}.{part.name}"] = part.kind_of(form.kind)
    return trees.tuple_of(trees.name(f"{unit.acc}.{part.name}") for part in parts)


class _Returns(ast.NodeTransformer):
    """`return` hands the accumulator back."""

    def __init__(self, result: ast.expr) -> None:
        self.result = result

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return ast.copy_location(ast.Return(copy.deepcopy(self.result)), node)


def _proxy(unit: Unit) -> FunctionType:
    """The same function as another object, called with what the driver passes."""
    function = unit.function
    proxy = FunctionType(
        function.__code__, function.__globals__, function.__name__, None, function.__closure__
    )
    names = [unit.receiver, *unit.indices, unit.acc, unit.last, *unit.keywords]
    names += POOL if unit.draws else []
    kind = inspect.Parameter.POSITIONAL_ONLY
    proxy.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in names if name]
    )
    return proxy


def is_ordered(unit: Unit) -> bool:
    """Whether a work unit's text says that iterations meet: in atomic updates, or on the screen."""
    named = views_of(unit.owner or unit.function)
    return unit.ordered or any(info.trait is Trait.Atomic for info in named.values())
