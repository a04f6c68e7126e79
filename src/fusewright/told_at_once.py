"""When somebody begins to listen, what makes records is loaded, before the program that is recorded
begins; and library steps that NumPy runs at once are told, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusewright.base.later import later, load
from fusewright.frontends.arrays import opaque
from fusewright.runtime.listening import listeners, watchers

if TYPE_CHECKING:
    from fusewright.runtime import profile
else:
    profile = later("fusewright.runtime.profile")


def _note(note: opaque.Note) -> None:
    """A step NumPy ran at once is an evaluation of its own."""
    step = profile.OpaqueRecord(note.name, "numpy", note.start, note.seconds, note.why, note.line)
    flush = profile.Flush(f"{note.name} runs in NumPy", note.line, note.start, note.seconds, [step])
    profile.told(flush)
    profile.not_recording(note.seconds)


def _listen(comes: bool) -> None:
    opaque.listeners[:] = [each for each in opaque.listeners if each is not _note]
    if comes:
        load("fusewright.targets.cpu.record")
        opaque.listeners.append(_note)


watchers.append(_listen)
_listen(bool(listeners))  # somebody may have begun to listen before this was loaded
