"""Nested functions of a work unit, written out where `parallel_for(TeamThreadRange(...), f)` and
its like call them.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Sequence
from dataclasses import field
from types import FunctionType
from typing import Any

from fusewright.base.errors import UnsupportedError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos.dialect import trees
from fusewright.bridges.pykokkos.dialect.annotations import last_word
from fusewright.bridges.pykokkos.dialect.functions import DECLARED
from fusewright.frontends.kernels.language import ndrange
from fusewright.frontends.kernels.source import Source

COLLECTIVE = frozenset({"TeamThreadRange", "TeamThreadMDRange", "TeamVectorRange"})
RANGES = COLLECTIVE | {"ThreadVectorRange", "ThreadVectorMDRange", "TeamVectorMDRange"}
PATTERNS = frozenset({"parallel_for", "parallel_reduce", "parallel_scan", "single"})
_DOUBLE = ast.Name("float", ast.Load())
_numbers = itertools.count()


@dataclass(slots=True)
class Closures:
    """The nested functions known so far in a work unit.

    `member` is what a closure's iteration sets first where a member of the team is told apart.
    """

    source: Source
    function: FunctionType
    known: dict[str, ast.FunctionDef] = field(default_factory=dict)
    member: str = ""

    def inside(self) -> Closures:
        """The same, for the body of one of them."""
        return Closures(self.source, self.function, dict(self.known), self.member)

    def refuse(self, node: ast.AST, what: str, help: str = "") -> UnsupportedError:
        span: Span = self.source.span(node)
        return UnsupportedError(what, span, help=help)

    # -- statements -------------------------------------------------------------------------------

    def expand(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements without nested functions."""
        made: list[ast.stmt] = []
        for statement in body:
            made += self.statement(statement)
        return made

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """One statement; the nested functions it calls are written out before it."""
        if isinstance(node, ast.FunctionDef):
            self.known[node.name] = node
            return []
        if isinstance(node, ast.If | ast.For | ast.While):
            return self._compound(node)
        calls = _Calls(self)
        fresh = calls.visit(copy.deepcopy(node))
        done = isinstance(fresh, ast.Expr) and isinstance(fresh.value, ast.Constant)
        return trees.at(node, [*calls.before, *([] if done and calls.before else [fresh])])

    def _compound(self, node: ast.If | ast.For | ast.While) -> list[ast.stmt]:
        fresh = copy.copy(node)
        fresh.body = self.inside().expand(node.body) or [ast.copy_location(ast.Pass(), node)]
        fresh.orelse = self.inside().expand(node.orelse)
        return [fresh]

    # -- calls ------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> tuple[list[ast.stmt], ast.expr]:
        """A pattern written out: its statements, and what it gives."""
        pattern = last_word(node.func)
        args = list(node.args)
        if args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str):
            args.pop(0)
        if len(args) < 2 or not isinstance(args[0], ast.Call):
            raise self.refuse(node, f"this form of {pattern} inside a work unit")
        policy, closure = args[0], self._closure(args[1])
        if pattern == "single":
            return self._inlined(closure, []), ast.Constant(None)
        return self._ranged(node, pattern, policy, closure)

    def _closure(self, node: ast.expr) -> ast.FunctionDef:
        found = self.known.get(node.id) if isinstance(node, ast.Name) else None
        if found is None:
            raise self.refuse(
                node, "this function is not known here", "define it in the work unit, before"
            )
        return found

    def _ranged(
        self, node: ast.Call, pattern: str, policy: ast.Call, closure: ast.FunctionDef
    ) -> tuple[list[ast.stmt], ast.expr]:
        if last_word(policy.func) not in RANGES:
            raise self.refuse(policy, f"{last_word(policy.func)} inside a work unit")
        mark = next(_numbers)
        parameters = [arg.arg for arg in closure.args.args]
        bounds = policy.args[1:]
        many = last_word(policy.func).endswith("MDRange")
        indices = [f"{parameters[k]}@{mark}" for k in range(len(bounds) if many else 1)]
        values: list[ast.expr] = [trees.name(index) for index in indices]
        start: list[ast.stmt] = []
        result: ast.expr = ast.Constant(None)
        if pattern != "parallel_for":
            total = f"{parameters[len(indices)]}@{mark}"
            annotation = closure.args.args[len(indices)].annotation
            kind = annotation.slice if isinstance(annotation, ast.Subscript) else _DOUBLE
            start = [ast.AnnAssign(trees.target(total), kind, ast.Constant(0), 1)]
            result = trees.name(total)
            values += [result, *([ast.Constant(True)] if pattern == "parallel_scan" else [])]
        body = self._member(indices[0], closure) + self._inlined(closure, values)
        return trees.at(node, [*start, _loop(pattern, indices, bounds, many, body)]), result

    def _member(self, index: str, closure: ast.FunctionDef) -> list[ast.stmt]:
        """Which member runs an iteration, where the closure can tell."""
        if not self.member:
            return []
        text = f"rank = index % {self.member}"
        return trees.fill(text, {"rank": "team.rank", "index": index})

    def _inlined(self, closure: ast.FunctionDef, values: Sequence[ast.expr]) -> list[ast.stmt]:
        """A closure's body with its own names renamed."""
        for node in ast.walk(closure):
            if isinstance(node, ast.Return) and node.value is not None:
                raise self.refuse(node, "a nested function that returns a value")
        parameters = [arg.arg for arg in closure.args.args]
        if len(parameters) != len(values):
            raise self.refuse(
                closure, f"{closure.name} takes {len(parameters)} arguments, not {len(values)}"
            )
        mark = next(_numbers)
        names: dict[str, str | ast.expr] = {
            name: f"{name}@{mark}" for name in _own_names(closure) - set(parameters)
        }
        typed = [
            ast.AnnAssign(trees.target(f"{arg.arg}@{mark}"), arg.annotation, value, 1)
            for arg, value in zip(closure.args.args, values, strict=True)
            if arg.annotation is not None and not _is_accumulator(arg)
        ]
        for arg, value in zip(closure.args.args, values, strict=True):
            plain = arg.annotation is None or _is_accumulator(arg)
            names[arg.arg] = value if plain else f"{arg.arg}@{mark}"
        body = self.inside().expand(_without_scopes(closure.body))
        rename = trees.Rename(names)
        return [*typed, *(rename.visit(copy.deepcopy(statement)) for statement in body)]


