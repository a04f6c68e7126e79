"""Universal functions: one `Ufunc` for each of NumPy's, with `out=`, `where=`, `reduce`,
`outer`, ...

A call on our arrays is recorded; a call on Python and NumPy numbers alone is NumPy's, at once.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import UnsupportedError
from fusewright.frontends.arrays import core, layouts, opaque, operators, record
from fusewright.frontends.arrays import ufuncs as recording
from fusewright.frontends.arrays.core import wrap
from fusewright.frontends.arrays.dtypes import as_dtype
from fusewright.frontends.arrays.front import dispatched, in_place
from fusewright.ir.dtypes import BOOL, INT8
from fusewright.ir.ops import COMPLEX
from fusewright.numpy.operands import (
    Function,
    by_numpy,
    hand_over,
    handle_of,
    holds_array,
    holds_foreign,
    is_foreign,
    is_scalar,
)

NUMBERS = frozenset((float, int, complex, bool, np.float64, np.float32, np.int64, np.complex128))
"""Operands that NumPy computes with at once."""


QUICK = NUMBERS | core.handle_classes | {np.ndarray, core.masked_class}
"""Operands beside an array of ours that need no second look."""


class _Recorder:
    """A callable that `_general_form` answers; the native one records arrays of one shape first, by
    `_op`, where there are `_arity` operands and nothing else; of numbers it is `_of_numbers`.
    """

    __slots__ = ("_arity", "_general_form", "_of_complex", "_of_numbers", "_op")

    _general_form: Function
    _of_complex: Function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        number = len(args) == 1 and not kwargs and isinstance(args[0], complex | np.complexfloating)
        if number and hasattr(self, "_of_complex"):
            return self._of_complex(args[0])
        return self._general_form(*args, **kwargs)


Recorder: Any = _Recorder if native is None else native.Function


RECORDED: dict[str, Any] = {
    "reduce": recording.FOLD_NAMES, "accumulate": recording.SCAN_NAMES, "outer": recording.NAMES,
}  # fmt: skip
"""Methods, and the ufuncs whose calls are recorded; NumPy runs those of the others."""


def _remembered(function: Function, original: Any) -> Function:
    """A function with what its calls record remembered, where there is a core; it asks NumPy's
    itself what becomes of a call.
    """

    def judge(args: Any, kwargs: dict[str, Any]) -> int | bool:
        return opaque.place_of_out(original, args, kwargs) if "out" in kwargs else True

    return function if native is None else native.Agreed(function, function, judge)


class _Method:
    """A method: NumPy's own where no operand is ours.  A ufunc's is made when it is first asked
    for: of 450 a program uses few.
    """

    def __init__(self, general: Callable[..., Any]) -> None:
        self._general = general

    def __get__(self, ufunc: Any, owner: type | None = None) -> Any:
        if ufunc is None:
            return self._general
        name = self._general.__name__
        plain, ours = getattr(ufunc._original, name), self._general.__get__(ufunc)
        if name == "at":
            ours = in_place(plain, ours)
        elif ufunc._original in RECORDED.get(name, ()):
            ours = _remembered(ours, plain)
        else:
            ours = by_numpy(plain, ours)
        made = ufunc.__dict__[name] = dispatched(plain, ours, keeps=name == "at")
        return made


class Ufunc(Recorder):  # type: ignore[misc]
    """A NumPy ufunc that records calls on our arrays."""

    __slots__ = ("__dict__", "_fast", "_function", "_original", "_unary")

    def __init__(self, original: np.ufunc, function: Function | None = None) -> None:
        name = recording.NAMES.get(original)
        self._original = original
        self._function = function
        self._fast: Any = None
        self._unary: Any = None
        self._general_form = self._call
        if name is None and function is None:
            self._general_form = by_numpy(original, self._call)
        else:
            self._general_form = _remembered(self._call, original)
        self.__name__ = self.__qualname__ = original.__name__
        self.__doc__ = original.__doc__
        self.__module__ = "fusewright.numpy"
        if name is not None and original.nin == 1 and function is None:
            self._unary = self._op = operators.op_of(name)
        elif name is not None and original.nin == 2:
            self._fast = operators.op_of(name)
            self._op = self._fast
        self._arity, self._of_numbers = original.nin, original
        if name in COMPLEX:
            self._of_complex = COMPLEX[name]

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ufunc

    def __eq__(self, other: object) -> bool:
        """In tables and lists it is NumPy's own."""
        return other is self or other is self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            unary = self._unary
            if unary and len(args) == 1 and type(args[0]) in core.handle_classes:
                return unary(args[0])
            result = self._quick(args)
            if result is not NotImplemented:
                return result
        return self._general("__call__", args, kwargs)

    def _quick(self, args: tuple[Any, ...]) -> Any:
        """The fast way for arrays of ours, and for one number; else `NotImplemented`."""
        if self._fast and len(args) == 2:
            return self._binary(*args)
        if self._unary and len(args) == 1 and type(args[0]) in NUMBERS:
            return self._original(args[0])
        return NotImplemented

    def _binary(self, left: Any, right: Any) -> Any:
        """The fast way for an array of ours and another, or a number."""
        if type(left) in core.handle_classes:
            if type(right) in QUICK:
                return self._fast.of_two(left, right, False)
        elif type(right) in core.handle_classes and type(left) in QUICK:
            return self._fast.of_two(right, left, True)
        return NotImplemented

    def _general(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        original = self._original
        function = getattr(original, method)
        if method == "__call__" and original.nin < len(args) <= original.nargs:
            if "out" in kwargs or any(type(out) is tuple for out in args[original.nin :]):
                return function(*args, **kwargs)  # NumPy says what is wrong
            outs = (*args[original.nin :], *(None,) * (original.nargs - len(args)))
            args, kwargs = args[: original.nin], {**kwargs, "out": outs}
        name = original.__name__ if method == "__call__" else f"{original.__name__}.{method}"
        on_host = not holds_array((args, kwargs))
        if on_host and (all(map(is_scalar, args)) or "out" in kwargs):
            return function(*args, **kwargs)
        if any(map(is_foreign, args)) or holds_foreign(kwargs.get("out")):
            return hand_over(name, function, args, kwargs, opaque.FOREIGN)
        if len(args) != original.nin and method == "__call__":
            return function(*args, **kwargs)  # NumPy says how many it takes
        try:
            made = tuple(handle_of(arg) if type(arg) in (list, tuple) else arg for arg in args)
            return self._record(method, made, kwargs)
        except UnsupportedError:
            return hand_over(name, function, args, kwargs, "a dtype without a compiled form")

    def _record(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        original = self._original
        if self._function is not None and not kwargs:
            return self._function(*args)
        order = kwargs.get("order")
        out = kwargs.get("out", 0)
        if out is None or (isinstance(out, tuple) and all(one is None for one in out)):
            del kwargs["out"]
        made = recording.call(original, method, args, kwargs)
        return ordered(made, args, order) if order and "out" not in kwargs else made

    @_Method
    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        """Combine the elements along axes (the first by default)."""
        names = ("axis", "dtype", "out", "keepdims", "initial", "where")
        if not self._combines(args, kwargs, names):
            return self._refused("reduce", args, kwargs)
        array, *rest = args
        given = {"axis": 0, **kwargs, **dict(zip(names, rest, strict=False))}
        axis = given["axis"]
        if getattr(array, "shape", None) == () and type(axis) is int and axis in (0, -1):
            given["axis"] = None
        return self._general("reduce", (array,), _given(given))

    def _combines(self, args: Any, kwargs: dict[str, Any], names: tuple[str, ...]) -> bool:
        """Whether the ufunc combines elements, and the arguments are ones that this takes."""
        places = set(names[max(len(args) - 1, 0) :])
        binary = self._original.nin == 2 and self._original.nout == 1
        return binary and 0 < len(args) <= len(names) + 1 and kwargs.keys() <= places

    def _refused(self, method: str, args: Any, kwargs: dict[str, Any]) -> Any:
        """NumPy says what is wrong with the call."""
        function = getattr(self._original, method)
        return function(*map(opaque.to_numpy, args), **opaque.to_numpy(kwargs))

    @_Method
    def accumulate(self, *args: Any, **kwargs: Any) -> Any:
        """Combine each element with all before it."""
        return self._along("accumulate", 1, args, kwargs)

    @_Method
    def reduceat(self, *args: Any, **kwargs: Any) -> Any:
        """Reduce slices that start at the indices."""
        return self._along("reduceat", 2, args, kwargs)

    def _along(self, method: str, count: int, args: Any, kwargs: dict[str, Any]) -> Any:
        names = ("axis", "dtype", "out")
        rest = args[count:]
        known = self._combines((None, *rest), kwargs, names) and len(args) >= count
        if not known or np.ndim(args[0]) == 0:
            return self._refused(method, args, kwargs)
        kwargs |= dict(zip(names, rest, strict=False))
        return self._general(method, args[:count], {"axis": 0, **_given(kwargs)})

    @_Method
    def outer(self, *args: Any, **kwargs: Any) -> Any:
        """Every element of one with every element of the other."""
        if len(args) != 2 or self._original.nin != 2:
            return self._refused("outer", args, kwargs)
        return self._general("outer", args, kwargs)

    @_Method
    def at(self, *args: Any) -> None:
        """Update elements in place; equal indices accumulate."""
        if args and isinstance(args[0], core.Handle) and len(args) == self._original.nin + 1:
            recording.call(self._original, "at", args, {})
        else:
            self._refused("at", args, {})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce__(self) -> str:
        return self.__name__


if native is not None:
    native.call_directly(Ufunc)


def ordered(made: Any, operands: tuple[Any, ...], order: str) -> Any:
    """Results in the order that a letter asks for."""
    if isinstance(made, tuple):
        return tuple(ordered(each, operands, order) for each in made)
    letter = order.upper()
    if letter == "K" or not isinstance(made, core.Handle) or not made._shape:
        return made
    if letter == "A":
        arrays = [operand for operand in operands if isinstance(operand, core.Handle)]
        straight = any(layouts.is_as_asked(operand, "C") for operand in arrays)
        turned = all(layouts.is_as_asked(operand, "F") for operand in arrays)
        letter = "F" if turned and not straight else "C"
    return layouts.new(made._node, letter)


def _given(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments that say something: no `dtype` and no `out` is none, but `where=None`
    is a mask that selects nothing, and `initial=None` begins with the first element.
    """
    return {
        key: value
        for key, value in kwargs.items()
        if value is not None or key not in ("dtype", "out")
    }


def _divmod(a: Any, b: Any) -> tuple[Any, Any]:
    return UFUNCS["floor_divide"](a, b), UFUNCS["remainder"](a, b)


def _modf(x: Any) -> tuple[Any, Any]:
    """The fraction (with the sign of x; zero for infinities) and the integer part."""
    node = record.node_of(x)
    x = core.cast(node, as_dtype(np.modf.resolve_dtypes((node.dtype.numpy, None, None))[1]))
    whole = record.map_node("trunc", x)
    rest = record.map_node("subtract", x, whole)
    rest = record.map_node("where", record.map_node("isinf", x), 0.0, rest)
    return wrap(record.map_node("copysign", rest, x)), wrap(whole)


def _conjugate(x: Any) -> Any:
    """NumPy's loop for logical values is that of int8."""
    node = record.node_of(x)
    return wrap(record.map_node("conjugate", core.cast(node, INT8) if node.dtype is BOOL else node))


_SAME = {"degrees": "rad2deg", "radians": "deg2rad"}
"""Ufuncs of NumPy's that are another one under a second name."""


def _as(name: str) -> Function:
    return lambda x: wrap(record.map_node(name, x))


_COMPOSED: dict[str, Function] = {
    "divmod": _divmod, "modf": _modf, "conjugate": _conjugate,
    **{name: _as(same) for name, same in _SAME.items()},
}  # fmt: skip
"""Ufuncs recorded otherwise than as one operation."""
UFUNCS: dict[str, Ufunc] = {}
"""By NumPy's own name of the ufunc."""
ALIASES: dict[str, Ufunc] = {}
"""By every public name in NumPy's namespace."""


def _fill() -> None:
    """One object for each of NumPy's ufuncs, under all its names; the matrix products have a
    file of their own.
    """
    for name in dir(np):
        original = getattr(np, name) if name not in LAZY_MODULES else None
        if isinstance(original, np.ufunc) and original.signature is None:
            found = UFUNCS.get(original.__name__)
            if found is None:
                found = Ufunc(original, _COMPOSED.get(original.__name__))
                UFUNCS[original.__name__] = found
            ALIASES[name] = found


LAZY_MODULES = frozenset(
    ("char", "core", "ctypeslib", "f2py", "fft", "lib", "ma", "matlib", "polynomial", "random",
     "rec", "strings", "testing", "typing")
)  # fmt: skip
"""NumPy imports these when they are asked for; looking would cost their import."""
_fill()
u = SimpleNamespace(**UFUNCS)
"""The ufuncs as attributes: `u.add(a, b)`."""
