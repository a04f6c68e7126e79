"""The errors a user meets: each says what happened, where, why, and what to do.

Two families: `FusewrightError` (the user can mend it) and `InternalError` (only we can).  A
subclass also derives from the built-in error NumPy raises in its place, so that programs written
for NumPy catch it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, ClassVar

import numpy as np

from fusewright.base.source import Span, draw, user_span

Line = Span
Nowhere = tuple[()]
"""The place of what no line of the program has done, such as a variable of the environment."""


class FusewrightError(Exception):
    """Something the user can mend.

    `where` is (file, line, column, end column); left out, it is the line of the user's code that
    is running now.  `remark` stands beside the caret.  `fusewright help CODE` explains the class.

    Examples:
        Its kinds also derive from the error that NumPy raises there:

        >>> import fusewright as fw
        >>> try:
        ...     fw.asarray([1.0, 2.0]) + fw.asarray([1.0, 2.0, 3.0])
        ... except fw.FusewrightError as error:
        ...     print(error.code, isinstance(error, ValueError))
        FW101 True
    """

    code: ClassVar[str] = "FW100"

    def __init__(
        self,
        what: str,
        where: Line | Nowhere | None = None,
        why: str = "",
        help: str = "",
        remark: str = "",
    ) -> None:
        self.what = what
        self.where = user_span() if where is None else where or None
        self.why = why
        self.help = help
        self.remark = remark
        self.args = (what,)

    def __str__(self) -> str:
        lines = [f"{self.what} [{self.code}]"]
        if self.where:
            lines += draw(self.where, self.remark)
        if self.why:
            lines.append(f"why: {self.why}")
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class ShapeError(FusewrightError, ValueError):
    """Shapes that do not fit together, or a shape something cannot have."""

    code = "FW101"


class DTypeError(FusewrightError, TypeError):
    """An element type an operation does not take or cannot store."""

    code = "FW102"


class ValueRangeError(FusewrightError, ValueError):
    """An argument of the right type with a value that makes no sense."""

    code = "FW103"


class ArgumentError(FusewrightError, TypeError):
    """An argument of the wrong type, missing, or too many."""

    code = "FW104"


class OverflowIntError(FusewrightError, OverflowError):
    """A Python integer that the element type cannot hold."""

    code = "FW105"


class BoundsError(FusewrightError, IndexError):
    """An index outside the array, or one that cannot index at all."""

    code = "FW106"


class ReadOnlyError(FusewrightError, ValueError):
    """A write into an array that may not be written."""

    code = "FW108"


class OutOfMemory(FusewrightError, MemoryError):
    """An allocation that failed."""

    code = "FW109"


class ExecutableMemoryError(FusewrightError):
    """The system refuses memory that holds code."""

    code = "FW112"


class CacheNotCleared(FusewrightError, OSError):
    """The folder of compiled code cannot be emptied."""

    code = "FW115"


class StrictError(FusewrightError):
    """Under `strict=True`: a step that would run uncompiled."""

    code = "FW111"


class UnsupportedError(FusewrightError, NotImplementedError, TypeError):
    """Something NumPy can do and Fusewright cannot."""

    code = "FW110"


class KernelError(FusewrightError, TypeError):
    """A kernel of loops that makes no sense: its types, names or calls."""

    code = "FW200"


class KernelNameError(KernelError):
    """A name or an attribute that a kernel does not find."""

    code = "FW204"


class KernelTypeError(KernelError):
    """Numbers in a kernel whose types an operation does not take."""

    code = "FW205"


class KernelPathError(KernelError):
    """A name in a kernel that is one thing on one path and another on another."""

    code = "FW206"


class KernelCallError(KernelError):
    """A call in a kernel, or of one, with arguments it does not take."""

    code = "FW207"


class KernelIndexError(KernelError):
    """An index, or a part of an array, that a kernel cannot have."""

    code = "FW208"


class KernelArrayError(KernelError):
    """An array that a kernel cannot make, keep or change in place."""

    code = "FW209"


class KernelListError(KernelError):
    """A list in a kernel that mixes kinds, or changes under its own loop."""

    code = "FW210"


class KernelReductionError(KernelError):
    """A sum, mean or product in a kernel whose order or type is not fixed."""

    code = "FW211"


class KernelReturnError(KernelError):
    """A value that a kernel cannot return."""

    code = "FW212"


class KernelAliasError(KernelError):
    """A kernel's write into memory that it still has to read."""

    code = "FW213"


