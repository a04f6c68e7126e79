"""The pending list: what has been recorded and not computed, and when it gets computed although
nobody asked.

Recording appends to `pending` and compares its length with `gate`; everything else (spans, shared
memory, iteration boundaries) happens behind that one comparison, in `passed_gate`.  The gate
stands below zero while any of it is wanted.

Lists are only appended to, popped and sliced (atomic under the GIL), so threads may record at
once; evaluating, pruning and writing to arrays hold `lock`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

from fusewright._core import native
from fusewright.base import forks, hooks, source
from fusewright.base.options import Options, current, watchers
from fusewright.frontends.arrays import survivors
from fusewright.frontends.arrays.iterations import WORK, Loop, Schedule, recording_frame
from fusewright.frontends.arrays.survivors import Boundary, Spot, is_worth_storing
from fusewright.frontends.arrays.survivors import enter_lazy as enter_lazy
from fusewright.frontends.arrays.survivors import is_lazy as is_lazy
from fusewright.ir.graph import LEAF, SCALAR, Node, is_shared

LIMIT = WORK
"""Recorded nodes after which the program's loop is looked for."""
EARLY = 48  # where they are so much work that a flush of a loop will compute fewer
HARD_LIMIT = 5 * LIMIT
"""Recorded nodes after which everything live is computed wherever the program is."""
FEW = 8  # records that may be left of an expression that is half done: no other loop's work
MANY = 4 * FEW  # that are left behind without any loop: worth looking for the dead
BYTES_LIMIT = 1 << 24
"""Bytes of new memory after which what only pending nodes keep is looked for."""
_VALUES = (LEAF, SCALAR)
"""Kinds of nodes that nothing has to be computed for."""

pending: list[Node] = []
at_once: ContextVar[bool] = ContextVar("fusewright_at_once", default=False)
"""Whether each statement is complete when it returns (its errors are seen there)."""
gate = _due = EARLY
lock: Any = threading.RLock() if native is None else native.Lock()
watched = _noting = _fresh_bytes = _base = _whole = 0
_schedule = Schedule()
left_alone: list[tuple[Node, Spot]] = []
carried = survivors.LearntSpots()
_enough = partial(survivors.enough_of, pending)


def _reset_lock() -> None:
    """The child's lock has no threads waiting for it."""
    global lock
    lock = threading.RLock() if native is None else native.Lock()
    if native is not None:
        _tell_core()


forks.wait_for(forks.TRACE, lambda: lock if lock.acquire(blocking=False) else None)
os.register_at_fork(after_in_child=_reset_lock)


def watch(change: int, lines: bool = False) -> None:
    """Close the gate while the sum of changes is positive, for `lines` to every record."""
    global watched, _noting
    with lock:
        watched += change
        _noting += change * lines
        _look_from(_due)


def _options_changed(old: Options | None, new: Options) -> None:
    before, after = (bool(each and (each.spans or each.strict)) for each in (old, new))
    if before != after:
        watch(after - before, lines=True)


def passed_gate(node: Node) -> None:
    """What a record costs when it is not the common case: spans, shared memory, a long list."""
    if current().spans:
        node.line = source.user_span()
    hooks.look_at(node, pending)
    if at_once.get():
        pending.remove(node)  # a statement that raises leaves nothing behind
        evaluate(node)
    elif not is_lazy() and any(is_shared(arg) for arg in node.args):
        evaluate(node)
    elif len(pending) > _due and not _held:
        _consider_flush()


_held = 0


def is_held() -> bool:
    """Whether a function is being recorded for replay."""
    return _held > 0


def hold(change: int) -> None:
    """Compute nothing that nobody asks for while the sum of changes is positive."""
    global _held
    with lock:
        _held += change
        if native is not None:
            native.set_holding(_held > 0)


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
        wanted = [n for n in nodes if n.kind != LEAF and survivors.is_computed(n)]
        if not wanted:
            return
    with lock:
        hooks.evaluate(wanted)
        made = 0 if native is None else native.fresh_bytes()  # what was kept on the way, too
        note_bytes(max(made, sum(node.value[0].nbytes for node in wanted)))
        drop_tail()
        _settle()


def _settle() -> None:
    """What follows when somebody has asked for a value."""
    if pending or _base or _schedule.loop is not None:
        _value_was_asked_for()


