"""A function of work units as a function of kernels: declared types become conversions, names of C
the functions they mean.

    x: int = a[i] / 2      ->  x = <int>(a[i] / 2)
    x += 0.5               ->  x = <int>(x + 0.5)
    acc.val                ->  a variable of that name
"""

from __future__ import annotations

import ast
from dataclasses import field
from types import FunctionType
from typing import Any

from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos import atomics, randoms
from fusewright.bridges.pykokkos.decorators import role_of
from fusewright.bridges.pykokkos.dialect import trees
from fusewright.bridges.pykokkos.dialect.annotations import (
    MISSING,
    element_of,
    kind_of,
    last_word,
    resolved,
)
from fusewright.bridges.pykokkos.dialect.functions import (
    RANDOM,
    VECTOR,
    conversion,
)
from fusewright.bridges.pykokkos.dialect.mathematics import C_FUNCTIONS
from fusewright.bridges.pykokkos.dialect.rules import Kind
from fusewright.bridges.pykokkos.printing import printf
from fusewright.ir.dtypes import BOOL, FLOAT64

_ATOMICS = frozenset({*atomics.FUNCTIONS.values(), atomics.atomic_add}) | {
    atomics.atomic_compare_exchange
}
_METHODS = {"extent": "shape", "rank": "ndim"}


@dataclass(slots=True)
class Scope:
    """What is known of the function being rewritten.

    `types` are the C types of its variables, `local` all names it binds, `fields` the attributes
    of the object `owner` that bare names may mean; `split` are variables whose attributes are
    variables of their own.
    """

    function: FunctionType | None
    local: frozenset[str]
    types: dict[str, Kind] = field(default_factory=dict)
    owner: str = ""
    fields: frozenset[str] = frozenset()
    split: frozenset[str] = frozenset()
    returns: Kind | None = None
    counters: list[str] = field(default_factory=list)
    draws: int = 0
    index: tuple[str, ...] = ()


def local_names(tree: ast.AST) -> frozenset[str]:
    """Every name that a tree binds, parameters included."""
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not _is_read(n)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    inner = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n is not tree)
    return frozenset(bound | {n.name for n in inner})


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def converted(kind: Kind, value: ast.expr) -> ast.expr:
    """A conversion, unless the value has just been converted to the same type."""
    function = conversion(kind)
    if isinstance(value, ast.Call) and getattr(value.func, "value", None) == function:
        return value
    return ast.copy_location(trees.call(function, value), value)


def prologue(scope: Scope, arguments: ast.arguments, skip: frozenset[str]) -> list[ast.stmt]:
    """Parameters take their declared types."""
    found: list[ast.stmt] = []
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        kind = kind_of(scope.function, each.annotation)
        if kind is not None and each.arg not in skip:
            scope.types[each.arg] = kind
            value = converted(kind, ast.copy_location(trees.name(each.arg), each))
            found.append(trees.assign(each.arg, value))
            trees.at(each, found[-1:])
    return found


