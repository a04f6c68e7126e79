"""What the members of a team do, one statement of the work unit after the other.

A team of one member is the work unit itself.  With more, what stands between two barriers is a
loop over the members (`team.rank`); what all do together (ranges of the team, `single` per team)
is done once; a variable that differs between members and outlives a barrier is an array.

    x = a[team.team_rank()]       for rank in range(T):
    team.team_barrier()      ->       x_all[rank] = a[rank]
    b[team.team_rank()] = x       for rank in range(T):
                                      b[rank] = x_all[rank]
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import field

from fusewright.base.errors import UnsupportedError
from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos.dialect import trees
from fusewright.bridges.pykokkos.dialect.annotations import (
    element_of,
    kind_of,
    last_word,
    numpy_of,
)
from fusewright.bridges.pykokkos.dialect.closures import (
    COLLECTIVE,
    Closures,
    is_pattern,
)
from fusewright.bridges.pykokkos.dialect.functions import FENCE
from fusewright.bridges.pykokkos.dialect.rules import Kind
from fusewright.frontends.kernels import language
from fusewright.frontends.kernels.source import Source
from fusewright.ir.dtypes import FLOAT64

RANK = "team.rank"


@dataclass(slots=True)
class Scratch:
    """A scratch view: its name, element type, and the expressions of its extents."""

    name: str
    kind: Kind
    extents: list[ast.expr]
    per_member: bool


_METHODS = ("team_barrier", "team_scratch", "thread_scratch")
"""Those that are left for others."""


class Members(ast.NodeTransformer):
    """`team.league_rank()` and its like as numbers; barriers are left for the fission."""

    def __init__(self, team: str, size: int, source: Source) -> None:
        self.team, self.size, self.source = team, size, source

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        own = isinstance(function, ast.Attribute) and last_word(function.value) == self.team
        if not own or not isinstance(function, ast.Attribute):
            return self.generic_visit(node)
        word = function.attr
        if word == "league_rank":
            return ast.copy_location(trees.name(self.team), node)
        if word == "team_rank":
            value = trees.name(RANK) if self.size > 1 else ast.Constant(0)
            return ast.copy_location(value, node)
        if word == "team_size":
            return ast.copy_location(ast.Constant(self.size), node)
        if word == "team_barrier" and self.size == 1:
            return ast.copy_location(trees.call(FENCE), node)
        if word not in _METHODS:
            raise UnsupportedError(
                f"a team member has no `{word}`",
                self.source.span(node),
                help="league_rank, team_rank, team_size, team_barrier, team_scratch, "
                "thread_scratch; how many teams there are is an argument of your own",
            )
        return self.generic_visit(node)


def scratch_of(closures: Closures, node: ast.stmt) -> Scratch | None:
    """`s: pk.ScratchView1D[float] = pk.ScratchView1D(team.team_scratch(0), n)`."""
    target: ast.expr
    if isinstance(node, ast.AnnAssign):
        target, value, annotation = node.target, node.value, node.annotation
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value, annotation = node.targets[0], node.value, ast.Constant(None)
    else:
        return None
    called = value.func if isinstance(value, ast.Call) else None
    if called is None or not last_word(called).startswith("ScratchView"):
        return None
    assert isinstance(value, ast.Call) and isinstance(target, ast.Name)
    kind = element_of(closures.function, annotation) or element_of(closures.function, called)
    where = last_word(value.args[0].func) if isinstance(value.args[0], ast.Call) else ""
    return Scratch(target.id, kind or FLOAT64, value.args[1:], where == "thread_scratch")


@dataclass(slots=True)
class Fission:
    """A work unit's body for a team of `size` members; `extents` are those of its scratch views."""

    closures: Closures
    size: int
    extents: list[tuple[int, ...]]
    shared: frozenset[str]
    made: list[ast.stmt] = field(default_factory=list)
    pending: list[ast.stmt] = field(default_factory=list)
    differing: set[str] = field(default_factory=set)

    def run(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements in program order."""
        if self.size > 1:
            self._find_differing(body)
            body = self._spread(body)
        self._statements(body)
        self._flush()
        return self.made

    def _statements(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            scratch = scratch_of(self.closures, node)
            if scratch is not None:
                self._flush()
                self.made += self._allocated(scratch, node)
            elif isinstance(node, ast.FunctionDef):
                self.closures.statement(node)
            elif self.size == 1:
                self.made += self._alone(node)
            else:
                self._together(node)

    def _alone(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.If | ast.For | ast.While):
            fresh = copy.copy(node)
            fresh.body = self._inside(node.body) or [ast.copy_location(ast.Pass(), node)]
            fresh.orelse = self._inside(node.orelse)
            return [fresh]
        return self.closures.statement(node)

    def _inside(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        inner = Fission(
            self.closures.inside(), self.size, self.extents, self.shared,
            differing=self.differing,
        )  # fmt: skip
        inner._statements(body)
        inner._flush()
        return inner.made

    def _allocated(self, scratch: Scratch, node: ast.stmt) -> list[ast.stmt]:
        extents = self.extents.pop(0)
        if not extents:
            return [ast.copy_location(ast.Pass(), node)]
        shape = (self.size, *extents) if scratch.per_member and self.size > 1 else extents
        made = trees.call(
            language.local,
            trees.tuple_of(ast.Constant(extent) for extent in shape),
            trees.given(numpy_of(scratch.kind).type),
        )
        return trees.at(node, [trees.assign(scratch.name, made)])

    # -- several members --------------------------------------------------------------------------

    def _together(self, node: ast.stmt) -> None:
        """One statement of a team of several."""
        if _is_barrier(node):
            self._flush()
        elif not _is_collective(node):
            if self._is_uniform(node):
                self._flush()
                self.made += self.closures.statement(node)
            else:
                self.pending.append(node)
        else:
            self._flush()
            self._once(node)

    def _once(self, node: ast.stmt) -> None:
        """What the team does together; where a condition asks for a rank, rank 0 answers."""
        start = trees.at(node, [trees.assign(RANK, ast.Constant(0))])
        if isinstance(node, ast.If | ast.For | ast.While):
            fresh = copy.copy(node)
            fresh.body = self._inside(node.body) or [ast.copy_location(ast.Pass(), node)]
            fresh.orelse = self._inside(node.orelse)
            self.made += [*start, fresh]
            return
        self.closures.member = str(self.size)
        self.made += [*start, *self.closures.statement(node)]
        self.closures.member = ""

    def _flush(self) -> None:
        """What is pending runs once for each member."""
        if self.pending:
            place = self.pending[0]
            body = self.closures.expand(self.pending)
            space = trees.call(range, ast.Constant(self.size))
            self.made += trees.at(place, [trees.loop(RANK, space, body)])
            self.pending = []

    def _is_uniform(self, node: ast.stmt) -> bool:
        """Whether it gives a variable the same value in each member, and does nothing else."""
        names = _targets(node)
        if not names or names & (self.differing | self.shared):
            return False
        return not any(isinstance(each, ast.Call) and _acts(each) for each in ast.walk(node))

    def _find_differing(self, body: Sequence[ast.stmt]) -> None:
        """The variables whose value depends on the rank, directly or through others."""
        self.differing.add(RANK)
        before = 0
        while before != len(self.differing):
            before = len(self.differing)
            for root in body:
                self._mark(root, False)
        self.differing -= self.shared

    def _mark(self, node: ast.stmt, under: bool) -> None:
        if isinstance(node, ast.FunctionDef):
            return
        if isinstance(node, ast.If | ast.While | ast.For):
            test = node.iter if isinstance(node, ast.For) else node.test
            under = under or self._reads_differing(test)
            if under and isinstance(node, ast.For):
                self.differing |= _targets(node)
            for inner in (*node.body, *node.orelse):
                self._mark(inner, under)
            return
        pattern = any(is_pattern(each) for each in ast.walk(node))
        if (under or self._reads_differing(node)) and not pattern:
            self.differing |= _targets(node)

    def _reads_differing(self, node: ast.AST) -> bool:
        return any(
            isinstance(each, ast.Name) and each.id in self.differing for each in ast.walk(node)
        )

    def _spread(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Variables that differ become arrays with an element for each member."""
        kinds = {
            node.target.id: node.annotation
            for root in body
            for node in ast.walk(root)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        own = {name for name in self.differing - {RANK} if name in kinds}
        places: dict[str, str | ast.expr] = {}
        for name in sorted(own):
            kind = self._kind(kinds[name])
            made = trees.call(
                language.local, ast.Constant(self.size), trees.given(numpy_of(kind).type)
            )
            self.made += trees.at(body[0], [trees.assign(f"{name}.all", made)])
            places[name] = ast.Subscript(trees.name(f"{name}.all"), trees.name(RANK), ast.Load())
        rename = _Spread(places)
        return [rename.visit(copy.deepcopy(root)) for root in body]

    def _kind(self, annotation: ast.expr) -> Kind:
        return kind_of(self.closures.function, annotation) or FLOAT64


class _Spread(trees.Rename):
    """Declarations of spread variables are assignments to elements."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if isinstance(node.target, ast.Name) and node.target.id in self.names:
            value = node.value or ast.Constant(0)
            fresh = ast.copy_location(ast.Assign([node.target], value), node)
            return self.generic_visit(ast.fix_missing_locations(fresh))
        return self.generic_visit(node)


def _targets(node: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _acts(node: ast.Call) -> bool:
    word = last_word(node.func)
    return word.startswith("atomic") or word in ("rand", "printf") or is_pattern(node)


def _is_barrier(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and last_word(call.func) == "team_barrier"


def _is_collective(node: ast.AST) -> bool:
    """Whether all members must meet in it."""
    if isinstance(node, ast.FunctionDef):
        return False
    if isinstance(node, ast.Call):
        word = last_word(node.func)
        if word == "team_barrier":
            return True
        if is_pattern(node):
            args = [a for a in node.args if isinstance(a, ast.Call)]
            if any(last_word(a.func) in (*COLLECTIVE, "PerTeam") for a in args):
                return True
    return any(_is_collective(child) for child in ast.iter_child_nodes(node))
