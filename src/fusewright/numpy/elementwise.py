"""Element-wise functions that are no ufuncs in NumPy: compositions of recorded ufuncs."""

from __future__ import annotations

import math
from functools import update_wrapper
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import ArgumentError, DTypeError, FusewrightError, ShapeError
from fusewright.frontends.arrays import (
    agreement,
    core,
    layouts,
    opaque,
    record,
    reductions,
    shaping,
    sharing,
)
from fusewright.frontends.arrays import ufuncs as recording
from fusewright.frontends.arrays.core import Handle, cast, wrap
from fusewright.frontends.arrays.dtypes import RANGES, as_dtype
from fusewright.frontends.arrays.operators import learn_where, op_of
from fusewright.ir import ops
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.graph import Node
from fusewright.numpy import dispatch
from fusewright.numpy.operands import (
    NO_VALUE,
    NotRecorded,
    handle_of,
    is_scalar,
    node_of,
    recorded,
    viewed,
)
from fusewright.numpy.ufuncs import Recorder, ordered, u


def finished(result: Any, out: Any) -> Any:
    """The result, or `out` with the result in it."""
    return result if out is None else reductions.into(out, record.node_of(result))


def placed(result: Any, out: Any) -> Any:
    """`finished`, for functions whose `out` must be as the result would be: NumPy casts and
    broadcasts nothing there, so any other `out` is left to it.
    """
    if out is not None:
        wanted = (getattr(out, "shape", None), getattr(out, "dtype", None))
        if wanted != (result.shape, result.dtype) or not out.flags.c_contiguous:
            raise NotRecorded("an output unlike the result")
    return finished(result, out)


@recorded(np.where)
def _where(condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    """Elements of `x` where the condition holds, else of `y`; with one argument the indices of
    what is true.
    """
    if x is NO_VALUE and y is NO_VALUE:
        if isinstance(condition, Handle) and condition._shape:
            return condition.nonzero()  # type: ignore[attr-defined]
        found = opaque.in_numpy("nonzero", np.nonzero, sharing.content_of(node_of(condition)))
        return tuple(core.wrap_array(sharing.owned(n)) for n in found)
    if x is NO_VALUE or y is NO_VALUE:
        raise DTypeError("either both or neither of x and y should be given")
    chosen = condition
    if not isinstance(condition, Handle) or condition._dtype is not BOOL:
        chosen = cast(node_of(condition), BOOL)
    x, y = (handle_of(v) if type(v) in (list, tuple) else v for v in (x, y))
    learn_where(x, y)
    return core.wrap_array(record.map_node("where", chosen, x, y))


class _Where(Recorder):  # type: ignore[misc]
    """`where` of three arrays of one shape is recorded at once, anything else by `_where`."""

    def __init__(self) -> None:
        update_wrapper(self, _where)
        self.__module__ = "fusewright.numpy"
        self._op, self._arity, self._general_form = op_of("where"), 3, _where

    def __reduce__(self) -> str:
        return "where"


where = _where if native is None else native.call_directly(_Where)()


@recorded(np.clip, host=True)
def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    **kwargs: Any,
) -> Any:
    """Values limited to an interval."""
    if kwargs:
        raise NotRecorded("ufunc keyword arguments of clip")
    named = min is not NO_VALUE or max is not NO_VALUE
    placed = a_min is not NO_VALUE, a_max is not NO_VALUE
    if placed[0] != placed[1] or (named and placed[0]):
        raise ArgumentError(
            "clip() takes a_min and a_max together, or min and max",
            help="pass None for a bound that does not limit",
        )
    low, high = (a_min, a_max) if placed[0] else (min, max)
    result = a if isinstance(a, Handle) else wrap(node_of(a))
    if all(bound is NO_VALUE or bound is None for bound in (low, high)):
        result = u.positive(result)  # there is none of truth values
    node = result._node
    for limit, bound, edge in ((u.maximum, low, 0), (u.minimum, high, 1)):
        if bound is NO_VALUE or bound is None or _beyond(bound, node, edge):
            continue
        result = limit(result, bound)
    return finished(wrap(node) if result is a else result, out)


def _beyond(bound: Any, node: Node, edge: int) -> bool:
    """A Python integer outside the dtype's range limits nothing."""
    if type(bound) is not int or not node.dtype.is_integer:
        return False
    limit = RANGES[node.dtype][edge]
    return bound > limit if edge else bound < limit


