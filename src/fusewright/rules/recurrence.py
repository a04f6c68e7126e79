"""Steps that repeat: a long body in which the same few operations follow one another many times is
one step and a count.

A program's loop is recorded turn by turn, so its fused body holds every turn.  `find` recovers the
loop: the values that one turn hands to the next (`state`), the turn as expressions of them
(`step`), and the run-time scalars that differ from turn to turn (`varying`).  Nothing is guessed:
every turn is compared with the first one found, node by node.

>>> from fusewright.ir.dtypes import FLOAT64
>>> from fusewright.ir.expr import index, load, op, param
>>> a = load(0, (index(0),), FLOAT64)
>>> x = a
>>> for turn in range(20):
...     x = op("add", op("multiply", x, x), param(turn, FLOAT64))
>>> found = find([op("sqrt", x)], index(0))
>>> found.step, found.start, len(found.values), found.roots
((add(multiply(bstate0[i0], bstate0[i0]), pturn0),), (b0[i0],), 20, (sqrt(bstate0[i0]),))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from fusewright.ir.expr import Expr, load, param, postorder, rebuild
from fusewright.rules.standstill import Standstill, standstill

LEAST_TURNS = 4
"""Fewer turns than these stay as they are."""
LEAST_NODES = 48
"""Shorter bodies are not searched."""
DEPTH = 6
"""How far below a node its operands count for what it looks like."""
SURE = 2
"""Turns from the end in which everything is surely used: what only a next turn would read is
missing in the last ones."""
MOST_ANCHORS = 10
"""Families tried as the mark of a turn's beginning."""

Family = list[Expr]
Looks = dict[Expr, int]


class Recurrence(NamedTuple):
    """`state` stands for the values before a turn in `step` and for those after the last one in
    `roots`; turn t reads `values[t]` for `varying`.  `rest` says when nothing changes any more.
    """

    start: tuple[Expr, ...]
    state: tuple[Expr, ...]
    step: tuple[Expr, ...]
    varying: tuple[Expr, ...]
    values: tuple[tuple[Expr, ...], ...]
    roots: tuple[Expr, ...]
    rest: Standstill | None


def find(roots: Sequence[Expr], along: Expr) -> Recurrence | None:
    """The recurrence that takes most of the roots' nodes; None where there is none.

    `along` is an index that every value of the state depends on.
    """
    nodes = list(postorder(roots))
    if len(nodes) < LEAST_NODES:
        return None
    looks = _looks(nodes)
    families: dict[int, Family] = {}
    for node in nodes:
        if node.args and node.name != "load":
            families.setdefault(looks[node], []).append(node)
    best: Recurrence | None = None
    for anchor in _anchors(families):
        found = _Search(nodes, roots, looks, families, along).from_anchor(anchor)
        if found is not None and found.rest is not None:
            return found
        if found is not None and (best is None or _size(found) < _size(best)):
            best = found
    return best


def _size(found: Recurrence) -> tuple[int, int]:
    """How many nodes there are now, and how many values a turn hands on."""
    nodes = postorder((*found.start, *found.step, *found.roots))
    return sum(1 for _ in nodes), len(found.state)


def _looks(nodes: Sequence[Expr]) -> Looks:
    """A number for what a node and its operands are, the run-time scalars in it aside."""
    place = {node: number for number, node in enumerate(nodes)}
    own = [
        id(n) if n.name in ("const", "load", "index") else hash((n.name, n.dtype.name))
        for n in nodes
    ]
    inner = [() if n.name == "load" else tuple([place[arg] for arg in n.args]) for n in nodes]
    looks = own
    for _ in range(DEPTH):
        looks = [
            hash((one, *[looks[arg] for arg in args])) if args else one
            for one, args in zip(own, inner, strict=True)
        ]
    return dict(zip(nodes, looks, strict=True))


def _anchors(families: Mapping[int, Family]) -> list[Family]:
    """Families that may mark the turns: conditions first, for their turns hand on least."""
    large = [family for family in families.values() if len(family) > LEAST_TURNS + SURE]
    large.sort(key=lambda family: (family[0].dtype.name != "bool", -len(family)))
    return [family[::-1] for family in large[:MOST_ANCHORS]]


def replaced(roots: Sequence[Expr], by: Mapping[Expr, Expr]) -> list[Expr]:
    """The same expressions with other nodes for some."""
    memo = dict(by)
    todo = [(root, False) for root in roots]
    while todo:
        node, ready = todo.pop()
        if node in memo:
            continue
        if ready or not node.args:
            memo[node] = rebuild(node, tuple(memo[arg] for arg in node.args))
        else:
            todo.append((node, True))
            todo.extend((arg, False) for arg in node.args)
    return [memo[root] for root in roots]


