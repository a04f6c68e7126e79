"""The `Debug` space: work units as plain Python, one index after the other.

An accumulator is a Python number, which a call cannot change: work units that have one run from a
copy of their code that returns it.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any

from fusewright.base.source import parse_module
from fusewright.bridges.pykokkos.dialect.annotations import last_word
from fusewright.bridges.pykokkos.policies import (
    MDRangePolicy,
    PerThread,
    RangePolicy,
    TeamPolicy,
    TeamThreadMDRange,
    _Nested,
)
from fusewright.bridges.pykokkos.reducers import Reducer
from fusewright.frontends.kernels import source as sources
from fusewright.ir.dtypes import BOOL, FLOAT64


class TeamMember:
    """A member of a team: alone in it, in plain Python."""

    def __init__(self, league_rank: int, team_rank: int = 0) -> None:
        self._league_rank, self._team_rank = league_rank, team_rank

    def league_rank(self) -> int:
        return self._league_rank

    def team_rank(self) -> int:
        return self._team_rank

    def team_size(self) -> int:
        return 1

    def team_scratch(self, level: int) -> int:
        return level

    thread_scratch = team_scratch

    def team_barrier(self) -> None:
        """Nobody else is waited for."""

    def __index__(self) -> int:
        return self._league_rank


class Accumulator:
    """What an iteration adds to: a number, or several under names."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)


def run(
    pattern: str,
    policy: Any,
    workunit: Any,
    kwargs: Mapping[str, Any],
    reducer: Reducer,
    view: Any,
) -> Any:
    """A work unit over a policy, in plain Python."""
    if view is not None:
        for index in _indices(policy):
            view[index[0] if len(index) == 1 else index] = workunit(*index)
        return None
    if pattern == "for":
        for index in _indices(policy):
            workunit(*index, **kwargs)
        return None
    return _accumulated(pattern, policy, workunit, kwargs, reducer)


def _accumulated(
    pattern: str, policy: Any, workunit: Any, kwargs: Mapping[str, Any], reducer: Reducer
) -> Any:
    call = returning(workunit)
    last = (True,) if pattern == "scan" else ()
    parts = {part.name: _identity(part) for part in reducer.parts}
    total: Any = parts["val"] if len(parts) == 1 else Accumulator(**parts)
    for index in _indices(policy):
        total = call(*index, total, *last, **kwargs)
    if reducer.result is None:
        return bool(total) if reducer.kind is BOOL else total
    return reducer.result(*(getattr(total, part.name) for part in reducer.parts))


def _identity(part: Any) -> Any:
    value = part.identity(part.kind or FLOAT64)
    assert isinstance(value, ast.Constant)
    return value.value


def _indices(policy: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(policy, RangePolicy | _Nested):
        return ((index,) for index in range(policy.begin, policy.end))
    if isinstance(policy, TeamPolicy):
        return ((TeamMember(rank),) for rank in range(policy.league_size))
    if isinstance(policy, TeamThreadMDRange):
        return iter(itertools.product(*map(range, policy.extents)))
    assert isinstance(policy, MDRangePolicy)
    return iter(itertools.product(*map(range, policy.begin, policy.end)))


def nested(pattern: str, policy: Any, closure: Callable[..., Any]) -> Any:
    """A pattern inside a work unit that runs as plain Python."""
    if pattern == "for":
        for index in _indices(policy):
            closure(*index)
        return None
    total: Any = 0
    last = (True,) if pattern == "scan" else ()
    for index in _indices(policy):
        total = closure(*index, total, *last)
    return total


def single(policy: Any, closure: Callable[..., Any]) -> None:
    """Once for each team; the one member is also the only thread."""
    if isinstance(policy, PerThread) or policy.what.team_rank() == 0:
        closure()


_returning: dict[CodeType, CodeType] = {}


def returning(workunit: Any) -> Callable[..., Any]:
    """The work unit as a function that returns its accumulator."""
    function: Any = workunit.__func__ if isinstance(workunit, MethodType) else workunit
    if function.__name__ == "<lambda>":
        found: Callable[..., Any] = function
        return found
    code = _returning.get(function.__code__)
    if code is None:
        code = _returning[function.__code__] = _code(function, isinstance(workunit, MethodType))
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    return MethodType(made, workunit.__self__) if isinstance(workunit, MethodType) else made


def _code(function: FunctionType, method: bool) -> CodeType:
    found = sources.read(function)
    tree = copy.deepcopy(found.tree)
    tree.decorator_list = []
    tree.returns = None
    place = 2 if method else 1
    _Returning(tree.args.args[place].arg).visit(tree)
    for arg in tree.args.args:
        arg.annotation = None
    free = function.__code__.co_freevars
    body: list[ast.stmt] = [tree]
    if free:
        around = parse_module("def around(): pass").body[0]
        assert isinstance(around, ast.FunctionDef)
        names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in free]
        around.body = [ast.Assign(names, ast.Constant(None)), tree]
        body = [around]
    module = ast.fix_missing_locations(ast.Module(body, []))
    code = compile(module, found.file, "exec", dont_inherit=True)
    while code.co_name != tree.name:
        code = next(c for c in code.co_consts if isinstance(c, CodeType))
    return code


class _Returning(ast.NodeTransformer):
    """Functions with an accumulator return it; nested ones are told by their annotations."""

    def __init__(self, acc: str) -> None:
        self.acc = acc

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        inner = self.acc
        for child in node.body:
            if isinstance(child, ast.FunctionDef):
                named = [a.arg for a in child.args.args if last_word(a.annotation) == "Acc"]
                _Returning(named[0] if named else "").visit(child)
                for arg in child.args.args:
                    arg.annotation = None
        if inner:
            for statement in node.body:
                if not isinstance(statement, ast.FunctionDef):
                    _Leaving(inner).visit(statement)
            node.body.append(ast.Return(ast.Name(inner, ast.Load())))
        return node


class _Leaving(ast.NodeTransformer):
    def __init__(self, acc: str) -> None:
        self.acc = acc

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return ast.Return(ast.Name(self.acc, ast.Load()))