def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Rounded to a number of decimals, half to even: scale, round, scale back, as NumPy does."""
    node = node_of(a)
    if node.dtype.kind in "bc" or (node.dtype.is_integer and decimals < 0):
        raise NotRecorded("rounding complex or logical values, or to tens")
    if node.dtype.is_integer:
        return finished(wrap(node), out)
    if decimals == 0:
        return finished(wrap(record.map_node("rint", node)), out)
    scale, steps = 10.0 ** abs(decimals), ("multiply", "divide")
    first, last = steps if decimals > 0 else steps[::-1]
    rounded = record.map_node("rint", record.map_node(first, node, scale))
    return finished(wrap(cast(record.map_node(last, rounded, scale), node.dtype)), out)


@recorded(np.isclose, host=True)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements are equal within `atol + rtol * abs(b)`."""
    x, y = (v if is_scalar(v) else handle_of(v) for v in (a, b))
    if is_scalar(y):
        y = float(y) if isinstance(y, int) else y
    else:
        y = y.astype(np.result_type(y.dtype, 1.0), copy=False)
    near = u.less_equal(u.absolute(x - y), u.add(atol, u.multiply(rtol, u.absolute(y))))
    result = near & u.isfinite(y) | u.equal(x, y)
    if equal_nan:
        result = result | (u.isnan(x) & u.isnan(y))
    return result


@recorded(np.allclose, host=True)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close: a Python bool, so it computes."""
    result = isclose(a, b, rtol, atol, equal_nan)
    return bool(result.all())


@recorded(np.array_equal, host=True)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether two arrays have one shape and equal elements."""
    x, y = handle_of(a1), handle_of(a2)
    if x._shape != y._shape:
        return False
    same = u.equal(x, y)
    if equal_nan and x._dtype.kind in "fc" and y._dtype.kind in "fc":
        same = same | (u.isnan(x) & u.isnan(y))
    return bool(same.all())


@recorded(np.array_equiv, host=True)
def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether two arrays broadcast to equal elements."""
    x, y = handle_of(a1), handle_of(a2)
    try:
        return bool(u.equal(x, y).all())
    except ShapeError:
        return False


@recorded(np.nan_to_num, host=True)
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """NaN and the infinities replaced by numbers."""
    if not copy and isinstance(x, np.ndarray):
        raise NotRecorded("NumPy's own array, which is written into")
    node = node_of(x)
    if node.dtype.is_complex and not copy and isinstance(x, Handle):
        given = {"copy": False, "nan": nan, "posinf": posinf, "neginf": neginf}
        return opaque.delegate("nan_to_num", np.nan_to_num, (x,), given, written=(0,))
    if node.dtype.is_complex:
        raise NotRecorded("complex numbers")
    if node.dtype.is_float:
        limits = np.finfo(node.dtype.numpy)
        high = limits.max if posinf is None else posinf
        low = limits.min if neginf is None else neginf
        infinite = record.map_node("isinf", node)
        above = record.map_node("greater", node, 0.0)
        for hit, value in (
            (record.map_node("isnan", node), nan),
            (record.map_node("logical_and", infinite, above), high),
            (record.map_node("logical_and", infinite, record.map_node("logical_not", above)), low),
        ):
            filler = cast(record.node_of(value), node.dtype)
            node = record.map_node("where", hit, filler, node)
    if not copy and isinstance(x, Handle):
        reductions.into(x, node)
        return x
    return layouts.copied(x, node, "K") if isinstance(x, Handle) and x._shape else wrap(node)


@recorded(np.sinc, host=True)
def sinc(x: Any) -> Any:
    """`sin(pi x) / (pi x)`, 1 at 0."""
    x = u.multiply(handle_of(x), math.pi)
    tiny = float(np.finfo(x.dtype).eps) if x.dtype.kind == "f" else 1e-20
    y = where(x, x, tiny)
    return u.divide(u.sin(y), y)[()]


@recorded(np.angle, host=True)
def angle(z: Any, deg: bool = False) -> Any:
    """The argument of complex numbers."""
    z = handle_of(z)
    parts = (z.imag, z.real) if z._dtype.is_complex else (0, z)
    result = u.arctan2(*parts)
    return result * (180 / math.pi) if deg else result


@recorded(np.real, host=True)
def real(val: Any) -> Any:
    """The real part: a view of a complex array."""
    return shaping.part(val if isinstance(val, Handle) else viewed(val), "real")


@recorded(np.imag, host=True)
def imag(val: Any) -> Any:
    """The imaginary part: a view of a complex array."""
    return shaping.part(val if isinstance(val, Handle) else viewed(val), "imag")


@recorded(np.iscomplex, host=True)
def iscomplex(x: Any) -> Any:
    """Where the imaginary part is not zero."""
    x = handle_of(x)
    if x._dtype.is_complex:
        return u.not_equal(x.imag, 0)
    return core.wrap_array(record.broadcast_node(record.node_of(False), x._shape))


@recorded(np.isreal, host=True)
def isreal(x: Any) -> Any:
    """Where the imaginary part is zero."""
    return u.logical_not(iscomplex(x))


def _infinite(positive: bool) -> Any:
    def function(x: Any, out: Any = None) -> Any:
        x = x if isinstance(x, Handle) else handle_of(x)
        signed = u.signbit(x) if not positive else u.logical_not(u.signbit(x))
        return finished(u.logical_and(u.isinf(x), signed), out)

    return function


isposinf = recorded(np.isposinf, host=True)(_infinite(True))
isneginf = recorded(np.isneginf, host=True)(_infinite(False))


@recorded(np.fix, host=True)
def fix(x: Any, out: Any = None) -> Any:
    """Rounded towards zero."""
    return finished(u.trunc(x if isinstance(x, Handle) else handle_of(x)), out)


@recorded(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each element the first choice whose condition holds."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ShapeError("list of cases must be same length as list of conditions, not empty")
    dtype = as_dtype(np.result_type(*map(_weak, choicelist), _weak(default)))
    result = _choice(default, dtype)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        test = node_of(condition)
        if test.dtype is not BOOL:
            raise DTypeError("conditions of select must be boolean arrays")
        result = record.map_node("where", test, _choice(choice, dtype), result)
    return layouts.new(result, "C")


def _choice(value: Any, dtype: DType) -> Node:
    """A choice in the common type; NumPy refuses a Python integer that the type cannot hold."""
    if type(value) is int and dtype.is_integer:
        low, high = RANGES[dtype]
        if not low <= value <= high:
            raise DTypeError(
                "Choicelist and default value do not have a common dtype",
                why=f"{dtype} holds {low} to {high}, not {value}",
            )
    return cast(node_of(value), dtype)


def _weak(value: Any) -> Any:
    return value if is_scalar(value) else node_of(value).dtype.numpy


def special_function(name: str) -> Any:
    """An element-wise function NumPy lacks, with the keywords of NumPy's."""

    def function(x: Any, /, out: Any = None, *, where: Any = True, **named: Any) -> Any:
        if named or out is not None or where is not True:
            return _special(name, x, {"out": out, "where": where, **named})
        if is_scalar(x) and not isinstance(x, complex):
            return np.float64(ops.MAP[name].meaning(np.float64(x)))
        return wrap(record.map_node(name, x if isinstance(x, Handle) else handle_of(x)))

    function.__name__ = function.__qualname__ = ops.PUBLIC.get(name, name)
    function.__doc__ = dispatch.words_on(name)
    return function


