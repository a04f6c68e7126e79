"""Which values a straight program stops needing where: one backward pass.

>>> last_uses([{1, 2}, {2, 3}, {3}], kept={1})
[(), (2,), (3,)]
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet


def last_uses(uses: Sequence[AbstractSet[int]], kept: Collection[int]) -> list[tuple[int, ...]]:
    """After each step, the values that it is the last to use; what is `kept` is always needed."""
    needed = set(kept)
    found: list[tuple[int, ...]] = []
    for used in reversed(uses):
        found.append(tuple(used - needed))
        needed |= used
    return found[::-1]
