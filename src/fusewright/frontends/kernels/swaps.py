"""Loops whose arrays change names: `a, b = b, a` at the end of a time step.

Which array a name stands for is decided when the kernel is compiled.  After as many iterations as
the exchange takes to come round (two, of two names), every name stands for what it did before: so
the loop is written out that often, the names exchanged in the copies, and what follows the loop is
written out for each way of leaving it.

    for t in range(n): f(a, b); a, b = b, a          for k in range(n // 2): f(a, b); f(b, a)
    g(a)                                     becomes     if n % 2: f(a, b); g(b)
                                                     else: g(a)

That is the same program: the copies run in the same order, on the arrays that the names stand for.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import Any

from fusewright.frontends.kernels import spaces, storing
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.liveness import NESTED, Names
from fusewright.frontends.kernels.syntax import hidden, jumps_of, placed
from fusewright.frontends.kernels.values import ArrayRef, Elementwise, View

Loop = ast.For | ast.While
Naming = Mapping[str, str]
MOST = 4
"""Iterations after which names must be what they were, at most."""
_BINDS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, *NESTED)


def rewritten(
    t: Translation, loop: ast.stmt, rest: Sequence[ast.stmt], after: Names
) -> list[ast.stmt] | None:
    """A loop and what follows it, written out; None where no arrays change names in it."""
    if not isinstance(loop, Loop):
        return None
    arrays = {name for name in t.frame.env if _is_array(t, name)}
    naming = _after_one(loop.body, arrays)
    around = sorted(naming.keys() & set(naming.values()))
    others = naming.keys() - set(around)
    if not naming or others & arrays or not _is_plain(loop, rest, naming):
        return None
    period = _period({n: naming[n] for n in around})
    if not 1 < period <= MOST or after & set(naming):
        return None
    for name in naming.keys() & arrays:
        form = _form(t, name)
        if isinstance(form, Elementwise):
            storing.store(t, form)
    writer = _Writer(loop, rest, arrays, period, t.label())
    if isinstance(loop, ast.While):
        return writer.while_loop(loop)
    if period > 2 and any(jumps_of(loop.body, ast.Break)):
        return None
    return writer.for_loop(loop) if spaces.are_bounds_named(t, loop.iter, writer.mark) else None


def _form(t: Translation, name: str) -> Any:
    bound: Any = t.frame.env[name]
    return bound.form if isinstance(bound, SlotTree) else bound


def _is_array(t: Translation, name: str) -> bool:
    """Whether it stands for an array that has memory, or may have."""
    form = _form(t, name)
    if isinstance(form, Elementwise) and not isinstance(form, View):
        return storing.may_have_memory(t, form)
    return isinstance(form, ArrayRef) and bool(form.shape)


def _copies(node: ast.stmt) -> list[tuple[str, str]]:
    """The names that a statement gives the objects of other names; none for any other statement."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    left, right = node.targets[0], node.value
    if isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple):
        pairs = list(zip(left.elts, right.elts, strict=False))
        if len(left.elts) != len(right.elts):
            return []
    else:
        pairs = [(left, right)]
    names = [(a.id, b.id) for a, b in pairs if isinstance(a, ast.Name) and isinstance(b, ast.Name)]
    return names if len(names) == len(pairs) else []


def _renamed_by(node: ast.stmt, arrays: set[str], naming: Naming) -> dict[str, str]:
    """What names stand for after a statement that only gives names to arrays."""
    pairs = _copies(node)
    known = bool(pairs) and all(b in arrays or b in naming for _, b in pairs)
    return {a: naming.get(b, b) for a, b in pairs} if known else {}


def _after_one(body: Sequence[ast.stmt], arrays: set[str]) -> dict[str, str]:
    """Which array each name stands for after an iteration, by the names before it."""
    naming: dict[str, str] = {}
    for node in body:
        naming.update(_renamed_by(node, arrays, naming))
    return naming


def _is_plain(loop: Loop, rest: Sequence[ast.stmt], naming: Naming) -> bool:
    """Whether names are exchanged by nothing else, and jumps stay what they are."""
    inside = isinstance(loop, ast.While) or any(jumps_of(loop.body, ast.Break))
    if inside and any(jumps_of(rest, (ast.Break, ast.Continue))):
        return False  # they would leave the loop that is written here
    if any(jumps_of(loop.body, ast.Continue)):
        return False
    exchanged = [node for node in loop.body if _copies(node) and _bound([node]) & naming.keys()]
    others = [node for node in loop.body if node not in exchanged]
    if _bound(others) & naming.keys():
        return False
    if isinstance(loop, ast.For) and _bound([loop.target]) & naming.keys():
        return False
    every = (n for node in (*loop.body, *rest, *loop.orelse) for n in ast.walk(node))
    return not any(isinstance(n, _BINDS) and _names(n) & naming.keys() for n in every)


