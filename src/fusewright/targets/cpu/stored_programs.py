"""Compiled code on disk in the form that the native core runs: tables of numbers and machine code.

A process that only runs what an earlier one has compiled loads nothing of plans, nests and kernels:
12 ms less for its first request, and a tenth of the time for each structure.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fusewright._core import native
from fusewright.base.later import later
from fusewright.runtime import cache as disk
from fusewright.runtime.image import Executable, Image

if TYPE_CHECKING:
    from fusewright.runtime import background
else:
    background = later("fusewright.runtime.background")

HOT = 2
"""Runs after which better code is worth compiling: many structures are met once."""
ROOM = 16 << 20
"""Bytes that fused code may hold beyond what the statements would."""

Form = tuple[Any, ...]
"""The arguments of the core's `Program`."""
Kernel = tuple[Image, bool]
"""Its code, and whether it is the best we make."""
Found = tuple[Form, list[Any], float]
"""A program's form, its kernels, and the seconds after which better code is worth making."""
Use = Callable[[int, Image], None]


def keep(name: str, form: Form, kernels: Sequence[Kernel | None], trial: float) -> None:
    """To the disk; the best code is worth making after `trial` seconds of running."""
    disk.put(_entry(name), encoded(form, kernels, trial))


def encoded(form: Form, kernels: Sequence[Kernel | None], trial: float) -> bytes:
    """As bytes; `decoded` is the inverse."""
    plain = [None if each is None else (tuple(each[0]), *each[1:]) for each in kernels]
    return marshal.dumps((form, plain, trial))


def decoded(data: bytes) -> Found | None:
    """None where they are no such bytes."""
    try:
        form, kernels, trial = marshal.loads(data)
        return form, [k if k is None else (Image(*k[0]), *k[1:]) for k in kernels], trial
    except (EOFError, ValueError, TypeError):
        return None


def load(name: str, improve: Callable[[Use], None]) -> Any:
    """The program kept under a name, ready to run; None where there is none.  `improve` makes
    better code.
    """
    found = read(name)
    made = None if found is None else program_of(found, improve)
    if made is not None:
        made.name = name
    return made


def program_of(found: Found, improve: Callable[[Use], None]) -> Any:
    """What the core runs; None where it is not of this core.  `improve` makes better code."""
    form, kernels, trial = found
    try:
        made = native.Program(*form)
    except (TypeError, ValueError):
        return None
    made.affordable = ROOM
    made.owner = code = _Code(made)
    for number, kernel in enumerate(kernels):
        if kernel is not None:
            code.use(number, kernel[0])
    if not all(kernel is None or kernel[1] for kernel in kernels):
        made.note = _Trial(made, trial, partial(improve, code.use)).note
    return made


class _Code:
    """The code that a program runs, and has run: another thread may be in the midst of it."""

    __slots__ = ("program", "steps")

    def __init__(self, program: Any) -> None:
        self.program = program
        self.steps: dict[int, Executable[None]] = {}

    def use(self, number: int, image: Image) -> None:
        """Run other code for a step from now on."""
        code = self.steps.setdefault(number, Executable(None))
        code.use(image)
        self.program.use(number, code.address, code.finish)


class _Trial:
    """What a program has to run for before better code is made."""

    __slots__ = ("improve", "program", "runs", "seconds")

    def __init__(self, program: Any, seconds: float, improve: Callable[[], None]) -> None:
        self.program, self.seconds, self.improve, self.runs = program, seconds, improve, 0

    def note(self, seconds: float, runs: int) -> None:
        """Count runs."""
        self.runs += runs
        self.seconds -= seconds
        if self.runs >= HOT and self.seconds <= 0:
            self.program.note = None
            background.submit(self.improve)


def note_worth(name: str) -> None:
    """A process has run it for as long as the best code takes to make."""
    found = read(name)
    if found is not None:
        keep(name, found[0], found[1], 0.0)


def note_better(name: str, number: int, image: Image) -> None:
    """The best code of a kernel has been made."""
    found = read(name)
    if found is not None and found[1][number] is not None:
        kernels = list(found[1])
        kernels[number] = (image, True)
        keep(name, found[0], kernels, 0.0)


def _entry(name: str) -> str:
    return disk.digest(f"program {name}".encode())


def read(name: str) -> Found | None:
    """What the disk keeps under a name."""
    data = disk.get(_entry(name))
    return None if data is None else decoded(data)