def _is_accumulator(arg: ast.arg) -> bool:
    return last_word(arg.annotation) == "Acc"


def _without_scopes(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [node for node in body if not isinstance(node, ast.Nonlocal | ast.Global)]


def _own_names(closure: ast.FunctionDef) -> set[str]:
    """The names a nested function binds itself; nested functions in it have their own."""
    outer = {n for node in closure.body if isinstance(node, ast.Nonlocal) for n in node.names}
    found: set[str] = set()
    pending: list[ast.AST] = list(closure.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        pending += ast.iter_child_nodes(node)
    return found - outer


def _loop(
    pattern: str,
    indices: Sequence[str],
    bounds: Sequence[ast.expr],
    many: bool,
    body: list[ast.stmt],
) -> ast.stmt:
    if many:
        space: ast.expr = trees.call(ndrange, *bounds)
        target: ast.expr = ast.Tuple([trees.target(index) for index in indices], ast.Store())
    else:
        space = trees.call(range, *bounds)
        target = trees.target(indices[0])
    if pattern == "parallel_for":
        space = trees.call(DECLARED, space)
    return ast.For(target, space, body or [ast.Pass()], [])


class _Calls(ast.NodeTransformer):
    """Takes the patterns out of an expression; what they give stays."""

    def __init__(self, closures: Closures) -> None:
        self.closures = closures
        self.before: list[ast.stmt] = []

    def visit_Call(self, node: ast.Call) -> Any:
        if is_pattern(node):
            statements, result = self.closures.call(node)
            self.before += statements
            return ast.copy_location(result, node)
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in self.closures.known
            and not node.keywords
        ):
            closure = self.closures.known[node.func.id]
            self.before += self.closures._inlined(closure, node.args)
            return ast.copy_location(ast.Constant(None), node)
        return self.generic_visit(node)


def is_pattern(node: ast.AST) -> bool:
    """Whether a call is one of `parallel_for`, `parallel_reduce`, ..."""
    return isinstance(node, ast.Call) and last_word(node.func) in PATTERNS
