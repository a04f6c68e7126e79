"""What the disk says of a structure that this process has no code for: whether there is some, and
whether it is worth compiling.  Asked before anything that compiles or assembles is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fusewright._core import native
from fusewright.base.later import later
from fusewright.base.options import Options
from fusewright.runtime import cache as disk
from fusewright.targets.cpu.disk_keys import name_of

if TYPE_CHECKING:
    from fusewright.runtime import kept
else:
    kept = later("fusewright.runtime.kept")

LATER, NOW = 1, 2
"""Whether a structure is to be compiled, by what it has cost so far: in a later process or in this
one (`native.is_due`)."""
MOST_BEGUN = 3
"""Processes that begin with a structure because an earlier one has said so, and end before they
have got any further: the next one waits until the structure has run for long in it.
"""
_DUE = "due"
slow: set[str] = set()
"""Of this process alone: another one may find the processor less busy."""


def is_kept(key: Any, options: Options) -> bool:
    """Whether an earlier process has left code that is faster than its operations one by one."""
    name = name_of(key, options)
    return disk.is_there(name) and not is_slow(name)


def is_slow(name: str) -> bool:
    """Whether code was measured to be slower than its operations one by one."""
    return name in slow


def is_due(key: Any, options: Options, due: int) -> bool:
    """Whether a structure that is not on disk is to be compiled now.  It is, too, where an earlier
    process has said so, which may have ended before its code was there.
    """
    name = name_of(key, options)
    if is_slow(name):
        return False
    begun = disk.get(name + _DUE)
    if due != LATER and begun is not None and len(begun) < MOST_BEGUN:
        return True
    if due and begun is None:
        disk.put(name + _DUE, b"")
    return due == NOW


def unfinished(name: str) -> str:
    """The name of what is planned, and maybe compiled in part."""
    return name + "planned"


def begin(key: Any, options: Options) -> None:
    """A process begins with a structure."""
    name = name_of(key, options)
    disk.put(name + _DUE, (disk.get(name + _DUE) or b"") + b"+")


def keep(name: str, further: Any) -> None:
    """A structure is planned, or more of it compiled."""
    kept.write(unfinished(name), further)
    disk.put(name + _DUE, b"")


def end(name: str) -> None:
    """The code of a structure is there."""
    for left in (name + _DUE, unfinished(name)):
        disk.remove(left)


if native is not None:
    native.set_dropped(slow.add)
