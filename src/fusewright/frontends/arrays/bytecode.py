"""Where the loops of a code object are, read off its instructions.

`dis` says the same in twenty times the time, which programs wait for at their first request.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType

_BACKWARD = frozenset(
    number
    for name, number in dis.opmap.items()
    if "JUMP_BACKWARD" in name and "INTERRUPT" not in name
)
_CACHE = dis.opmap.get("CACHE", -1)
"""What stands behind an instruction that the interpreter notes something of."""


@lru_cache(maxsize=1024)
def loops_of(code: CodeType) -> tuple[tuple[int, int], ...]:
    """First and last instruction of every loop, inner ones after those around them."""
    ends: dict[int, int] = {}
    text, argument = code.co_code, 0
    if _BACKWARD.isdisjoint(text[::2]):
        return ()
    for place in range(0, len(text), 2):
        argument |= text[place + 1]
        if text[place] == dis.EXTENDED_ARG:
            argument <<= 8
            continue
        if text[place] in _BACKWARD:
            behind = place + 2
            while behind < len(text) and text[behind] == _CACHE:
                behind += 2
            start = behind - 2 * argument
            ends[start] = max(place, ends.get(start, 0))
        argument = 0
    return tuple(sorted(ends.items(), key=lambda loop: (loop[0], -loop[1])))
