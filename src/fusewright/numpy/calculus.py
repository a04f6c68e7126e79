"""Differences, gradients, integrals and interpolation along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusewright.base.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import core, layouts, opaque, scans
from fusewright.frontends.arrays.core import Handle
from fusewright.numpy.elementwise import where
from fusewright.numpy.operands import (
    NO_VALUE,
    NotRecorded,
    handle_of,
    ndim_of,
    node_of,
    recorded,
)
from fusewright.numpy.ufuncs import u


def along(axis: int, rank: int, part: Any) -> tuple[Any, ...]:
    """A subscript that takes a part of one axis."""
    return (*(slice(None),) * axis, part, *(slice(None),) * (rank - axis - 1))


def joined(parts: list[Any], axis: int) -> Any:
    """Arrays one after the other along an axis."""
    return core.wrap_array(scans.concatenated([part._node for part in parts], axis))


@recorded(np.diff)
def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Any:
    """Differences of neighbours."""
    a = handle_of(a)
    prepend, append = (v if v is NO_VALUE else handle_of(v) for v in (prepend, append))
    return scans.diff(a, n, axis, prepend, append)


@recorded(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours of the flat array, with values before and after."""
    flat = handle_of(ary).ravel()
    steps = flat[1:] - flat[:-1]
    parts: list[Any] = []
    for extra in (to_begin, None, to_end):
        if extra is None:
            parts += [steps] if not parts or parts[-1] is not steps else []
            continue
        border = handle_of(extra)
        if not np.can_cast(border.dtype, flat.dtype, "same_kind"):
            raise DTypeError("values added by ediff1d must have the array's type")
        parts.append(border.ravel().astype(flat.dtype))
    return joined(parts, 0) if len(parts) > 1 else steps


