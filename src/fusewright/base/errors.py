"""The errors a user meets: each says what happened, where, why, and what to do.

Two families: `FusewrightError` (the user can mend it) and `InternalError` (only we can).  A
subclass also derives from the built-in error NumPy raises in its place, so that programs written
for NumPy catch it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusewright.base.source import Span, draw, user_span

Line = Span


class FusewrightError(Exception):
    """Something the user can mend.

    `where` is (file, line, column, end column); left out, it is the line of the user's code that
    is running now.  `remark` stands beside the caret.
    """

    def __init__(
        self,
        what: str,
        where: Line | None = None,
        why: str = "",
        help: str = "",
        remark: str = "",
    ) -> None:
        self.what = what
        self.where = where if where is not None else user_span()
        self.why = why
        self.help = help
        self.remark = remark
        self.args = (what,)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines += draw(self.where, self.remark)
        if self.why:
            lines.append(f"why: {self.why}")
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class ShapeError(FusewrightError, ValueError):
    """Shapes that do not fit together, or a shape something cannot have."""


class DTypeError(FusewrightError, TypeError):
    """An element type an operation does not take or cannot store."""


class ValueRangeError(FusewrightError, ValueError):
    """An argument of the right type with a value that makes no sense."""


class ArgumentError(FusewrightError, TypeError):
    """An argument of the wrong type, missing, or too many."""


class OverflowIntError(FusewrightError, OverflowError):
    """A Python integer that the element type cannot hold."""


class BoundsError(FusewrightError, IndexError):
    """An index outside the array, or one that cannot index at all."""


class ReadOnlyError(FusewrightError, ValueError):
    """A write into an array that may not be written."""


class OutOfMemory(FusewrightError, MemoryError):
    """An allocation that failed."""


class StrictError(FusewrightError):
    """Under `strict=True`: a step that would run uncompiled."""


class UnsupportedError(FusewrightError, NotImplementedError, TypeError):
    """Something NumPy can do and Fusewright cannot."""


class KernelError(FusewrightError, TypeError):
    """A kernel of loops that makes no sense: its types, names or calls."""


class UnassignedError(KernelError, UnboundLocalError):
    """A name that may have no value where it is read."""


class DivisionError(FusewrightError, ZeroDivisionError):
    """A Python number divided by zero: in a kernel under `check=True`, or by a step of 0."""


class AssertedError(FusewrightError, AssertionError):
    """An `assert` of a kernel does not hold: under `check=True`, or when it is compiled."""


class AxisError(FusewrightError, np.exceptions.AxisError):
    """An axis the array does not have."""

    def __init__(self, axis: object, ndim: int | None = None, help: str = "") -> None:
        what = str(axis)
        if ndim is not None:
            what = f"axis {axis} is out of bounds for array of dimension {ndim}"
        FusewrightError.__init__(self, what, help=help)
        self.axis = axis  # type: ignore[assignment]
        self.ndim = ndim
        self._msg = what

    def __reduce__(self) -> tuple[object, ...]:
        return (AxisError, (self.axis, self.ndim, self.help))


class FusewrightWarning(UserWarning):
    """Something went wrong that did not change a result."""


class CacheWarning(FusewrightWarning):
    """The cache folder could not be read or written; the code was compiled again."""


class InternalError(Exception):
    """Something only we can mend; `stages` names what the compiler had done, in order."""

    def __init__(self, what: str, stages: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.stages = tuple(stages)

    def __str__(self) -> str:
        lines = [self.what]
        if self.stages:
            lines.append("stages: " + " -> ".join(self.stages))
        lines.append("help: this is a bug in Fusewright; please report it with the program")
        return "\n".join(lines)
