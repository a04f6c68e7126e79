"""Reductions over axes, spelled with REDUCE and element-wise nodes, so that they fuse with their
neighbours.

Result types and special cases are NumPy's: small integers sum in 64 bits, float16 in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import DTypeError, ShapeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import (
    core,
    immediate,
    inplace,
    layouts,
    masking,
    record,
    sharing,
    trace,
)
from fusewright.frontends.arrays.core import Handle, cast, wrap
from fusewright.frontends.arrays.dtypes import as_dtype
from fusewright.frontends.arrays.operators import op_of
from fusewright.frontends.arrays.record import map_node
from fusewright.frontends.arrays.views import reshape_node
from fusewright.ir.dtypes import ALL as EVERY_TYPE
from fusewright.ir.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, UINT64, DType
from fusewright.ir.dtypes import component as part_of
from fusewright.ir.graph import REDUCE, Node, scalar
from fusewright.ir.ops import REDUCE as FOLDS
from fusewright.ir.order import LANES, SHORT

NO_VALUE: Any = np._NoValue
"""NumPy's mark of an argument left out."""

Axes = tuple[int, ...]


def reduce_node(name: str, node: Node, axes: Axes, keepdims: bool) -> Node:
    """One REDUCE; over no axes the value itself."""
    if not axes:
        return _from_zero(node) if name == "sum" else node
    shape = axis_rules.reduced_shape(node.shape, axes, keepdims)
    attr = (axes, bool(keepdims))
    return trace.record(Node(REDUCE, name, (node,), node.dtype, shape, attr))


def _from_zero(node: Node) -> Node:
    """The sums of single elements: 0.0 for -0.0, as a sum begins with 0.0."""
    if node.dtype.kind not in "fc":
        return node
    return map_node("add", node, _zero(node.dtype))


def accumulator(name: str, dtype: DType) -> DType:
    """The type NumPy's reduction has by default."""
    if name in ("any", "all"):
        return BOOL
    if name in ("sum", "prod"):
        if dtype is BOOL or (dtype.kind == "i" and dtype.itemsize < 8):
            return INT64
        if dtype.kind == "u" and dtype.itemsize < 8:
            return UINT64
    return dtype