def _bound(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that get other objects (`a += b` writes into the array)."""
    own = {id(n.target) for node in nodes for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in own
    }


def _names(node: ast.AST) -> set[str]:
    """The names that functions and comprehensions bind for themselves."""
    inner = list(ast.walk(node))
    return {n.arg for n in inner if isinstance(n, ast.arg)} | _bound([node])


def _period(naming: Naming) -> int:
    """After how many iterations names stand for what they did; 0 if never."""
    if sorted(naming) != sorted(naming.values()):
        return 0
    now, count = dict(naming), 1
    while any(name != base for name, base in now.items()):
        now, count = {name: naming[base] for name, base in now.items()}, count + 1
    return count


class _Writer:
    """The statements of a loop and of what follows it, under the names of each copy; `mark` tells
    its own names from those of a loop that is written out inside.
    """

    def __init__(
        self, loop: Loop, rest: Sequence[ast.stmt], arrays: set[str], period: int, mark: int
    ) -> None:
        self.loop, self.rest, self.arrays, self.period = loop, rest, arrays, period
        self.mark = mark
        self.count, self.low, self.step, self.turn, self.once = (
            f"·{name}{mark}" for name in ("count", "low", "step", "turn", "rest")
        )

    def body(self, naming: dict[str, str]) -> list[ast.stmt]:
        """One iteration; `naming` becomes what holds after it."""
        found: list[ast.stmt] = []
        for node in self.loop.body:
            fresh = _renamed_by(node, self.arrays, naming)
            if fresh and _bound([node]) <= fresh.keys():
                naming.update(fresh)
            else:
                found += self.under(node, naming)
        return found

    def under(self, node: ast.stmt, naming: Naming) -> list[ast.stmt]:
        """A statement of the loop; a `break` is followed by what follows the loop."""
        leave = [*self.tail(naming, True), ast.Break()]
        renamed = _Rename(naming, leave).visit(copy.deepcopy(node))
        return placed(renamed if isinstance(renamed, list) else [renamed], node)

    def tail(self, naming: Naming, broken: bool = False) -> list[ast.stmt]:
        """What follows the loop."""
        nodes = [*([] if broken else self.loop.orelse), *self.rest]
        passing = _bound(nodes) - set(naming.values())  # `kept = a`: they get a value there
        naming = {name: base for name, base in naming.items() if name not in passing}
        return [_Rename(naming, None).visit(copy.deepcopy(node)) for node in nodes]

    def while_loop(self, loop: ast.While) -> list[ast.stmt]:
        """Before each copy the condition is looked at."""
        naming: dict[str, str] = {}
        body = self.body(naming)
        for _ in range(1, self.period):
            over = ast.UnaryOp(ast.Not(), _Rename(naming, None).visit(copy.deepcopy(loop.test)))
            body.append(ast.If(over, [*self.tail(naming), ast.Break()], []))
            body += self.body(naming)
        return placed([ast.While(loop.test, body, self.tail({}))], loop)

    def for_loop(self, loop: ast.For) -> list[ast.stmt]:
        """Whole rounds, then what remains of one."""
        naming: dict[str, str] = {}
        body: list[ast.stmt] = []
        for turn in range(self.period):
            body += [self.target(loop, f"{self.turn} * {self.period} + {turn}"), *self.body(naming)]
        first = f"{self.count} // {self.period} * {self.period}"
        rounds = ast.For(
            ast.Name(self.turn, ast.Store()), hidden(f"range({self.count} // {self.period})"), body,
            self.remainder(loop, first, {}, 0),
        )  # fmt: skip
        return placed([rounds], loop)

    def remainder(
        self, loop: ast.For, first: str, naming: dict[str, str], done: int
    ) -> list[ast.stmt]:
        """The iterations after the last whole round, of which so many have been written."""
        last = self.tail(naming)
        if done == self.period - 1:
            return last
        before = dict(naming)
        step = [self.target(loop, f"{first} + {done}"), *self.body(before)]
        step += self.remainder(loop, first, before, done + 1)
        left = f"{self.count} - {first} - {done}"
        if not any(jumps_of(loop.body, ast.Break)):
            return [ast.If(hidden(f"{left} > 0"), step, last)]
        once = hidden(f"range(min(1, {left}))")
        return [ast.For(ast.Name(self.once, ast.Store()), once, [*step, ast.Break()], last)]

    def target(self, loop: ast.For, number: str) -> ast.stmt:
        value = hidden(f"{self.low} + ({number}) * {self.step}")
        return ast.Assign([copy.deepcopy(loop.target)], value)


class _Rename(ast.NodeTransformer):
    """Names as they stand in a copy; a `break` of the loop by other statements."""

    def __init__(self, naming: Naming, leave: list[ast.stmt] | None) -> None:
        self.naming, self.leave, self.inner = dict(naming), leave, 0

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.naming.get(node.id, node.id), node.ctx), node)

    def visit_Break(self, node: ast.Break) -> Any:
        return node if self.leave is None or self.inner else copy.deepcopy(self.leave)

    def _loop(self, node: Loop) -> ast.AST:
        self.inner += 1
        node.body = [each for old in node.body for each in _listed(self.visit(old))]
        self.inner -= 1
        for name in ("iter", "target", "test"):
            if hasattr(node, name):
                setattr(node, name, self.visit(getattr(node, name)))
        node.orelse = [each for old in node.orelse for each in _listed(self.visit(old))]
        return node

    visit_For = visit_While = _loop


def _listed(found: Any) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]