class _Search:
    """One attempt to find the turns, given the nodes that mark them."""

    def __init__(
        self,
        nodes: Sequence[Expr],
        roots: Sequence[Expr],
        looks: Looks,
        families: Mapping[int, Family],
        along: Expr,
    ) -> None:
        self.nodes = nodes
        self.roots = roots
        self.looks = looks
        self.families = families
        self.along = along
        self.level: dict[Expr, float] = {}

    def from_anchor(self, anchor: Family) -> Recurrence | None:
        """`anchor` holds the marks of the turns, the last one first."""
        if not self._number(anchor):
            return None
        cuts = [self._cut(turn) for turn in (SURE, SURE + 1, SURE + 2)]
        matched = [self._aligned(cuts[0], cut) for cut in cuts]
        first, second, third = matched
        if first is None or second is None or third is None or not first:
            return None
        state = tuple(
            load(("state", number), (self.along,), node.dtype) for number, node in enumerate(first)
        )
        turn = _Turn(tuple(replaced(first, dict(zip(second, state, strict=True)))), state)
        here = turn.match(second)
        if here is None or here.before != tuple(third):
            return None
        above = [turn.match(first)]
        for level in reversed(range(SURE)):
            match = turn.match(self._later(first, level))
            if match is None or above[0] is None or match.before != above[0].after:
                break
            above.insert(0, match)
        for number in range(len(above)):
            found = self._recurrence(turn, [m for m in above[number:] if m is not None])
            if found is not None:
                return found
        return None

    def _later(self, model: Sequence[Expr], level: int) -> list[Expr | None]:
        """What looks like the state and belongs to a later turn; not all of it may be used."""
        found: list[Expr | None] = []
        for node in model:
            family = self.families[self.looks[node]]
            found.append(next((n for n in family[::-1] if self.level[n] == level), None))
        return found

    def _number(self, anchor: Family) -> bool:
        """Give each node the last turn whose mark it depends on."""
        turns = {node: turn for turn, node in enumerate(anchor)}
        level = self.level
        for node in self.nodes:
            below = min((level[arg] for arg in node.args), default=inf)
            turn = turns.get(node)
            if turn is None:
                level[node] = below
            elif below not in (turn + 1, inf):
                return False
            else:
                level[node] = turn
        return True

    def _cut(self, turn: int) -> list[Expr]:
        """What later turns need of this one, without what follows from the rest of it."""
        found = dict.fromkeys(
            arg
            for node in self.nodes
            if self.level[node] == turn - 1
            for arg in node.args
            if turn <= self.level[arg] < inf
        )
        for node in list(found):
            others = found.keys() - {node}
            if self.level[node] == turn and self._follows(node, others, turn):
                del found[node]
        return list(found)

    def _follows(self, node: Expr, known: set[Expr], turn: int) -> bool:
        todo = list(node.args)
        while todo:
            arg = todo.pop()
            if arg in known or self.level[arg] == inf:
                continue
            if self.level[arg] != turn:
                return False
            todo.extend(arg.args)
        return True

    def _aligned(self, model: Sequence[Expr], cut: Sequence[Expr]) -> list[Expr] | None:
        """A cut in the order of another one; None where they do not look alike."""
        found = {self.looks[node]: node for node in cut}
        wanted = [self.looks[node] for node in model]
        if len(cut) != len(model) or len(set(wanted)) != len(model) or found.keys() != set(wanted):
            return None
        return [found[look] for look in wanted]

    def _recurrence(self, turn: _Turn, matched: list[_Match]) -> Recurrence | None:
        """The turns from the last ones, already matched, down to the first."""
        last = zip(matched[0].after, turn.state, strict=True)
        after = {node: leaf for node, leaf in last if node is not None}
        roots = tuple(replaced(self.roots, after))
        if any(self.level.get(node, inf) < inf for node in postorder(roots)):
            return None  # some other value between the turns is asked for
        while (match := turn.match(matched[-1].before)) is not None:
            matched.append(match)
        if len(matched) < LEAST_TURNS:
            return None
        given = [{**matched[-1].params, **match.params} for match in reversed(matched)]
        names = [p for p in turn.params if any(each[p] is not given[0][p] for each in given)]
        varying = tuple(param(("turn", number), p.dtype) for number, p in enumerate(names))
        step = tuple(replaced(turn.step, {**given[0], **dict(zip(names, varying, strict=True))}))
        return Recurrence(
            matched[-1].before,
            turn.state,
            step,
            varying,
            tuple(tuple(each[p] for p in names) for each in given),
            roots,
            standstill(step, turn.state, varying),
        )


class _Match(NamedTuple):
    """One turn: the state before and (as far as it is used) after it, and its run-time scalars."""

    before: tuple[Expr, ...]
    after: tuple[Expr | None, ...]
    params: dict[Expr, Expr]


class _Turn:
    """A turn as a pattern."""

    def __init__(self, step: tuple[Expr, ...], state: tuple[Expr, ...]) -> None:
        self.step = step
        self.state = state
        self.params: list[Expr] = []
        self._open = set(state)
        for node in postorder(step):
            if node.name == "param":
                self.params.append(node)
                self._open.add(node)
            elif node not in self._open and any(arg in self._open for arg in node.args):
                self._open.add(node)

    def match(self, after: Sequence[Expr | None]) -> _Match | None:
        """The turn that gave these values, if one did."""
        bound: dict[Expr, Expr] = {}
        todo = [(p, n) for p, n in zip(self.step, after, strict=True) if n is not None]
        leaves = {*self.state, *self.params}
        while todo:
            pattern, node = todo.pop()
            known = bound.get(pattern)
            if known is not None:
                if known is not node:
                    return None
                continue
            bound[pattern] = node
            if pattern not in self._open:
                if pattern is not node:
                    return None
            elif pattern in leaves:
                same = pattern.dtype is node.dtype
                if not same or (pattern.name == "param" and node.name != "param"):
                    return None
            elif _differ(pattern, node):
                return None
            else:
                todo.extend(zip(pattern.args, node.args, strict=True))
        if any(leaf not in bound for leaf in self.state):
            return None
        params = {p: bound[p] for p in self.params if p in bound}
        return _Match(tuple(bound[leaf] for leaf in self.state), tuple(after), params)


def _differ(a: Expr, b: Expr) -> bool:
    mine, other = (a.name, a.dtype, a.attr, len(a.args)), (b.name, b.dtype, b.attr, len(b.args))
    return mine != other