def reduction(
    name: str,
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """`sum`, `prod`, `min`, `max`, `any` or `all`, with NumPy's arguments."""
    if FOLDS[name].identity is not None:
        x, axis, where = _selected(x, axis, keepdims, where)
    node = record.node_of(x)
    axes = axis_rules.many_axes(axis, len(node.shape), lenient=True)
    result = as_dtype(dtype) if dtype is not None else accumulator(name, node.dtype)
    node = _where_identity(name, _as_accumulator(name, node, result), where, initial)
    if FOLDS[name].identity is None and initial is NO_VALUE:
        _refuse_empty(name, node.shape, axes)
    empty = FOLDS[name].identity is None and axis_rules.count_over(node.shape, axes) == 0
    keep = _keeps(keepdims)
    if empty:
        shape = axis_rules.reduced_shape(node.shape, axes, keep)
        total = record.broadcast_node(cast(record.node_of(initial), node.dtype), shape)
    else:
        total = reduce_node(name, node, axes, keep)
        if initial is not NO_VALUE and initial is not None:
            total = map_node(FOLDS[name].combine, total, initial, dtype=total.dtype)
    return finish(cast(total, result), out)


def _selected(x: Any, axis: Any, keepdims: Any, where: Any) -> tuple[Any, Any, Any]:
    """All elements under a mask: the full-size value reduced where the mask holds."""
    whole = axis is None or axis in (0, -1, (0,), (-1,))
    found = masking.parts(x) if whole else None
    if found is None:
        return x, axis, where
    if (keepdims is NO_VALUE or not keepdims) and (where is True or where is NO_VALUE):
        return found[0], None, found[1]
    return x, axis, where


def quick(name: str, general: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with the native core in front of it, where there is one: what is reduced
    over all dims or one of them is recorded there.
    """

    @functools.wraps(general)
    def of_any(*args: Any, **kwargs: Any) -> Any:
        if args and masking.is_picked_to_reduce(args[0]):
            return made(*args, **kwargs)  # of an array like any other
        return general(*args, **kwargs)

    if native is None:
        made = _at_once(name, of_any) if name in ("sum", "mean") else of_any
        return made
    op = "sum" if name == "mean" else name
    made = native.Reduction(op, of_any, op_of("divide") if name == "mean" else None)
    for dtype in EVERY_TYPE:
        combined = _mean_type(dtype) if name == "mean" else accumulator(op, dtype)
        tested = combined is BOOL and dtype is not BOOL  # `any` of numbers compares them with 0
        if dtype is not FLOAT16 and not tested and (name != "mean" or dtype.kind != "c"):
            made.learn(dtype, combined)
    functools.update_wrapper(made, general)
    return made  # type: ignore[no-any-return]


def _at_once(name: str, general: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(general)
    def reduce(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            number = immediate.total(args[0], mean=name == "mean")
            if number is not None:
                return number
        return general(*args, **kwargs)

    return reduce


def finish(node: Node, out: Any) -> Any:
    """A new handle, or the given `out` with the result in it."""
    if out is None or out is NO_VALUE:
        return wrap(node)
    return into(out, node)


def into(out: Any, node: Node, casting: str = "same_kind") -> Any:
    """Write a result to `out`, an array of ours or of NumPy's."""
    if isinstance(out, tuple):
        (out,) = out
    if not isinstance(out, Handle | np.ndarray):
        raise DTypeError(f"out must be an array, not {type(out).__name__}")
    shape = tuple(out.shape)  # type: ignore[union-attr]
    if node.shape != shape:
        node = inplace.fitted(node, shape)
    if isinstance(out, Handle):
        inplace.store(out, node, casting)
    else:
        np.copyto(out, sharing.content_of(node), casting=casting)  # type: ignore[arg-type]
    return out


def _as_accumulator(name: str, node: Node, result: DType) -> Node:
    if name in ("any", "all"):
        return node if node.dtype is BOOL else map_node("not_equal", node, _zero(node.dtype))
    if result is FLOAT16 and name in ("sum", "prod"):
        return cast(node, FLOAT32)
    return cast(node, result)


def _zero(dtype: DType) -> Node:
    return scalar(dtype.numpy.type(0).item(), dtype)


def _where_identity(name: str, node: Node, where: Any, initial: Any) -> Node:
    """Elements not selected count as the identity."""
    if where is True or where is NO_VALUE:
        return node
    fill = FOLDS[name].identity
    if fill is None:
        if initial is NO_VALUE:
            raise ShapeError(
                f"reduction operation {name!r} does not have an identity, so to use a where mask "
                "one has to specify 'initial'",
                help="pass initial=",
            )
        fill = initial
    chosen = cast(record.node_of(where), BOOL)
    return map_node("where", chosen, node, cast(record.node_of(fill), node.dtype))


def _refuse_empty(name: str, shape: tuple[int, ...], axes: Axes) -> None:
    result = axis_rules.reduced_shape(shape, axes, False)
    if axis_rules.count_over(shape, axes) == 0 and 0 not in result:
        raise ShapeError(
            f"zero-size array to reduction operation {name} which has no identity",
            why=f"an array of shape {shape} has no {name}imum" if name in ("min", "max") else "",
            help="pass initial=, or test x.size first",
        )


def mean(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    where: Any = True,
) -> Any:
    """The arithmetic mean: sum / count."""
    x, axis, where = _selected(x, axis, keepdims, where)
    node = record.node_of(x)
    axes = axis_rules.many_axes(axis, len(node.shape))
    keep = _keeps(keepdims)
    return finish(mean_node(node, axes, dtype, keep, where), out)


def mean_node(node: Node, axes: Axes, dtype: Any, keepdims: bool, where: Any = True) -> Node:
    """The mean over axes, in NumPy's types: integers in float64, float16 in float32."""
    result = as_dtype(dtype) if dtype is not None else _mean_type(node.dtype)
    inner = FLOAT32 if result is FLOAT16 else result
    total = reduce_node("sum", _where_identity("sum", cast(node, inner), where, 0), axes, keepdims)
    count = _count(node, axes, where, keepdims)
    return cast(_divided(total, count), result)


def _divided(total: Node, count: Any) -> Node:
    divided = map_node("divide", total, count)
    return cast(divided, total.dtype)


def _mean_type(dtype: DType) -> DType:
    return dtype if dtype.kind in "fc" else FLOAT64


def _count(node: Node, axes: Axes, where: Any, keepdims: bool) -> Any:
    if where is True or where is NO_VALUE:
        return axis_rules.count_over(node.shape, axes)
    chosen = record.broadcast_node(cast(record.node_of(where), INT64), node.shape)
    return reduce_node("sum", chosen, axes, keepdims)


def var(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """The variance, by NumPy's two passes: the mean first, then the squared distances from it."""
    ddof = ddof if correction is NO_VALUE else correction
    if axis is dtype is out is None and where is True and mean is NO_VALUE:
        number = None if _keeps(keepdims) else _variance_now(x, ddof)
        if number is not None:
            return number
    return finish(_variance(x, axis, dtype, ddof, keepdims, where, mean), out)


def std(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = True,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """The standard deviation: the root of the variance."""
    ddof = ddof if correction is NO_VALUE else correction
    if axis is dtype is out is None and where is True and mean is NO_VALUE:
        number = None if _keeps(keepdims) else _variance_now(x, ddof)
        if number is not None:
            return np.sqrt(number)
    variance = _variance(x, axis, dtype, ddof, keepdims, where, mean)
    return finish(map_node("sqrt", variance), out)


def _keeps(keepdims: Any) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def _variance_now(x: Any, ddof: Any) -> Any:
    """The variance of a short vector in memory by the sums that are done at once; None where it is
    recorded.
    """
    if type(x) not in core.handle_classes or len(x._shape) != 1 or type(ddof) is not int:
        return None
    size, dtype = x._shape[0], x._dtype
    if not ddof < size <= SHORT or dtype not in LANES or not immediate.is_now():
        return None
    centre = x.mean()
    if type(centre) is not dtype.numpy.type:
        return None
    distance = x - centre
    square = distance * distance
    trace.evaluate(square._node)
    total = square.sum()
    return total / type(total)(size - ddof) if type(total) is type(centre) else None


def _variance(
    x: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any
) -> Node:
    x, axis, where = _selected(x, axis, keepdims, where)
    node = record.node_of(x)
    axes = axis_rules.many_axes(axis, len(node.shape))
    keep = _keeps(keepdims)
    result = as_dtype(dtype) if dtype is not None else _mean_type(node.dtype)
    inner = FLOAT32 if result is FLOAT16 else result
    node = cast(node, inner)
    if mean is NO_VALUE or mean is None:
        centre = mean_node(node, axes, inner, True, where)
    else:
        centre = cast(record.node_of(mean), inner)
    square = _squared(map_node("subtract", node, centre))
    total = reduce_node("sum", _where_identity("sum", square, where, 0), axes, keep)
    count = _count(node, axes, where, keep)
    if isinstance(count, int):
        left: Any = max(count - ddof, 0)
    else:
        left = map_node("maximum", map_node("subtract", count, ddof), 0)
    return cast(_divided(total, left), part_of(result))


def _squared(distance: Node) -> Node:
    if not distance.dtype.is_complex:
        return map_node("multiply", distance, distance)
    real, imag = map_node("real", distance), map_node("imag", distance)
    return map_node("add", map_node("multiply", real, real), map_node("multiply", imag, imag))


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements are not zero, as int64."""
    x, axis, where = _selected(x, axis, keepdims, True)
    node = record.node_of(x)
    axes = axis_rules.many_axes(axis, len(node.shape))
    chosen = node if node.dtype is BOOL else map_node("not_equal", node, _zero(node.dtype))
    chosen = _where_identity("sum", cast(chosen, INT64), where, 0)
    return wrap(reduce_node("sum", chosen, axes, keepdims))


def arg_reduction(
    name: str, x: Any, axis: Any = None, out: Any = None, keepdims: Any = False
) -> Any:
    """`argmin` or `argmax`: the least index whose element is the extreme one (or the first NaN)."""
    node = record.node_of(x)
    keep = _keeps(keepdims)
    rank = len(node.shape)
    if axis is None or (rank == 0 and axis in (0, -1)):
        flat = reshape_node(node, (axis_rules.count_over(node.shape, tuple(range(rank))),))
        found = _first_extreme(name, flat, 0)
        shape = (1,) * rank if keep else ()
        return finish(reshape_node(found, shape), out)
    where = axis_rules.one_axis(axis, rank)
    found = _first_extreme(name, node, where)
    shape = axis_rules.reduced_shape(node.shape, (where,), keep)
    return finish(layouts.plain(reshape_node(found, shape)), out)


def _first_extreme(name: str, node: Node, axis: int) -> Node:
    if node.shape[axis] == 0:
        raise ShapeError(
            f"attempt to get {name} of an empty sequence", why=f"the shape is {node.shape}"
        )
    best = reduce_node(name.removeprefix("arg"), node, (axis,), True)
    hit = map_node("equal", node, best)
    if node.dtype.kind in "fc":
        hit = map_node("logical_or", hit, map_node("not_equal", node, node))
    index = record.broadcast_node(record.iota(node.shape[axis]), (node.shape[axis],))
    spread = record.placed(index, axis, len(node.shape))
    far = scalar(node.shape[axis], INT64)
    return reduce_node("min", map_node("where", hit, spread, far), (axis,), True)
