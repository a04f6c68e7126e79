"""The one way of compiled programs to the disk and back: what is made once for a name is in memory,
on disk, or made now.

What is kept may hold expressions of any depth (`ir.store`); what cannot be read is made again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from fusewright.base.later import later
from fusewright.ir import store
from fusewright.runtime import cache as disk

if TYPE_CHECKING:
    from fusewright.base import interruptions
else:
    interruptions = later("fusewright.base.interruptions")

T = TypeVar("T")
Origin = Literal["compiled", "disk", "memory"]


class KeptValue(NamedTuple, Generic[T]):
    """A value, its name on disk, and where it came from."""

    value: T
    name: str
    origin: Origin


class Kept(Generic[T]):
    """Values of one kind; those in memory are forgotten when there are more than `most`."""

    def __init__(self, most: int = sys.maxsize) -> None:
        self._most = most
        self._known: dict[Any, KeptValue[T]] = {}

    def obtain(self, key: Any, name_of: Callable[[], str], make: Callable[[], T]) -> KeptValue[T]:
        """The value of a key; `make` makes it where it is neither in memory nor on disk."""
        found = self._known.get(key)
        if found is not None:
            return found
        name = name_of()
        value: T | None = read(name)
        origin: Origin = "disk"
        if value is None:
            value, origin = make(), "compiled"
            write(name, value)
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[key] = KeptValue(value, name, "memory")
        return KeptValue(value, name, origin)

    def has(self, key: Any, name_of: Callable[[], str]) -> bool:
        """Whether it need not be made."""
        return key in self._known or disk.is_there(name_of())

    def clear(self) -> None:
        """Forget what is in memory."""
        self._known.clear()


def read(name: str) -> Any:
    """What the disk has under a name; None where that is nothing, or damaged."""
    data = disk.get(name)
    if data is None:
        return None
    try:
        return store.loads(data)
    except Exception as error:  # whatever a damaged file raises when read
        if interruptions.is_interruption(error):
            raise
        return None


def write(name: str, value: Any) -> None:
    """To the disk."""
    disk.put(name, store.dumps(value))
