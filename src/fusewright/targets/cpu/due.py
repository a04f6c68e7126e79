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
_DUE = "due"
"""What marks a structure that is to be compiled early: empty, or `_BEGUN` where a process has begun
because an earlier one had said so, and ended before it got any further.  That would happen to the
next one, too: it waits until the structure has run for long in it.
"""
_BEGUN = b"+"
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
    mark = disk.get(name + _DUE)
    if due != LATER and mark == b"":
        return True
    if due and mark is None:
        disk.put(name + _DUE, b"")
    return due == NOW


def unfinished(name: str) -> str:
    """The name of what is planned, and maybe compiled in part."""
    return name + "planned"


def begin(key: Any, options: Options) -> None:
    """A process begins with a structure."""
    disk.put(name_of(key, options) + _DUE, _BEGUN)


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
