"""Which of the values that somebody holds a flush at a loop's boundary computes, and which it
leaves alone.

A held value that others were computed from is mostly a variable of the loop's body that the next
iteration sets anew: it stays pending.  Whether the next iteration needs it is seen from what stands
an iteration before it; where the list does not reach that far, it is learned.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from sys import getrefcount
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fusewright.base.figures import STARTED_ELEMENTS
from fusewright.base.later import later
from fusewright.frontends.arrays.iterations import WORK, Loop
from fusewright.ir.graph import (
    ASSEMBLE,
    IOTA,
    LEAF,
    MAP,
    PART,
    REDUCE,
    SCALAR,
    SCAN,
    VIEW,
    Memory,
    Node,
    is_shared,
)

if TYPE_CHECKING:
    from fusewright.machine import record
else:
    record = later("fusewright.machine.record")

LARGEST = 1 << 40
"""Bytes of a value that no flush computes: it can only be wanted in parts."""

LONG_WORK = 4 * WORK
"""Recorded nodes of a flush where every step works element by element on one shape."""
MOST_CARRIED = 1024
RECENT = 64
"""Pending values among which those just recorded are looked for."""
TOMBSTONE = Node(LEAF, "", (), None, ())  # type: ignore[arg-type]
"""What stands on the pending list for a value that has been let go."""

Spot = tuple[Loop, int]
"""A loop, and how many records before its boundary: views not counted, for those of what is in
memory are not recorded.
"""


def is_computed(node: Node) -> bool:
    """Whether a value has to be computed; a SCALAR is but put into memory of its own."""
    if node.kind != SCALAR:
        return True
    cell = np.array(node.value).astype(node.dtype.numpy).reshape(1).view(np.uint8)
    node.become_leaf(Memory(cell.ctypes.data, cell.nbytes, cell), 0, ())
    return False


def readers_of_shared(pending: Sequence[Node]) -> set[int]:
    """The numbers (`id`) of the pending values whose computation reads such memory."""
    reading: set[int] = set()
    for node in list(pending):
        operands = node.args[0].args if node.kind == PART else node.args
        if any(id(arg) in reading or is_shared(arg) for arg in operands):
            reading.add(id(node))
    return reading


def is_worth_storing(node: Node) -> bool:
    """Whether a flush nobody asked for computes a value: not what costs nothing to make again.

    Constants, ranges and views of what is in memory are made again for nothing; a value larger
    than any machine's memory is only ever used in parts.
    """
    if node.kind in (VIEW, IOTA) and all(arg.kind in (LEAF, SCALAR) for arg in node.args):
        return False
    return math.prod(node.shape) * node.dtype.itemsize < LARGEST


def readers_of_dead(
    pending: Sequence[Node], live: Callable[[], list[Node]], least: int
) -> list[Node]:
    """The held values that should be computed because their operands are memory that the program
    itself has let go, at least so many bytes more than the values take; empty where there is
    less.
    """
    dying = _kept_by(pending)
    if sum(memory.nbytes for memory in dying.values()) < least:
        return []
    needing: set[int] = set()
    for node in pending:
        if any(id(arg) in needing or _memory(arg) in dying for arg in node.args):
            needing.add(id(node))
    readers = [node for node in live() if id(node) in needing]
    reached = _memories_below(readers)
    gain = sum(memory.nbytes for key, memory in dying.items() if key in reached)
    gain -= sum(math.prod(node.shape) * node.dtype.itemsize for node in readers)
    return readers if gain >= least else []


def _kept_by(pending: Sequence[Node]) -> dict[int, Memory]:
    """The memories, by number, that nothing but pending values holds."""
    leaves = [arg for node in pending for arg in node.args if arg.kind == LEAF]
    edges = Counter(map(id, leaves))
    found: dict[int, Memory] = {}
    for key, group in _by_memory(leaves).items():
        # A leaf: the operands, the list above and the group's.  Its memory: the leaves.  The calls.
        if (
            all(getrefcount(group[n]) <= 2 * edges[id(group[n])] + 2 for n in range(len(group)))
            and getrefcount(group[0].value[0]) <= len(group) + 1
        ):
            found[key] = group[0].value[0]
    return found


def _by_memory(leaves: Sequence[Node]) -> dict[int, list[Node]]:
    """Each of the leaves once, by the number of its memory."""
    found: dict[int, list[Node]] = {}
    for leaf in {id(leaf): leaf for leaf in leaves}.values():
        found.setdefault(_memory(leaf), []).append(leaf)
    return found


def _memory(node: Node) -> int:
    return id(node.value[0]) if node.kind == LEAF else 0


def _memories_below(nodes: Sequence[Node]) -> set[int]:
    """The numbers of the memories that values are computed from."""
    seen = {id(node) for node in nodes}
    stack, found = list(nodes), set()
    while stack:
        for arg in stack.pop().args:
            if arg.kind == LEAF:
                found.add(_memory(arg))
            elif id(arg) not in seen:
                seen.add(id(arg))
                stack.append(arg)
    return found


def enough_of(pending: Sequence[Node]) -> tuple[int, int, bool]:
    """How many nodes, and how many iterations, a flush of a loop with these computes at least; and
    whether passes over memory are saved where it computes more.
    """
    return work_of(pending), _iterations_of(pending), not _is_halted(pending)


def _is_halted(pending: Sequence[Node]) -> bool:
    """Whether something waits until all of an array is there, as `x - x.mean()` does."""
    return any(arg.kind in (REDUCE, SCAN) for node in pending for arg in node.args)


def work_of(pending: Sequence[Node]) -> int:
    """How many nodes a flush of a loop with these computes at least.

    More where one loop over the elements does all of it: a loop of such steps becomes a loop within
    one kernel (`rules.recurrence`), and each flush would be one more pass over memory.  Fewer where
    they take long enough anyhow (`machine.record`).
    """
    nodes = [node for node in pending if node.shape and node.kind != LEAF]
    computed = [node for node in nodes if node.kind == MAP or is_worth_storing(node)]
    shapes = {node.shape for node in nodes}
    is_large = len(shapes) == 1 and math.prod(shapes.pop()) >= STARTED_ELEMENTS
    if is_large and all(node.kind == MAP for node in computed) and not _is_halted(pending):
        return LONG_WORK
    elements = sum(math.prod(node.shape) for node in computed if node.kind != VIEW)
    return max(min(WORK, record.DEFAULT.flush_elements * len(pending) // max(elements, 1)), 1)


def _iterations_of(pending: Sequence[Node]) -> int:
    """How many iterations a flush computes at least.

    What an iteration writes into regions of its arrays, a flush of one writes in place, in a pass
    for each region.  Of two, the first's need not be in memory (an FDTD program of 1000 x 1000
    cells takes 0.9 of the time so).
    """
    versions = (n for n in pending if n.kind == ASSEMBLE and n.args[0].shape == n.shape)
    return 2 if any(n.shape for n in versions) else 1


Held = tuple[Node, int, int, bool, bool]
"""A value that somebody holds, its place on the list, how many records stand from there on (as in
`Spot`), whether others were computed from it, and whether the newest iteration was.
"""


def survey(
    pending: Sequence[Node], last: int, earliest: int, left: Sequence[tuple[Node, Spot]]
) -> tuple[list[Held], bytes, list[Spot]]:
    """The values that somebody holds, oldest first; of each from `earliest` up to `last` whether
    one from `last` on was computed from it; and the spots of those `left` by the flush before that
    are computed by now or that others were computed from.
    """
    pending = list(pending)
    behind = list(accumulate(int(node.kind != VIEW) for node in reversed(pending)))[::-1]
    used = {id(arg) for node in pending[:-1] for arg in node.args}
    needed = {id(arg) for node in pending[last:] for arg in node.args}
    before = bytes(id(node) in needed for node in pending[earliest:last])
    read = [spot for node, spot in left if node.kind == LEAF or id(node) in used]
    edges = Counter(id(arg) for node in pending for arg in node.args)
    # 3: the two lists' references and the call's
    at = (n for n in range(len(pending)) if getrefcount(pending[n]) - 3 > edges[id(pending[n])])
    values = ((pending[n], n) for n in at if pending[n].kind != LEAF)
    held = [(node, n, behind[n], id(node) in used, id(node) in needed) for node, n in values]
    return held, before, read


class LearntSpots:
    """The spots of values that a later iteration needed after all."""

    def __init__(self) -> None:
        self.spots: set[Spot] = set()

    def learn(self, spots: Sequence[Spot]) -> None:
        """What a flush shows."""
        if len(self.spots) >= MOST_CARRIED:
            self.spots.clear()
        self.spots.update(spots)


class Boundary(NamedTuple):
    """Where a loop begins anew: the first `base` nodes of the list are older than the loop, the
    newest iteration begins at `last`, the one before it at `earliest` if the list holds all of it
    as it was recorded (`is_whole`).
    """

    loop: Loop
    base: int
    last: int
    earliest: int
    is_whole: bool

    @classmethod
    def of(cls, count: int, base: int, whole: int, loop: Loop, period: int) -> Boundary:
        """Of a list of `count` nodes, which from `whole` on is as it was recorded, where an
        iteration makes `period` nodes.
        """
        last = max(count - 1 - period, 0)
        earliest = max(last - period, 0, whole)
        return cls(loop, base, last, earliest, last - earliest == period)

    def divide(
        self, held: Sequence[Held], before: bytes, carried: set[Spot]
    ) -> tuple[list[Node], list[tuple[Node, Spot]], list[Spot]]:
        """What to compute, what stays pending, and the spots of those values of the newest
        iteration that later ones will need: each was found to be needed of the one before it.
        """
        alive = {index for _, index, *_ in held}
        wanted: list[Node] = []
        left: list[tuple[Node, Spot]] = []
        needed_later: list[Spot] = []
        for node, index, behind, used, needed in held:
            spot = (self.loop, behind)
            if index < self.last:
                stays = not needed and (used or index < self.base)
            elif self.is_whole and index - self.last < len(before):
                other = index - self.last
                stays = not before[other] and self.earliest + other not in alive
            else:
                stays = used and spot not in carried
            if stays and (index < self.base or not node.demands):
                left.append((node, spot))
                continue
            wanted.append(node)
            if used and self.is_whole and index >= self.last:
                needed_later.append(spot)
        return wanted, left, needed_later


def let_go(pending: Sequence[Node], wanted: Sequence[Node], left: list[Node]) -> int:
    """What nobody can ask for after this flush need not be stored because it is computed again.
    How many pending values those left are computed from, themselves included.
    """
    reached = {id(node) for node in wanted}
    known = len(reached)
    while left:
        node = left.pop()
        if id(node) not in reached and node.kind != LEAF:
            reached.add(id(node))
            left.extend(node.args)
    for node in pending:
        if id(node) not in reached:
            node.demands = 0
    return len(reached) - known


def forget_dead(left: list[tuple[Node, Spot]]) -> None:
    """Let go what a flush left alone and nobody holds any more: it keeps what it was made of from
    being written in place.  Newest first, since a dead value holds its operands.
    """
    for index in range(len(left) - 1, -1, -1):
        # 2: the pair's reference and the call's
        if getrefcount(left[index][0]) <= 2:
            del left[index]


def bury(pending: list[Node], nodes: list[Node]) -> None:
    """Let go those, of nodes with operands first, that nobody holds and that stand among the most
    recent; what they hold may die then.  Empties `nodes`; the list stays as long as it is.
    """
    first = max(0, len(pending) - RECENT)
    places = {id(node): first + n for n, node in enumerate(pending[first:])}
    while nodes:
        place = places.get(id(nodes.pop()))
        # 2: the list's reference and the call's
        if place is not None and getrefcount(pending[place]) <= 2:
            pending[place] = TOMBSTONE


def drop_tail(pending: list[Node]) -> bool:
    """Drop the newest nodes as far as they are computed or dead; whether there were any."""
    before = len(pending)
    while pending:
        newest = [pending.pop()]
        # 2: the list's reference and the call's.  (Not of a variable: see runtime.reuse.)
        if getrefcount(newest[0]) > 2 and newest[0].kind not in (LEAF, SCALAR):
            pending.append(newest[0])
            break
        newest.clear()  # finalisers may record
    return len(pending) < before


def release(pending: list[Node]) -> None:
    """Let go what is computed or dead; the list stays as long as it is."""
    for index in range(len(pending) - 1, -1, -1):
        # 2: the list's reference and the call's
        if pending[index].kind == LEAF or getrefcount(pending[index]) <= 2:
            pending[index] = TOMBSTONE


def pruned(pending: list[Node], base: int) -> int:
    """Drop the computed and the dead, newest first; how many of the first `base` stay."""
    kept: list[Node] = []
    count, below = len(pending), 0
    for index in range(count - 1, -1, -1):
        node = pending[index]
        # 3: the list's reference, the variable's and the call's
        if node.kind == LEAF or getrefcount(pending[index]) <= 3:
            pending[index] = TOMBSTONE
        else:
            kept.append(node)
            below += index < base
        del node
    kept.reverse()
    pending[:count] = kept
    return below


class _Local(threading.local):
    depth = 0


_local = _Local()


def is_lazy() -> bool:
    """Whether this thread is inside `lazy()`, where nothing is computed that nobody asks for."""
    return _local.depth > 0


def enter_lazy(change: int) -> None:
    """Enter (1) or leave (-1) a `lazy()` block."""
    _local.depth += change
