"""Where the program's loop begins anew: pending work is computed there, a fixed whole number of
iterations at a time, so that every flush has the structure of the one before.

The loops of a code object are its backward jumps.  Between two records a loop has wrapped when the
program went back inside it.  A new loop is watched, record by record, until its boundary was met
twice; then it is known how many records an iteration makes, how many iterations a flush shall
compute, and how long the list is when they are recorded: from then on two records are looked at for
each flush.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import TYPE_CHECKING, NamedTuple

from fusewright._core import native
from fusewright.base import source
from fusewright.base.later import later
from fusewright.ir.graph import Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from fusewright.frontends.arrays import bytecode
    from fusewright.machine import record
else:
    bytecode = later("fusewright.frontends.arrays.bytecode")
    record = later("fusewright.machine.record")

WORK = 160
"""Recorded nodes that a flush of small values computes at least; whole iterations are added up to
it.
"""
WINDOW = 2 * WORK
"""Records of an iteration, at most, that is computed at once although a loop inside it comes round
more often; so many are waited for before the first flush.
"""
WATCH = 5 * WORK
"""Records a loop is watched for."""
ROUND = 12
"""Records taken for an iteration where one place makes them all: a multiple of what an operation
may record."""
DEEPEST = 256
"""Frames above the recording one within which loops are looked for."""
PATIENCE = 4
"""Times a loop is watched anew because it did not come round when it was due."""
MOST_INNER = 16
"""Loops inside the known one whose turns the core lets pass."""
MOST_LOOPS = 256
"""Loops whose flushes' length is remembered."""

Place = tuple[CodeType, int]
Enough = tuple[int, int, bool]
"""How many nodes, and how many iterations, a flush computes at least, and whether more save passes
over memory."""
_lengths: dict[tuple[int, int, int], tuple[CodeType, int]] = {}
"""By code (which is kept, so that its id is), start and period: the list's length at a flush."""


class Loop(NamedTuple):
    """A loop that is being executed: how many frames from the outermost, and where in its code."""

    depth: int
    code: CodeType
    start: int
    end: int

    def holds(self, other: Loop) -> bool:
        """Whether the other loop runs inside this one."""
        if self.depth != other.depth:
            return self.depth < other.depth
        return self.code is other.code and self.start <= other.start and other.end <= self.end


def _innermost(place: Place, also: int) -> tuple[int, int] | None:
    """The innermost loop around two instructions of a code object."""
    code, here = place
    found = None
    for start, end in bytecode.loops_of(code):
        if start <= min(here, also) and max(here, also) <= end:
            found = (start, end)
    return found


def wrapped(before: list[Place], now: list[Place]) -> Loop | None:
    """The loop that has begun anew between two records, given the frames of both, outermost first.

    The first frame that stands elsewhere than before tells: it went back inside a loop, or it is a
    new call from where the last one came from, so that a loop around the call has come round.
    """
    shared = min(len(before), len(now))
    depth = next((depth for depth in range(shared) if before[depth] != now[depth]), shared)
    if depth == shared and len(before) != len(now):
        return None
    if depth < len(now) and before[depth][0] is now[depth][0]:
        if now[depth][1] > before[depth][1]:
            return None
        loop = _innermost(now[depth], before[depth][1])
        if loop is not None:
            return Loop(depth, now[depth][0], *loop)
    for outer in range(depth - 1, -1, -1):
        loop = _innermost(now[outer], now[outer][1])
        if loop is not None:
            return Loop(outer, now[outer][0], *loop)
    return None


def frames(innermost: FrameType | None) -> list[Place]:
    """Where every frame stands, outermost first; nothing where they are too many."""
    frame = innermost
    found: list[Place] = [] if native is None or frame is None else native.frames(frame)
    while frame is not None and native is None:
        found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
        if len(found) > DEEPEST:
            return []
    return found[::-1] if native is None else found