@recorded(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences inside, one-sided ones of the given order at the edges."""
    f = handle_of(f)
    rank = len(f._shape)
    axes = axis_rules.many_axes(axis, rank)
    if isinstance(axis, tuple | list):
        axes = tuple(axis_rules.one_axis(a, rank) for a in axis)
    if edge_order > 2:
        raise ValueRangeError("'edge_order' greater than 2 not supported")
    if f._dtype.kind in "iu":
        f = f.astype(float)
    spacings = _spacings(f, varargs, axes)
    found = tuple(
        _gradient(f, at, step, edge_order) for at, step in zip(axes, spacings, strict=True)
    )
    return found[0] if len(axes) == 1 else found


def _spacings(f: Any, given: tuple[Any, ...], axes: tuple[int, ...]) -> list[Any]:
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and ndim_of(given[0]) == 0:
        return list(given) * len(axes)
    if len(given) != len(axes):
        raise ArgumentError("invalid number of arguments", help="one spacing, or one for each axis")
    return [_distance(f, at, value) for at, value in zip(axes, given, strict=True)]


def _distance(f: Any, axis: int, value: Any) -> Any:
    """One number, or the distances between coordinates; equal ones (looked at now) count as one."""
    if ndim_of(value) == 0:
        return value
    value = handle_of(value)
    if len(value._shape) != 1:
        raise ValueRangeError("distances must be either scalars or 1d")
    if value._shape[0] != f._shape[axis]:
        raise ShapeError(
            "when 1d, distances must match the length of the corresponding dimension",
            why=f"{value._shape[0]} coordinates for {f._shape[axis]} elements",
        )
    if value._dtype.kind in "iu":
        value = value.astype(float)
    steps = np.diff(np.array(value))
    return steps[0] if (steps == steps[0]).all() else handle_of(steps)


def _gradient(f: Any, axis: int, step: Any, order: int) -> Any:
    rank = len(f._shape)
    if f._shape[axis] < order + 1:
        raise ShapeError(
            "Shape of array too small to calculate a numerical gradient, at least "
            "(edge_order + 1) elements are required.",
            why=f"axis {axis} has {f._shape[axis]} elements",
        )

    def at(start: Any, stop: Any = None) -> Any:
        part = slice(start, stop) if stop is not None or start != -1 else slice(-1, None)
        return f[along(axis, rank, part)]

    def single(index: int) -> Any:
        return at(index, index + 1 if index != -1 else None)

    uniform = ndim_of(step) == 0
    if uniform:
        inner = (f[along(axis, rank, slice(2, None))] - at(None, -2)) / (2.0 * step)
    else:
        shape = tuple(-1 if dim == axis else 1 for dim in range(rank))
        before, after = step[:-1], step[1:]
        a = (-after / (before * (before + after))).reshape(shape)
        b = ((after - before) / (before * after)).reshape(shape)
        c = (before / (after * (before + after))).reshape(shape)
        inner = a * at(None, -2) + b * at(1, -1) + c * f[along(axis, rank, slice(2, None))]
    first, last = (step, step) if uniform else (step[0], step[-1])
    if order == 1:
        edges = [(single(1) - single(0)) / first, (single(-1) - single(-2)) / last]
    else:
        edges = [
            sum_of(_left_weights(step, uniform), (single(0), single(1), single(2))),
            sum_of(_right_weights(step, uniform), (single(-3), single(-2), single(-1))),
        ]
    parts = [part.astype(f.dtype, copy=False) for part in (edges[0], inner, edges[1])]
    return layouts.alike(f, joined(parts, axis)._node, "K")


def sum_of(weights: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """`a * x + b * y + c * z`, from the left."""
    (a, b, c), (x, y, z) = weights, values
    return a * x + b * y + c * z


def _left_weights(step: Any, uniform: bool) -> tuple[Any, ...]:
    if uniform:
        return -1.5 / step, 2.0 / step, -0.5 / step
    one, two = step[0], step[1]
    return (
        -(2.0 * one + two) / (one * (one + two)),
        (one + two) / (one * two),
        -one / (two * (one + two)),
    )


def _right_weights(step: Any, uniform: bool) -> tuple[Any, ...]:
    if uniform:
        return 0.5 / step, -2.0 / step, 1.5 / step
    one, two = step[-2], step[-1]
    return (
        two / (one * (one + two)),
        -(two + one) / (one * two),
        (2.0 * two + one) / (two * (one + two)),
    )


@recorded(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral by the trapezoidal rule."""
    y = handle_of(y)
    rank = len(y._shape)
    at = axis_rules.one_axis(axis, rank)
    width = dx
    if x is not None:
        x = handle_of(x)
        width = scans.diff(x, 1, 0 if len(x._shape) == 1 else at)
        if len(x._shape) == 1:
            width = width.reshape(tuple(-1 if dim == at else 1 for dim in range(rank)))
    pairs = y[along(at, rank, slice(1, None))] + y[along(at, rank, slice(None, -1))]
    return u.divide(u.multiply(width, pairs), 2.0).sum(at)


@recorded(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Jumps of more than half a period taken out."""
    p = handle_of(p)
    rank = len(p._shape)
    at = axis_rules.one_axis(axis, rank)
    steps = scans.diff(p, 1, at)
    dtype = np.result_type(steps.dtype, period)
    whole = np.issubdtype(dtype, np.integer)
    high, rest = divmod(period, 2) if whole else (period / 2, 0)
    limit = period / 2 if discont is None else discont
    wrapped = u.add(u.remainder(u.subtract(steps, -high), period), -high)
    if rest == 0:
        wrapped = where((wrapped == -high) & (steps > 0), high, wrapped)
    correction = where(u.absolute(steps) < limit, 0, wrapped - steps)
    first = p[along(at, rank, slice(0, 1))].astype(dtype)
    moved = p[along(at, rank, slice(1, None))] + correction.cumsum(at)
    return joined([first, moved.astype(dtype)], at)


def _sliding(name: str, original: Any) -> Any:
    """`convolve` and `correlate`: library steps of known length."""
    default = "full" if name == "convolve" else "valid"

    @recorded(original)
    def call(a: Any, v: Any, mode: Any = default) -> Any:
        first, second = node_of(a), node_of(v)
        shapes = [node.shape or (1,) for node in (first, second)]
        if any(len(shape) != 1 or 0 in shape for shape in shapes) or not isinstance(mode, str):
            raise NotRecorded("NumPy refuses these operands")
        long, short = max(shapes[0][0], shapes[1][0]), min(shapes[0][0], shapes[1][0])
        lengths = {"full": long + short - 1, "same": long, "valid": long - short + 1}
        if mode not in lengths:
            raise NotRecorded("NumPy refuses this mode")
        dtype = np.result_type(first.dtype.numpy, second.dtype.numpy)
        operands = (first, second)
        return opaque.opaque(
            name, lambda x, y: original(x, y, mode), operands, dtype, (lengths[mode],)
        )

    return call


convolve = _sliding("convolve", np.convolve)
correlate = _sliding("correlate", np.correlate)


@recorded(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Linear interpolation: a library step of known shape."""
    nodes = [node_of(value) for value in (x, xp, fp)]
    simple = not isinstance(left, Handle) and not isinstance(right, Handle)
    simple = simple and not any(node.dtype.is_complex for node in nodes[:2])
    points, values = nodes[1].shape, nodes[2].shape
    if not simple or period is not None or len(points) != 1 or points != values or points == (0,):
        raise NotRecorded("periodic interpolation, or operands NumPy refuses")
    dtype = complex if nodes[2].dtype.is_complex else float

    def step(at: Any, where: Any, what: Any) -> Any:
        return np.interp(at, where, what, left, right)

    return opaque.opaque("interp", step, nodes, dtype, nodes[0].shape)


@recorded(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """A polynomial by Horner's rule."""
    if isinstance(x, np.poly1d):
        raise NotRecorded("a polynomial of a polynomial")
    p, x = handle_of(p), handle_of(x)
    y = x * 0
    for index in range(p._shape[0]):
        y = y * x + p[index]
    return y


EXPORTS = {
    "diff": diff, "ediff1d": ediff1d, "gradient": gradient, "trapezoid": trapezoid,
    "unwrap": unwrap, "convolve": convolve, "correlate": correlate, "interp": interp,
    "polyval": polyval,
}  # fmt: skip