class UnassignedError(KernelError, UnboundLocalError):
    """A name that may have no value where it is read."""

    code = "FW201"


class DivisionError(FusewrightError, ZeroDivisionError):
    """A Python number divided by zero: in a kernel under `check=True`, or by a step of 0."""

    code = "FW202"


class AssertedError(FusewrightError, AssertionError):
    """An `assert` of a kernel does not hold: under `check=True`, or when it is compiled."""

    code = "FW203"


class RecurrenceError(FusewrightError, ValueError):
    """A family of recurrence relations, or what is asked of it, that makes no sense."""

    code = "FW300"


class RecurrenceCycleError(RecurrenceError):
    """A recurrence relation that leads back to the value it computes."""

    code = "FW301"


class RecurrenceEndError(RecurrenceError):
    """A value that is no leaf and has no relation."""

    code = "FW302"


class RecurrenceScalarError(RecurrenceError):
    """A coefficient of a recurrence relation that is neither a finite number nor a scalar."""

    code = "FW303"


class RecurrenceMapError(RecurrenceError):
    """A linear map whose matrix does not fit what it maps."""

    code = "FW304"


class RecurrenceSizeError(RecurrenceError):
    """Recurrence relations that need too many values."""

    code = "FW305"


class AxisError(FusewrightError, np.exceptions.AxisError):
    """An axis the array does not have."""

    code = "FW107"

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
    """Something only we can mend; `stages` names what the compiler had done, in order.

    Please report it, with what it prints and the program.  What could not be computed stays
    pending: another setting may compute it meanwhile.

    Examples:
        >>> import fusewright as fw, fusewright.numpy as np
        >>> y = np.sqrt(np.arange(1000.0))
        >>> try:
        ...     total = float(y.sum())
        ... except fw.InternalError:
        ...     with fw.options(target="reference"):
        ...         total = float(y.sum())
    """

    code: ClassVar[str] = "FW900"

    def __init__(self, what: str, stages: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.stages = tuple(stages)

    def __str__(self) -> str:
        lines = [f"{self.what} [{self.code}]"]
        if self.stages:
            lines.append("stages: " + " -> ".join(self.stages))
        lines.append("help: this is a bug in Fusewright; please report it with the program")
        return "\n".join(lines)


class OptionError(FusewrightError, ValueError, TypeError):
    """A setting that does not exist, or a value it cannot have."""

    code = "FW113"


class ElsewhereError(FusewrightError, AttributeError):
    """A name that NumPy does not have, and a module beside it does."""

    code = "FW117"


class VariableError(OptionError):
    """A variable of the environment that is wrong: by its name (`is_name`), or by its value."""

    code = "FW116"

    def __init__(self, name: str, what: str, is_name: bool) -> None:
        super().__init__(what, where=())
        self.name = name
        self.is_name = is_name

    def __reduce__(self) -> tuple[object, ...]:
        return (VariableError, (self.name, self.what, self.is_name))


is_debugging: Callable[[], bool] = bool
"""Whether errors show our frames, too: `base.options` puts it here."""


def _print(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What Python prints of an error that nobody catches; one of ours ends at the user's line."""
    # Imported here: most programs end without an error.
    from fusewright.base.traces import shorten

    if not is_debugging():
        shorten(error, isinstance(error, FusewrightError))
    sys.__excepthook__(kind, error, error.__traceback__)


if sys.excepthook is sys.__excepthook__:  # any other hook prints errors in its own way
    sys.excepthook = _print


def _notebooks() -> None:
    """A session of IPython prints errors itself: as `_print` does, without frames of ours."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or shell.custom_exceptions:
        return

    def show(self: Any, kind: Any, error: BaseException, trace: Any, tb_offset: Any = None) -> None:
        # Imported here: as above.
        from fusewright.base.traces import shorten

        if not is_debugging():
            shorten(error, isinstance(error, FusewrightError))
        shown = kind, error, error.__traceback__
        self.showtraceback(shown, tb_offset=tb_offset, running_compiled_code=True)

    shell.set_custom_exc((Exception,), show)


_notebooks()
