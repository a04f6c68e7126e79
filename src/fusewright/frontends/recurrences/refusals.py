"""Refused families: where the user wrote them, and how values and chains of them are spelled."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

from fusewright.base.errors import RecurrenceCycleError, RecurrenceSizeError
from fusewright.base.source import Span, is_inside
from fusewright.ir.recurrences.graph import Vertex

Key = tuple[str, tuple[Any, ...]]
"""A value: the name of its family, and its index."""
_SHOWN = 8
"""Values of a long chain that a message shows."""


def spelled(key: Key) -> str:
    """`V[201, 0]`."""
    return str(Vertex(*key))


def line_of(function: Any) -> Span | None:
    """Where a user's function begins; None for what is no function of theirs."""
    code = getattr(function, "__code__", None)
    if code is None or is_inside(code):
        return None
    text = linecache.getline(code.co_filename, code.co_firstlineno)
    return (code.co_filename, code.co_firstlineno, len(text) - len(text.lstrip()) + 1, 0)


def cycle(keys: Sequence[Key], where: Span | None) -> RecurrenceCycleError:
    """A value that one of its alternatives leads back to."""
    return RecurrenceCycleError(
        f"`{spelled(keys[0])}` needs itself: {_chain(keys)}",
        where,
        why="an alternative must come closer to a leaf, and none may lead back to where it began",
        help="leave this alternative out, or restrict it to the indices that it brings down",
    )


def too_large(target: Key, path: Sequence[Key], most: int) -> RecurrenceSizeError:
    """A target that grows past all bounds; the path shows how."""
    chain = f": {_chain(path)}" if path else ""
    return RecurrenceSizeError(
        f"the target `{spelled(target)}` needs more than {most} values{chain}",
        why="code without loops has at most a million statements",
        help="look whether the indices come closer to a leaf, or ask for smaller ones",
    )


def _chain(keys: Sequence[Key]) -> str:
    names = [spelled(key) for key in keys]
    if len(names) > _SHOWN:
        names = [*names[: _SHOWN // 2], "...", *names[-(_SHOWN // 2) :]]
    return " -> ".join(names)
