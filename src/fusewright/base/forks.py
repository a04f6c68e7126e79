"""Locks that a fork waits for: the child has one thread only, and what another one was in the
middle of stays as it is there for ever.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

REPLAY, TRACE, COMPILER = range(3)
"""Whose locks they are, in the order in which they are taken: who holds one takes later ones only.
"""
PATIENCE, PAUSE = 1.0, 1e-4
"""Seconds a fork waits for a lock at most, and between two looks: hooks of other libraries hold
theirs meanwhile, and the other thread may want one of those."""
_locks: dict[int, Callable[[], Any]] = {}


class ForkedLock:
    """A re-entrant lock that is free in a forked child: it has one thread, and nobody there gives
    back what another one held.

        with alone.lock: ...
    """

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.RLock()


class _Taken(threading.local):
    """What the thread that forks has taken."""

    def __init__(self) -> None:
        self.locks: list[Any] = []


_taken = _Taken()


def wait_for(whose: int, try_lock: Callable[[], Any]) -> None:
    """Let forks wait until `try_lock()` gives the lock, taken; parent and child release it."""
    _locks[whose] = try_lock


def _before() -> None:
    late = time.monotonic() + PATIENCE
    for whose in sorted(_locks):
        while (lock := _locks[whose]()) is None and time.monotonic() < late:
            time.sleep(PAUSE)
        if lock is not None:
            _taken.locks.append(lock)


def _after() -> None:
    while _taken.locks:
        _taken.locks.pop().release()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
