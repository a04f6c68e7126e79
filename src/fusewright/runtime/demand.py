"""What a program has needed lately: which sizes of blocks, how often, and how much at once.

Fresh pages are dear and so is memory that nobody uses.  A block that came back waits for another
request where the last second or so says that one will come:

* Its size was asked for twice as often as blocks of it would wait: one large array that dies goes
  back to the system at once, the temporaries of a loop stay.
* Where pages have to be mapped, waiting blocks are given up as long as the process would hold more
  than was in use at once; not those of a size that was given up and missed before: the program
  takes turns between sizes.
* What was not asked for at all goes (`blocks.LargePool.age`).
"""

from __future__ import annotations

from time import monotonic

WINDOW = 1.0
"""Seconds of a period; this one and the one before count."""


class Size:
    """How often blocks of a size were asked for, and whether giving one up was a mistake."""

    __slots__ = ("now", "before", "period", "given_up", "needed")

    def __init__(self) -> None:
        self.now = self.before = 0
        self.period = 0
        self.given_up = self.needed = -2


class Demand:
    """The record of all sizes."""

    def __init__(self) -> None:
        self._sizes: dict[int, Size] = {}
        self._period = 0
        self._most = self._most_before = 0

    def ask(self, size: int) -> None:
        """A block of this size is asked for."""
        record = self._record(size)
        record.now += 1

    def miss(self, size: int) -> None:
        """There was none: had one been given up lately, others are not."""
        record = self._record(size)
        if self._period - record.given_up < 2:
            record.needed = self._period

    def give_up(self, size: int) -> None:
        """One that waited goes back to the system to make room."""
        self._record(size).given_up = self._period

    def is_worth_keeping(self, size: int, waiting: int) -> bool:
        """Whether another block is likely to be asked for while so many wait."""
        record = self._record(size)
        return record.now + record.before >= 2 * (waiting + 1)

    def is_needed(self, size: int) -> bool:
        """Whether giving up blocks of this size was a mistake."""
        return self._period - self._record(size).needed < 2

    def is_forgotten(self, size: int) -> bool:
        """Whether none was asked for lately."""
        record = self._record(size)
        return record.now + record.before == 0

    def use(self, nbytes: int) -> None:
        """So many bytes are in use."""
        self._turn()
        if nbytes > self._most:
            self._most = nbytes

    def most(self) -> int:
        """The most bytes in use at once lately."""
        self._turn()
        return max(self._most, self._most_before)

    def _turn(self) -> None:
        period = int(monotonic() / WINDOW)
        if period != self._period:
            self._most_before = self._most if period == self._period + 1 else 0
            self._most, self._period = 0, period

    def _record(self, size: int) -> Size:
        self._turn()
        record = self._sizes.get(size)
        if record is None:
            record = self._sizes[size] = Size()
        if record.period != self._period:
            record.before = record.now if record.period == self._period - 1 else 0
            record.now, record.period = 0, self._period
        return record