class Rewriter(ast.NodeTransformer):
    """The rewriting; statements are visited in program order."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    # -- statements -------------------------------------------------------------------------------

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        function = self.scope.function
        kind = kind_of(function, node.annotation)
        if isinstance(node.target, ast.Name) and kind is not None:
            self.scope.types[node.target.id] = kind
        if node.value is None:
            if kind is None or not isinstance(node.target, ast.Name):
                return ast.copy_location(ast.Pass(), node)
            node.value = ast.copy_location(ast.Constant(0), node)
        value: ast.expr = self.visit(node.value)
        if isinstance(value, ast.List):
            element = element_of(function, node.annotation) or FLOAT64
            items = [converted(element, item) for item in value.elts]
            value = ast.copy_location(trees.call(VECTOR, *items), value)
        elif kind is not None:
            value = converted(kind, value)
        return ast.copy_location(ast.Assign([self.visit(node.target)], value), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        value: ast.expr = self.visit(node.value)
        targets: list[ast.expr] = [self.visit(target) for target in node.targets]
        kinds = [self._declared(target) for target in targets]
        if not any(kinds):
            return ast.copy_location(ast.Assign(targets, value), node)
        if len(targets) == 1:
            kind = kinds[0]
            assert kind is not None
            return ast.copy_location(ast.Assign(targets, converted(kind, value)), node)
        made: list[ast.stmt] = [trees.assign("value.", value)]
        for target, kind in zip(targets, kinds, strict=True):
            source: ast.expr = trees.name("value.")
            made.append(ast.Assign([target], source if kind is None else converted(kind, source)))
        return trees.at(node, made)

    def _declared(self, target: ast.expr) -> Kind | None:
        return self.scope.types.get(target.id) if isinstance(target, ast.Name) else None

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        value: ast.expr = self.visit(node.value)
        target: ast.expr = self.visit(node.target)
        kind = self._declared(target)
        if kind is None or not isinstance(target, ast.Name):
            fresh = ast.AugAssign(target, node.op, value)  # type: ignore[arg-type]
            return ast.copy_location(fresh, node)
        before = ast.copy_location(trees.name(target.id), target)
        total = ast.copy_location(ast.BinOp(before, node.op, value), node)
        return ast.copy_location(ast.Assign([target], converted(kind, total)), node)

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if node.value is not None and self.scope.returns is not None:
            node.value = converted(self.scope.returns, node.value)
        return node

    def visit_For(self, node: ast.For) -> Any:
        node.iter = self.visit(node.iter)
        counter = node.target.id if isinstance(node.target, ast.Name) else ""
        if counter:
            self.scope.types.pop(counter, None)
            self.scope.counters.append(counter)
        node.body = self._block(node.body)
        if counter:
            self.scope.counters.pop()
        return node

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            found = self.visit(statement)
            made += found if isinstance(found, list) else [found]
        return made

    # -- expressions ------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self.scope.split:
            joined = f"{node.value.id}.{node.attr}"
            return ast.copy_location(ast.Name(joined, node.ctx), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        scope = self.scope
        if not _is_read(node) or node.id in scope.local or "." in node.id or "@" in node.id:
            return node
        if node.id in scope.fields and resolved(scope.function, node) is MISSING:
            owner = ast.copy_location(trees.name(scope.owner), node)
            return ast.copy_location(ast.Attribute(owner, node.id, ast.Load()), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        node.values = [converted(BOOL, value) for value in node.values]
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        found = resolved(self.scope.function, node.func)
        if isinstance(node.func, ast.Name):
            bare = self._c_function(node.func, found)
            if bare is not None:
                node.func = ast.copy_location(trees.given(bare), node.func)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return self._method(node, node.func)
        if found is randoms.rand or last_word(node.func) == "rand":
            return self._random(node)
        self.generic_visit(node)
        if _is_atomic(found):
            node.args = [
                ast.copy_location(trees.tuple_of(arg.elts), arg)
                if isinstance(arg, ast.List)
                else arg
                for arg in node.args
            ]
        return node

    def _c_function(self, node: ast.Name, found: Any) -> Any:
        """The function of C that a bare name calls; what the program defines itself goes first."""
        if node.id in self.scope.local:
            return None
        if found is not MISSING and role_of(found) in ("", "function"):
            return None
        return printf if node.id == "printf" else C_FUNCTIONS.get(node.id)

    def _method(self, node: ast.Call, method: ast.Attribute) -> Any:
        """`view.extent(0)` -> `view.shape[0]`."""
        owner = ast.copy_location(
            ast.Attribute(self.visit(method.value), _METHODS[method.attr], ast.Load()), node
        )
        if not node.args:
            return owner
        return ast.copy_location(ast.Subscript(owner, node.args[0], ast.Load()), node)

    def _random(self, node: ast.Call) -> Any:
        """`pk.rand(T)`: a number for the pool, the launch, the index and the place."""
        scope = self.scope
        scope.draws += 1
        words = [trees.name(text) for text in (*scope.index, *scope.counters)]
        kind = kind_of(scope.function, node.args[0]) if node.args else FLOAT64
        wanted = conversion(kind if kind is not None else FLOAT64)
        drawn = trees.call(
            RANDOM, trees.given(wanted), trees.name("pool_seed"), trees.name("pool_launch"),
            ast.Constant(scope.draws), *words,
        )  # fmt: skip
        trees.at(node, [ast.Expr(drawn)])
        return drawn


def _is_atomic(found: Any) -> bool:
    try:
        return found in _ATOMICS
    except TypeError:
        return False
