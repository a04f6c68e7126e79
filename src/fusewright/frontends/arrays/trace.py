"""The pending list: what has been recorded and not computed, and when it gets computed although
nobody asked.

Recording appends to `pending` and compares its length with `gate`; everything else (spans, shared
memory, iteration boundaries) happens behind that one comparison, in `passed_gate`.  The gate
stands below zero while any of it is wanted.

Lists are only appended to, popped and sliced (atomic under the GIL), so threads may record at
once; evaluating and pruning hold `lock`.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from sys import getrefcount
from types import CodeType

import numpy as np

from fusewright.base import hooks, source
from fusewright.base.options import Options, current, watchers
from fusewright.ir.graph import IOTA, LEAF, MAP, SCALAR, VIEW, Memory, Node

LIMIT = 160
"""Recorded nodes after which the next iteration boundary is an occasion to compute."""
LONG_LIMIT = 4 * LIMIT
"""The same where every node works element by element on one shape: a loop of such steps becomes a
loop within one kernel (`rules.recurrence`), and each flush would be one more pass over memory."""
HARD_LIMIT = 5 * LIMIT
"""Recorded nodes after which everything live is computed wherever the program is."""
MOST_CARRIED = 1024
REPEATS = 16
"""Records of one place in a row that are iterations: one operation records a few nodes at most."""
BYTES_LIMIT = 1 << 28
"""Bytes of new leaves after which the list is searched for dead nodes that keep memory alive."""
LARGEST = 1 << 40
"""Bytes of a value that no flush computes: it can only be wanted in parts."""

_VALUES = (LEAF, SCALAR)
"""Kinds of nodes that nothing has to be computed for."""

pending: list[Node] = []
gate = LIMIT
_limit = LIMIT
lock = threading.RLock()
_watched = 0
_fresh_bytes = 0
_previous: tuple[CodeType, int] | None = None
_repeats = 0
_left: list[tuple[Node, tuple[tuple[CodeType, int], int]]] = []
_carried: set[tuple[tuple[CodeType, int], int]] = set()


def _reset_lock() -> None:
    global lock
    lock = threading.RLock()


os.register_at_fork(after_in_child=_reset_lock)


def watch(change: int) -> None:
    """Make every record pass through `passed_gate` while the sum of changes is positive."""
    global gate, _watched
    with lock:
        _watched += change
        gate = -1 if _watched > 0 else _limit


def _options_changed(old: Options, new: Options) -> None:
    if old.spans != new.spans:
        watch(1 if new.spans else -1)


watchers.append(_options_changed)
if current().spans:
    watch(1)


def passed_gate(node: Node) -> None:
    """What a record costs when it is not the common case: spans, shared memory, a long list."""
    if current().spans:
        node.line = source.user_span()
    if not is_lazy() and any(is_shared(arg) for arg in node.args):
        evaluate(node)
    elif len(pending) > _limit and not _held:
        _consider_flush()


_held = 0


def is_held() -> bool:
    """Whether a function is being recorded for replay."""
    return _held > 0


def hold(change: int) -> None:
    """Compute nothing that nobody asks for while the sum of changes is positive."""
    global _held
    _held += change


_local = threading.local()


def is_lazy() -> bool:
    """Whether this thread is inside `lazy()`."""
    return getattr(_local, "depth", 0) > 0


def enter_lazy(change: int) -> None:
    """Enter (1) or leave (-1) a `lazy()` block."""
    _local.depth = getattr(_local, "depth", 0) + change


def is_shared(node: Node) -> bool:
    """Whether somebody outside can write to, or see, the memory of this value."""
    return node.kind == LEAF and bool(node.value[0].external)


def record(node: Node) -> Node:
    """Put a node on the pending list."""
    pending.append(node)
    if len(pending) > gate:
        passed_gate(node)
    return node


def evaluate(*nodes: Node) -> None:
    """Turn nodes into leaves now."""
    wanted: Sequence[Node] = nodes
    if len(nodes) != 1 or nodes[0].kind in _VALUES:
        wanted = [n for n in nodes if n.kind != LEAF and (n.kind != SCALAR or _has_no_memory(n))]
        if not wanted:
            return
    with lock:
        hooks.evaluate(wanted)
        for node in wanted:
            note_bytes(node.value[0].nbytes)
        drop_tail()
        if (_previous is not None or _limit != LIMIT) and len(pending) <= LIMIT:
            _disarm()


def _has_no_memory(node: Node) -> bool:
    """Put a SCALAR into memory of its own; nothing is left to be computed for it."""
    cell = np.array(node.value).astype(node.dtype.numpy).reshape(1).view(np.uint8)
    node.become_leaf(Memory(cell.ctypes.data, cell.nbytes, cell), 0, ())
    return False


def drop_tail() -> None:
    """Forget the newest nodes as far as they are computed or dead: their operands die with them."""
    while pending:
        node = pending.pop()
        # 2: the variable's reference and the call's.
        if getrefcount(node) > 2 and node.kind not in _VALUES:
            pending.append(node)
            return


def note_bytes(nbytes: int) -> None:
    """Count new memory; from time to time let go what only dead nodes keep."""
    global _fresh_bytes
    _fresh_bytes += nbytes
    if _fresh_bytes > BYTES_LIMIT:
        _fresh_bytes = 0
        prune()


def prune() -> None:
    """Drop the computed and the dead; newest first, since a dead node keeps its operands alive."""
    with lock:
        count = len(pending)
        kept: list[Node] = []
        for index in range(count - 1, -1, -1):
            node = pending[index]
            # 3: the list's reference, the variable's and the call's
            if node.kind == LEAF or getrefcount(node) <= 3:
                pending[index] = _TOMBSTONE
            else:
                kept.append(node)
            del node
        kept.reverse()
        pending[:count] = kept


_TOMBSTONE = Node(LEAF, "", (), None, ())  # type: ignore[arg-type]


def live() -> list[Node]:
    """The pending values somebody holds: those with references besides the pending nodes' own."""
    with lock:
        prune()
        inner: dict[int, int] = {}
        for node in pending:
            for arg in node.args:
                inner[id(arg)] = inner.get(id(arg), 0) + 1
        # 3: the list's reference, the variable's and the call's
        return [node for node in pending if getrefcount(node) - 3 > inner.get(id(node), 0)]


