"""What the disk says of a structure that this process has no code for: whether there is some, and
whether it is worth compiling.  Asked before anything that compiles or assembles is loaded.
"""

from __future__ import annotations

from typing import Any

from fusewright._core import native
from fusewright.base.options import Options
from fusewright.runtime import cache as disk
from fusewright.targets.cpu.disk_keys import name_of

LATER, NOW = 1, 2
"""Whether a structure is to be compiled, by what it has cost so far: in a later process or in this
one (`native.is_due`)."""
_DUE = "due"
_slow: set[str] = set()
"""Of this process alone: another one may find the processor less busy."""


def is_kept(key: Any, options: Options) -> bool:
    """Whether an earlier process has left code that is faster than its operations one by one."""
    name = name_of(key, options)
    return disk.is_there(name) and not is_slow(name)


def is_slow(name: str) -> bool:
    """Whether code was measured to be slower than its operations one by one."""
    return name in _slow


def is_due(key: Any, options: Options, due: int) -> bool:
    """Whether a structure that is not on disk is to be compiled now.  It is, too, where an earlier
    process has said so, which may have ended before its code was there.
    """
    name = name_of(key, options)
    if is_slow(name):
        return False
    if due != LATER and disk.is_there(name + _DUE):
        return True
    if due:
        disk.put(name + _DUE, b"")
    return due == NOW


if native is not None:
    native.set_dropped(_slow.add)