def _special(name: str, x: Any, named: dict[str, Any]) -> Any:
    """The call with keywords: NumPy says of `exp`, which gives the same types, what they mean."""
    operand = x if isinstance(x, Handle) or is_scalar(x) else handle_of(x)
    out = named.pop("out")
    is_given = any(each is not None for each in (out if type(out) is tuple else (out,)))
    into = {"out": out} if is_given else {}
    try:
        dtype = as_dtype(agreement.check(np.exp, (operand,), named).dtype)
        agreement.check(np.exp, (operand,), {**named, **into})
    except agreement.REFUSALS as error:
        raise _renamed(error, "'exp'", repr(name)) from None
    casting = named.get("casting", "same_kind")
    made = recording.apply(name, (operand,), into.get("out"), named["where"], dtype, casting)
    if into:
        return made
    order = named.get("order", "K")
    made = ordered(made, (operand,), order) if order else made
    return made[()] if is_scalar(x) else made


def _renamed(error: Exception, old: str, new: str) -> Exception:
    """An error whose text names another function."""
    error.args = tuple(
        each.replace(old, new) if isinstance(each, str) else each for each in error.args
    )
    if isinstance(error, FusewrightError):
        error.what = error.what.replace(old, new)
    return error.with_traceback(None)


SPECIAL = {name: special_function(name) for name in sorted(ops.SPECIAL)}
erf, erfc = SPECIAL["erf"], SPECIAL["erfc"]


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not x._dtype.is_complex if isinstance(x, Handle) else np.isrealobj(x)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""
    return x._dtype.is_complex if isinstance(x, Handle) else np.iscomplexobj(x)


@recorded(np.real_if_close, host=True)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real parts, if all imaginary parts are close to zero (looked at now)."""
    a = handle_of(a)
    if not a._dtype.is_complex:
        return a
    bound = np.finfo(a.dtype).eps * tol if tol > 1 else tol
    return a.real if bool((u.absolute(a.imag) < bound).all()) else a


EXPORTS = {
    "where": where, "clip": clip, "round": recorded(np.round, host=True)(_round),
    "around": recorded(np.around, host=True)(_round), "isclose": isclose,
    "allclose": allclose, "array_equal": array_equal, "array_equiv": array_equiv,
    "nan_to_num": nan_to_num, "sinc": sinc, "angle": angle, "real": real, "imag": imag,
    "iscomplex": iscomplex, "isreal": isreal, "isposinf": isposinf, "isneginf": isneginf,
    "fix": fix, "select": select, "erf": erf, "erfc": erfc, "isrealobj": isrealobj,
    "iscomplexobj": iscomplexobj, "real_if_close": real_if_close,
}  # fmt: skip