class Schedule:
    """What is known of the loop that is running.

    `due` is the length of the list from which records are looked at (below zero: all of them).
    `period` is the records of an iteration, `count` the iterations of a flush, `length` the length
    of the list when so many are recorded (the first after a flush records less: views of what is in
    memory are no work).
    """

    __slots__ = (
        "_alone", "_arrived", "_asked", "_before", "_counted", "_ended", "_frame", "_inner",
        "_least", "_longer", "_looks", "_met", "_others", "_same", "_stood", "_strayed", "_told",
        "count", "length", "loop", "patience", "period", "turn", "waits", "watching",
    )  # fmt: skip

    def __init__(self) -> None:
        self.loop: Loop | None = None
        self.period = self.count = self.length = self.watching = 0
        self.patience = PATIENCE
        self._arrived = self._longer = self._told = self._looks = self._same = 0
        self._alone = False
        self._least = 0
        self._others = 0
        self._counted = self._strayed = 0
        self._asked = self._stood = self._frame = 0
        self._inner: list[tuple[CodeType, int, int]] = []
        self._ended: list[Loop] = []  # before they had made the work that was waited for
        self._met: dict[tuple[int, int, int], tuple[int, Loop]] = {}
        self._before: list[Place] = []
        self.waits = False
        """Whether the first flush is to be as long as the others."""
        self.turn: tuple[Place, Place] | None = None
        """Where the last two records stood that were looked at."""

    def watch(self) -> None:
        """Look at every record for a while."""
        self.watching = WATCH
        self._met.clear()

    def catch_up(self) -> None:
        """Notice the records that the core has let pass; it lets no others pass."""
        if native is None:
            return
        passed, same, places, frame = native.places()
        if passed:
            self._looks += passed
            self.watching -= min(self.watching, passed)
            self._before, self._frame, self._same = places, frame, same
        native.set_places()

    def let_pass(self, longest: int) -> None:
        """Let the core notice the next records while they go forward, up to a length of the list;
        so many as the loop is watched for.
        """
        if native is None:
            return
        each = 0 if self.length and self._alone else ROUND
        allowed = self.watching or longest
        inner = [] if self.watching else self._inner
        native.set_places(self._before, self._frame, allowed, longest, self._same, each, inner)

    def look(self, frame: FrameType) -> Loop | None:
        """Notice one record; the loop that has begun anew with it, if one has."""
        self._looks += 1
        self.watching -= self.watching > 0
        before, place = self._before, (frame.f_code, frame.f_lasti)
        if before and self._frame == id(frame):
            code, last = before[-1]
            if code is place[0] and last < place[1]:
                before[-1], self._same = place, 0
                return None
        now = frames(frame)
        self._frame, self._before = id(frame), now
        if not before or not now:
            return None
        if now == before:
            self._same += 1
            if self._same % ROUND and not (self.length and self._alone):
                return None
        else:
            self._same = 0
        self.turn = before[-1], now[-1]
        return wrapped(before, now)

    def arrives(self, loop: Loop, length: int, whole: int, enough: Callable[[], Enough]) -> bool:
        """An iteration of a loop begins; whether to compute what the list of a length holds, whose
        newest records, so many as `whole` says, stand in it as they were made; `enough` says how
        many nodes and iterations a flush computes at least.
        """
        # Not by the loop itself: a code object's hash takes all its constants.
        where = (loop.depth, id(loop.code), loop.start)
        last = self._met[where][0] if where in self._met else None
        self._met = {key: met for key, met in self._met.items() if not _is_outer(loop, met[1])}
        self._met[where] = (self._looks, loop)  # kept: its code keeps its id
        known = self.loop
        if known is not None and known != loop and known.holds(loop):
            self._note_inner(loop)
        if self.watching and last is not None and (known is None or _is_outer(loop, known)):
            turns = self._turns(loop, self._looks - last, (length, whole), enough)
            if turns is not None:
                return turns
        if known is None or not (loop == known or loop.holds(known)):
            return False
        if loop != known and not self.watching and self.patience:
            self.patience -= 1
            self.watch()
            if not self.length:  # a list comprehension, say: the loop around it is looked for
                self._ended.append(known)
                self.loop, self.period = None, length
                return True
        self._arrived += 1
        if self.length:
            self._notice(length)
            self._strayed = 0
            return length >= self.length
        if self._arrived < self.count or length < self._least:
            return False
        self.length, self.watching, self._told = length, 0, length
        self._remember()
        return True

    def _note_inner(self, loop: Loop) -> None:
        """A loop inside the known one: the core need not tell when it turns."""
        found = (loop.code, loop.start, loop.end)
        if len(self._inner) < MOST_INNER and found not in self._inner:
            self._inner.append(found)

    def _turns(
        self, loop: Loop, period: int, list_: tuple[int, int], enough: Callable[[], Enough]
    ) -> bool | None:
        """A loop has begun anew for the second time, `period` records after the first; whether to
        compute what the list holds.  None where an outer loop makes too many.
        """
        length, whole = list_
        # Two iterations in the list tell what the second needs of the first.  Where something
        # is asked for in every iteration the list never holds two as they were recorded.
        waits = whole > self._stood or length <= WINDOW
        self._stood = whole
        if waits and whole <= 2 * period and 3 * period <= WINDOW:
            return False
        if self.loop is not None and period > (WORK if self.count == 1 else WINDOW):
            return None
        work, least, saves = enough()
        if saves and period <= record.DEFAULT.flush_records:
            work = max(work, WORK)
        self.loop, self.period, self._inner = loop, period, []
        self._alone = self._same > 0
        least = least if 2 * period <= WORK else 1
        self.count, self._least = max(-(-work // period), least), min(work, WORK) // 2
        self.length = 0
        if work > WORK and loop not in self._ended:
            # Worth waiting for from the first: look again when it is due.
            self._arrived, self.watching, self.waits = self.count - 1, 0, True
            return False
        self._recall()
        return True

    def _notice(self, length: int) -> None:
        """The list is so long at a boundary: if it always is, the flush that told its length was
        another.
        """
        others = _steady_flushes()
        if self._others != others:
            self._longer, self._others = 0, others  # the core has seen some in between
        if self.length < length == self._longer <= self._told + self.period:
            self.length = length
        self._longer = length

    def _remember(self) -> None:
        """For the next time the program comes to this loop."""
        if self.loop is None:
            return
        if len(_lengths) >= MOST_LOOPS:
            _lengths.clear()
        code = self.loop.code
        _lengths[id(code), self.loop.start, self.period] = (code, self.length)

    def _recall(self) -> None:
        """A loop that ran before needs no watching once its period is known."""
        assert self.loop is not None
        known = _lengths.get((id(self.loop.code), self.loop.start, self.period))
        if known is not None:
            self.length, self.watching, self._told = known[1], 0, known[1]

    def restart(self) -> int:
        """A flush is done: the length from which to look again."""
        self._arrived = self._same = self._asked = 0
        if self.watching or not self.length:
            return -1
        self._before = []
        return self.length - 2

    def tell_turn(self, pending: list[Node], wanted: list[Node]) -> None:
        """Let the native core do the next flush like this one, where the loop is steady."""
        if native is None or not self.length or not self.turn:
            return
        if native.memoise(pending, tuple(wanted)) and self.length == len(pending):
            (before, before_at), (code, at) = self.turn
            native.set_turn(len(pending), code, at, before, before_at)

    def is_idle(self) -> bool:
        """Whether values are asked for so often that nothing is left for a flush to compute: to be
        told when one was asked for that left nothing.
        """
        self._asked += 1
        return self._asked > PATIENCE

    def may_come_back(self) -> bool:
        """Whether to keep a loop that the program has left, as one in a function that is called
        again and again is: to be told when a value was asked for outside of it.
        """
        self._strayed = self._strayed + 1 if self.is_away() else 1
        self._counted = _steady_flushes()
        return self.length > 0 and not self.watching and self._strayed <= PATIENCE

    def is_away(self) -> bool:
        """Whether the program has left the loop and has not been seen in it again."""
        return self._strayed > 0 and self._counted == _steady_flushes()

    def after_value(self, length: int) -> int | None:
        """Somebody asked for a value: inside the loop, iterations are counted from here; None where
        the program has left it.
        """
        frame = recording_frame()
        places = frames(frame)
        if not self._is_inside(places):
            return None
        self._frame, self._before = id(frame), places
        if self.watching or not self.length:
            return -1
        if length >= self.length - self.period // 2:
            return length - 1
        self._before = []
        return min(length + max(self.length, self.period) - self.period // 2, WINDOW)

    def late_from(self, due: int) -> int:
        """The length of the list by which the loop must have come round."""
        must = self.loop is not None and due >= 0
        return due + 2 * self.period + 16 if must else sys.maxsize

    def _is_inside(self, places: list[Place]) -> bool:
        """Whether the program is still in its loop."""
        loop = self.loop
        if loop is None or len(places) <= loop.depth:
            return False
        code, here = places[loop.depth]
        return code is loop.code and loop.start <= here <= loop.end


def _steady_flushes() -> int:
    """How many flushes the core has done from memos."""
    return 0 if native is None else int(native.steady_flushes())


def _is_outer(loop: Loop, known: Loop) -> bool:
    return loop != known and loop.holds(known)


def recording_frame() -> FrameType | None:
    """The user's frame that records or asks for a value."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and source.is_inside(frame.f_code):
        frame = frame.f_back
    return frame
