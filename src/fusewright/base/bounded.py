"""Tables that keep what was put in last: the oldest entry makes room for a new one."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def keep(kept: dict[K, V], key: K, value: V, most: int) -> None:
    """Enter a value; the table then has at most `most` entries where it is one thread's own.

    Several threads may do so at once: keys are listed in one step of the interpreter, while an
    iterator ends with an error when another thread enters something, and the oldest may be gone
    when it is dropped.
    """
    if key not in kept:
        for oldest in list(kept)[: max(len(kept) - most + 1, 0)]:
            kept.pop(oldest, None)
    kept[key] = value