def drop_tail() -> None:
    """Forget the newest nodes as far as they are computed or dead: their operands die with them."""
    if survivors.drop_tail(pending):
        _set_whole(len(pending))


def note_bytes(nbytes: int) -> None:
    """Count new memory; from time to time let go what only pending nodes keep."""
    global _fresh_bytes
    _fresh_bytes += nbytes
    if _fresh_bytes > BYTES_LIMIT:
        _fresh_bytes = 0
        release()
        readers = [] if _held else survivors.readers_of_dead(pending, live, BYTES_LIMIT // 2)
        if readers:
            evaluate(*readers)
            release()


def release() -> None:
    """Let go what dead nodes keep; the list keeps its length, which says where the loop turns."""
    with lock:
        survivors.release(pending)


def prune() -> None:
    """Drop the computed and the dead; newest first, since a dead node keeps its operands alive."""
    global _base
    with lock:
        _base = survivors.pruned(pending, _base) if native is None else native.prune(_base)
        if native is None:
            _set_whole(len(pending))


def _set_whole(length: int) -> None:
    """The list is as it was recorded from this length on."""
    global _whole
    _whole = length
    if native is not None:
        native.set_whole(length)


def _whole_from() -> int:
    return _whole if native is None else native.whole()


def live() -> list[Node]:
    """The pending values somebody holds: those with references besides the pending nodes' own."""
    with lock:
        prune()
        held, _, _ = _survey(pending, 0, 0, [])
        return [node for node, *_ in held]


def flush() -> None:
    """Compute every value somebody holds."""
    with lock:
        evaluate(*live())
        prune()


def reading_shared_memory() -> list[Node]:
    """The live values whose computation reads memory that somebody outside can write."""
    with lock:
        reading = survivors.readers_of_shared(pending)
        return [node for node in live() if id(node) in reading]


def _look_from(length: int) -> None:
    """Let records pass until the list is longer than this."""
    global gate, _due
    _due = length
    gate = -1 if watched > 0 else length
    if native is not None:
        native.set_places()
        native.set_gate(gate, -1 if _noting else _due)
        native.set_armed(bool(_base or _schedule.loop is not None))


def forget_loop(most: int = EARLY) -> None:
    """What was known of the loop is of no use; what is left of it belongs to no later one, which is
    looked for when it has recorded more than `most` nodes.
    """
    global _base, _schedule
    is_new = _schedule.is_away()  # it had left nothing
    _schedule = Schedule()
    if native is not None:
        native.set_turn()
    prune()
    _base = 0 if is_new or len(pending) <= FEW else len(pending)
    _look_from(min(_base + most, HARD_LIMIT))


def _leave_loop() -> None:
    """A value was asked for outside the loop, which may come back: it is looked for when as much as
    its iterations record is there.
    """
    global _base
    if _schedule.may_come_back():
        prune()
        _base = len(pending) * (len(pending) > FEW)
        _look_from(_base + _schedule.restart())
    else:
        forget_loop()


def _value_was_asked_for() -> None:
    """The same loop counts its iterations from here; what is left before another one begins is not
    its work, unless what was asked for had nothing to do with it.
    """
    _schedule.catch_up()
    if _schedule.loop is None:
        length = len(pending)
        if _schedule.watching:
            if length <= _base + LIMIT or _was_consumed():
                forget_loop(max(LIMIT, 2 * (length - len(pending))))
        elif _base > length * (length > FEW) or (length > _base + LIMIT // 2 and _was_consumed()):
            # as much may well be recorded before the program asks again
            forget_loop(max(LIMIT, 2 * (length - len(pending))))
        elif length > _base + MANY:
            prune()  # the dead keep what they would have read
    elif len(pending) <= FEW and _schedule.is_idle():
        forget_loop()
    elif (due := _schedule.after_value(len(pending))) is not None:
        _look_from(due)
    else:
        _leave_loop()
    _let_pass()


def _was_consumed() -> bool:
    """Whether most of what was recorded has been computed or has died."""
    before = len(pending)
    prune()
    return 2 * len(pending) <= before


def _consider_flush() -> None:
    """The list is long: compute where the program's loop begins anew.

    No expression is half done there (its temporaries would have to be stored), and as every flush
    happens at the same place after the same number of iterations, every flush has the structure of
    the last.
    """
    frame = recording_frame()
    if frame is None:
        return
    with lock:
        _schedule.catch_up()
        if _base and _schedule.is_away():  # what it had left may have died
            prune()
            _look_from(_base + _schedule.restart())
        if len(pending) <= _due:
            return
        if len(pending) > _schedule.late_from(_due):
            forget_loop()
        if _schedule.loop is None and not _schedule.watching and not _is_long():
            return
        loop = _schedule.look(frame)
        length = len(pending)
        if loop is not None and _arrives(loop, length):
            _flush_iterations(_schedule.loop or loop, _schedule.period)
        elif length > _base + HARD_LIMIT:
            _flush_but_newest()
        elif not _schedule.watching and _schedule.loop is None:
            _look_from(_base + HARD_LIMIT)
        _let_pass()


def _let_pass() -> None:
    """Let the core notice the records to come while nothing is to be decided at them."""
    if len(pending) > _due and not _noting:
        _schedule.let_pass(min(_schedule.late_from(_due), _base + HARD_LIMIT))


def _arrives(loop: Loop, length: int) -> bool:
    """Whether to flush where the loop has begun anew."""
    comes = _schedule.arrives(loop, length - _base, length - _whole_from(), _enough)
    if native is not None and _schedule.loop is not None:
        native.set_armed(True)
    if _schedule.waits:
        _schedule.waits = False
        _look_from(_base + _schedule.count * _schedule.period - 2)
    return comes


def _is_long() -> bool:
    """Whether there is more to do than forgetting dead nodes; if so a loop is looked for."""
    global _base
    prune()
    if len(pending) > HARD_LIMIT:
        _base = 0
    length = len(pending) - _base
    is_long = length > LIMIT or (length > EARLY and survivors.work_of(pending) <= EARLY)
    if is_long and length <= HARD_LIMIT:
        _schedule.watch()
        _look_from(-1)
    elif not is_long:
        _look_from(_base + (LIMIT if length > EARLY else EARLY))
    return is_long


def _flush_but_newest() -> None:
    """Compute what is held, except the node being recorded, which has no holder."""
    newest = pending[-1]
    evaluate(*(node for node in live() if node is not newest and is_worth_storing(node)))
    _keep_only(newest)
    forget_loop()


def _keep_only(newest: Node) -> None:
    """What a flush left alone is not pending work; what others have recorded since stays."""
    global _base
    last = next((i for i in range(len(pending) - 1, -1, -1) if pending[i] is newest), -1)
    pending[: last + (newest.kind == LEAF)] = []
    _base = 0
    _set_whole(0)


def _flush_iterations(loop: Loop, period: int) -> None:
    """Compute what later iterations need, and what they no longer reach; what the next flush needed
    after all is computed with the others from then on.
    """
    newest = pending[-1]
    boundary = Boundary.of(len(pending), _base, _whole_from(), loop, period)
    held, before, read = _survey(pending, boundary.last, boundary.earliest, left_alone)
    prune()
    held = [row for row in held if row[0] is not newest and is_worth_storing(row[0])]
    wanted, left, later = boundary.divide(held, before, carried.spots)
    # What reads others' memory must not be read later.
    if watched > 0 or (native is not None and native.is_read()):
        reading = survivors.readers_of_shared(pending)
        wanted += [node for node, _ in left if id(node) in reading]
        left = [(node, place) for node, place in left if id(node) not in reading]
    if _let_go(pending, wanted, [node for node, _ in left]) > HARD_LIMIT:  # it is all there is
        wanted, left = [*wanted, *(node for node, _ in left)], []
    carried.learn([*read, *later])
    survivors.forget_dead(left_alone)
    _schedule.tell_turn(pending, wanted)
    evaluate(*wanted)
    left_alone[:] = left
    _keep_only(newest)
    _look_from(_schedule.restart())


def _tell_core() -> None:
    native.set_folders((source.PACKAGE, *source.PROGRAMS))
    native.set_trace(pending, passed_gate, _evaluate, note_bytes, _settle, lock, left_alone)
    native.set_gate(gate, -1 if _noting else _due)


_options_changed(None, current())
watchers.append(_options_changed)
_evaluate, _survey, _let_go = evaluate, survivors.survey, survivors.let_go
if native is not None:  # the same, compiled ahead of time; what it does not know it asks us
    _tell_core()
    record, evaluate = native.record, native.evaluate
    _survey, _let_go = native.survey, native.let_go
    drop_tail, reading_shared_memory = native.drop_tail, native.reading_external
