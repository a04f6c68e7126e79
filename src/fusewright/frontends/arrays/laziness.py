"""Whether a thread is inside `fw.lazy()`, where nothing is computed that nobody asks for."""

from __future__ import annotations

import threading


class _Local(threading.local):
    depth = 0


_local = _Local()


def is_lazy() -> bool:
    """Whether this thread is inside `lazy()`."""
    return _local.depth > 0


def enter_lazy(change: int) -> None:
    """Enter (1) or leave (-1) a `lazy()` block."""
    _local.depth += change