def flush() -> None:
    """Compute every value somebody holds."""
    with lock:
        evaluate(*live())
        prune()


def reading_shared_memory() -> list[Node]:
    """The live values whose computation reads memory that somebody outside can write."""
    with lock:
        reading: set[int] = set()
        for node in pending:
            if any(id(arg) in reading or is_shared(arg) for arg in node.args):
                reading.add(id(node))
        return [node for node in live() if id(node) in reading]


def is_worth_storing(node: Node) -> bool:
    """Whether a flush nobody asked for computes a value: not what costs nothing to make again.

    Constants, ranges and views of what is in memory are made again for nothing; a value larger
    than any machine's memory is only ever used in parts.
    """
    if node.kind in (VIEW, IOTA) and all(arg.kind in (LEAF, SCALAR) for arg in node.args):
        return False
    return math.prod(node.shape) * node.dtype.itemsize < LARGEST


def _consider_flush() -> None:
    """Over the limit: compute where the program's loop begins anew.

    A record that stands before the last one in the same code is the first of an iteration: no
    expression is half done there (its temporaries would have to be stored), and as every flush
    happens at such a place, every flush has the structure of the last.
    """
    global _previous, _repeats
    frame = source.user_frame(3)
    if frame is None:
        return
    site = (frame.f_code, frame.f_lasti)
    before, _previous = _previous, site
    _repeats = _repeats + 1 if site == before else 0
    wrapped = before is not None and before[0] is site[0] and site[1] < before[1]
    wrapped = wrapped or _repeats > REPEATS
    if len(pending) > HARD_LIMIT:
        _flush_but_newest(site)
    elif wrapped and not _is_mostly_dead():
        if _limit == LIMIT and _is_one_loop():
            _set_limit(LONG_LIMIT)
        else:
            _flush_but_newest(site)


def _is_mostly_dead() -> bool:
    """Whether forgetting dead nodes is all there is to do."""
    prune()
    return len(pending) <= _limit


def _is_one_loop() -> bool:
    """Whether one loop over the elements can do everything pending."""
    shapes = {node.shape for node in pending if node.shape}
    return len(shapes) == 1 and all(
        node.kind == MAP or not is_worth_storing(node) for node in pending if node.shape
    )


def _set_limit(limit: int) -> None:
    global gate, _limit
    with lock:
        _limit = limit
        gate = -1 if _watched > 0 else limit


def _disarm() -> None:
    """The list is short again: places met from now on say nothing about those met before."""
    global _previous, _repeats
    _previous, _repeats = None, 0
    _set_limit(LIMIT)


def _flush_but_newest(site: tuple[CodeType, int]) -> None:
    """Compute what is held, except the node being recorded, which has no holder.

    A held value that later ones were computed from is mostly a variable of the loop's body that the
    next iteration sets anew: it stays pending.  If the next flush needs it after all, it is carried
    from one iteration to the next, and from then on it is computed with the others.
    """
    newest = pending[-1]
    with lock:
        count = len(pending)
        used = {id(arg) for node in pending for arg in node.args if node is not newest}
        held = [node for node in live() if node is not newest and is_worth_storing(node)]
        places = {id(node): count - index for index, node in enumerate(pending)}
        left = [
            (node, (site, places[id(node)]))
            for node in held
            if id(node) in used and (site, places[id(node)]) not in _carried
        ]
        waiting = {id(node) for node, _ in left}
        evaluate(*(node for node in held if id(node) not in waiting))
        if len(_carried) >= MOST_CARRIED:
            _carried.clear()
        _carried.update(place for node, place in _left if node.kind == LEAF)
        _left[:] = left
        # What was left alone is not pending work: it would only keep the list long.
        pending[:] = [newest] if newest.kind != LEAF else []
        _disarm()
