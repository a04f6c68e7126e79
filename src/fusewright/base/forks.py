"""Locks that a fork waits for: the child has one thread only, and what another one was in the middle
of stays as it is there for ever.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

REPLAY, TRACE, COMPILER = range(3)
"""Whose locks they are, in the order in which they are taken: who holds one takes later ones only.
"""
_locks: dict[int, Callable[[], Any]] = {}
_taken: list[Any] = []


def wait_for(whose: int, lock: Callable[[], Any]) -> None:
    """Let forks wait until `lock()` is free; parent and child get it back as it was."""
    _locks[whose] = lock


def _before() -> None:
    for whose in sorted(_locks):
        lock = _locks[whose]()
        lock.acquire()
        _taken.append(lock)


def _after() -> None:
    while _taken:
        _taken.pop().release()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
