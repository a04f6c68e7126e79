"""Functions of NumPy's that write into their arguments, or hand parts of them to a function of the
user's, which may: arrays of ours are lent to them writable.  Functions that give arrays on the
memory of others.

NumPy works on our memory itself, so what is written is there when the call returns; while a part is
still held, both sides see each other's writes.
"""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.errors import ValueRangeError
from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.frontends.arrays import core, exports, opaque, sharing
from fusewright.frontends.arrays.core import Handle
from fusewright.numpy import kinds
from fusewright.numpy.border import lend
from fusewright.numpy.operands import Function

if TYPE_CHECKING:
    from fusewright.base import signatures
else:
    signatures = later("fusewright.base.signatures")

OVERWRITES = ("median", "percentile", "quantile", "nanmedian", "nanpercentile", "nanquantile")
"""Functions that write into their argument where `overwrite_input` is true."""
CALLS = ("apply_along_axis", "apply_over_axes", "asmatrix")
"""Functions that hand parts of their argument to a function, or wrap it."""
WHY = "it may write into its argument, which is lent to it"
_opened: set[type] = set()


def _lent(value: Any, loans: list[tuple[Handle, Any]]) -> Any:
    """An argument with NumPy's arrays for ours; each loan is noted."""
    if isinstance(value, Handle):
        loans.append((value, lend(value)))
        return loans[-1][1]
    if type(value) in (list, tuple):
        return type(value)(_lent(item, loans) for item in value)
    if type(value) is dict:
        return {key: _lent(item, loans) for key, item in value.items()}
    return value


def writing(original: Function) -> Function:
    """NumPy's function with our arrays lent to it: where it returns what it was lent, that is ours
    again.
    """

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        loans: list[tuple[Handle, Any]] = []
        given, named = _lent(args, loans), _lent(kwargs, loans)
        if not loans:
            return opaque.from_numpy_result(original(*args, **kwargs))
        result = opaque.delegate(original.__name__, original, given, named, WHY)
        return next((ours for ours, array in loans if array is result), result)

    return call


def opened(kind: type) -> type:
    """A class of NumPy's whose objects lie in the memory of the array they are made of
    (`MaskedArray`, `matrix`): arrays of ours are lent to it.
    """
    if issubclass(kind, np.ndarray) and kind not in _opened and "__new__" in vars(kind):
        _opened.add(kind)
        original = kind.__new__

        @wraps(original)
        def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
            given = [lend(each) if isinstance(each, Handle) else each for each in args]
            for name, each in kwargs.items():
                if isinstance(each, Handle):
                    kwargs[name] = lend(each)
            return original(cls, *given, **kwargs)

        type.__setattr__(kind, "__new__", __new__)
    return kind


def _overwrites(original: Function, args: tuple[Any, ...]) -> bool:
    place = [each.name for each in signatures.parameters(original)].index("overwrite_input")
    return len(args) > place and bool(args[place])


def overwriting(original: Function, ours: Function) -> Function:
    """Our function; NumPy's, with our arrays lent to it, where the argument is given away."""
    lending = writing(original)

    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        gives = kwargs.get("overwrite_input") or (len(args) > 1 and _overwrites(original, args))
        return (lending if gives else ours)(*args, **kwargs)

    return call


class Iterators(type):
    """The class of what `nditer` names: NumPy's iterators walk over our memory, and write there
    where they are told to.
    """

    @property
    def __signature__(cls) -> inspect.Signature | None:
        """NumPy's, where that knows one."""
        with suppress(ValueError):
            return inspect.signature(np.nditer)
        return None

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return np.nditer(*lend(args), **lend(kwargs))

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, np.nditer)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, np.nditer)


_members = {name: part for name, part in vars(np.nditer).items() if not name.startswith("__")}
nditer = Iterators("nditer", (), {**_members, "__doc__": np.nditer.__doc__})
kinds.shown[Iterators] = type


@wraps(np.nested_iters)
def nested_iters(*args: Any, **kwargs: Any) -> Any:
    """Such iterators, one in the other."""
    return np.nested_iters(*lend(args), **lend(kwargs))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array on the memory of another; a view of ours."""
    if not isinstance(x, Handle):
        return np.from_dlpack(x, device=device, copy=copy)
    if device not in (None, "cpu"):
        raise ValueRangeError(f"unsupported device {device!r}", help="use 'cpu'")
    view: Any = x[...]  # type: ignore[index]
    return view.copy() if copy else view


def frombuffer(
    buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, **like: Any
) -> Any:
    """An array on a buffer's memory: NumPy's where somebody can write there, else ours."""
    buffer = exports.writable(buffer) if isinstance(buffer, Handle) else buffer
    array = np.frombuffer(buffer, dtype, count, offset, **like)
    numeric = array.dtype.isnative and opaque.from_numpy_or_none(array.dtype) is not None
    if array.flags.writeable or not numeric or array.size <= current().small:
        return array
    made: Any = core.wrap_array(sharing.snapshot(array))
    made.flags.writeable = False
    return made


def in_front_of(exports: dict[str, Any]) -> dict[str, Any]:
    """The functions of a table that write."""
    return {
        **{name: overwriting(getattr(np, name), exports[name]) for name in OVERWRITES},
        **{name: writing(getattr(np, name)) for name in CALLS},
        "nditer": nditer, "nested_iters": nested_iters,
        "from_dlpack": from_dlpack, "frombuffer": frombuffer,
    }  # fmt: skip
