"""Who records what runs (`runtime.profile` says what): asked at every flush, so it is all that a
process needs where nobody does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fusewright.runtime.profile import Profile

listeners: list[Profile] = []
"""The profiles being written; empty when nobody listens."""


watchers: list[Callable[[bool], None]] = []
"""Called with True when the first listener comes and with False when the last one has gone."""
