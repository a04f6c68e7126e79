"""Reductions and what is made of them: sums, means, extremes, averages, covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.base.errors import ShapeError, ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import core, creation, opaque, record, reductions, scans, shaping
from fusewright.frontends.arrays.core import wrap
from fusewright.frontends.arrays.reductions import quick
from fusewright.frontends.arrays.views import reshape_node
from fusewright.ir.graph import Node
from fusewright.numpy.operands import (
    LIBRARY,
    NO_VALUE,
    Function,
    NotRecorded,
    hand_over,
    handle_of,
    node_of,
    recorded,
)
from fusewright.numpy.ufuncs import u


def flat_axis(node: Node, axis: Any) -> Any:
    """NumPy takes axis 0 of a number for the whole."""
    return None if not node.shape and axis in (0, -1) else axis


def _flag(keepdims: Any) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def _mask(where: Any) -> Any:
    return True if where is NO_VALUE else where


def _sum_like(name: str, original: Function) -> Function:
    @recorded(original, host=True)
    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        return reductions.reduction(
            name, node_of(a), axis, dtype, out, _flag(keepdims), initial, _mask(where)
        )

    return function


def _extreme(name: str, original: Function) -> Function:
    @recorded(original, host=True)
    def function(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        return reductions.reduction(
            name, node_of(a), axis, None, out, _flag(keepdims), initial, _mask(where)
        )

    return function


def _logical(name: str, original: Function) -> Function:
    @recorded(original, host=True)
    def function(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        *,
        where: Any = NO_VALUE,
    ) -> Any:
        keep = _flag(keepdims)
        return reductions.reduction(name, node_of(a), axis, None, out, keep, NO_VALUE, _mask(where))

    return function


def _arg(name: str, original: Function) -> Function:
    @recorded(original, host=True)
    def function(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        return reductions.arg_reduction(name, node_of(a), axis, out, _flag(keepdims))

    return function


def _scan(name: str, original: Function) -> Function:
    @recorded(original)
    def function(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return scans.scan(name, node_of(a), axis, dtype, out)

    return function


def _cumulative(name: str, original: Function) -> Function:
    @recorded(original)
    def function(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        node = node_of(x)
        node = node if node.shape else reshape_node(node, (1,))
        if axis is None and len(node.shape) != 1:
            raise ValueRangeError(
                "For arrays which have more than one dimension ``axis`` is required."
            )
        axis = 0 if axis is None else axis_rules.one_axis(axis, len(node.shape))
        result = scans.scan(name, node, axis, dtype)._node
        if include_initial:
            shape = (*node.shape[:axis], 1, *node.shape[axis + 1 :])
            first = core.cast(record.node_of(int(name == "cumprod")), result.dtype)
            result = scans.concatenated([creation.full_node(shape, first), result], axis)
        return wrap(result) if out is None else reductions.into(out, result)

    return function


@recorded(np.mean, host=True)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
) -> Any:
    """The arithmetic mean."""
    return reductions.mean(node_of(a), axis, dtype, out, _flag(keepdims), _mask(where))


def _spread(original: Function, function: Function) -> Function:
    @recorded(original, host=True)
    def call(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = NO_VALUE,
        *,
        where: Any = NO_VALUE,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Any:
        if correction is not NO_VALUE and ddof != 0:
            raise ValueRangeError("ddof and correction can't be provided simultaneously.")
        return function(
            handle_of(a), axis, dtype, out, ddof, _flag(keepdims), _mask(where), mean, correction
        )

    return call


RETURNS_INT = not isinstance(np.count_nonzero([]), np.generic)
"""Whether this NumPy counts all elements as a Python number (a NumPy one since 2.3)."""


@recorded(np.count_nonzero, host=True)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    node = node_of(a)
    axis = flat_axis(node, axis)
    result = reductions.count_nonzero(node, axis, keepdims)
    return int(result) if RETURNS_INT and axis is None and not keepdims else result


@recorded(np.ptp, host=True)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """The range: maximum - minimum."""
    node, keep = node_of(a), _flag(keepdims)
    high = reductions.reduction("max", node, axis, keepdims=keep)
    result = u.subtract(high, reductions.reduction("min", node, axis, keepdims=keep))
    return result if out is None else reductions.into(out, result._node)


@recorded(np.average)
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = NO_VALUE,
) -> Any:
    """The weighted mean; weights are looked at, for their sum must not be zero."""
    a, keep = handle_of(a), _flag(keepdims)
    if weights is None:
        result = a.mean(axis, keepdims=keep)
        total = np.full(result.shape, a.size / max(result.size, 1), result.dtype)[()]
    else:
        weights = handle_of(weights)
        if weights._shape != a._shape:
            if axis is None or not isinstance(axis, int) or len(weights._shape) != 1:
                raise NotRecorded("weights along several axes")
            at = axis_rules.one_axis(axis, len(a._shape))
            if weights._shape[0] != a._shape[at]:
                raise ShapeError(
                    "Shape of weights must be consistent with shape of a along specified axis."
                )
            spread = record.placed(weights._node, at, len(a._shape))
            weights = core.wrap_array(record.broadcast_node(spread, a._shape))
        extra = ("f8",) if a._dtype.kind in "biu" else ()
        dtype = np.result_type(a.dtype, weights.dtype, *extra)
        total = weights.sum(axis, dtype, keepdims=keep)
        if bool((total == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = u.multiply(a, weights, dtype=dtype).sum(axis, keepdims=keep) / total
    if not returned:
        return result
    return result, core.wrap(record.broadcast_node(record.node_of(total), result._shape))


@recorded(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariance matrix of the rows."""
    if y is not None or fweights is not None or aweights is not None:
        raise NotRecorded("covariance of two arrays, or weighted")
    m = handle_of(m)
    if len(m._shape) > 2:
        raise ValueRangeError("m has more than 2 dimensions")
    x = m.astype(np.result_type(m.dtype, np.float64) if dtype is None else dtype, copy=False)
    x = x.reshape(1, -1) if len(m._shape) < 2 else x
    x = x.T if not rowvar and len(m._shape) == 2 else x
    count = x.shape[1] - ((not bias) if ddof is None else ddof)
    if count <= 0 or 0 in x.shape:
        raise NotRecorded("fewer observations than degrees of freedom")
    x = x - x.mean(1, keepdims=True)
    return (x.dot(x.T.conj()) * (1 / count)).squeeze()


@recorded(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlation matrix of the rows."""
    if y is not None:
        raise NotRecorded("correlation of two arrays")
    c = cov(x, None, rowvar, dtype=dtype)
    if c._shape == ():
        return c / c
    spread = u.sqrt(shaping.diagonal(c).real)
    c = c / spread[:, None] / spread[None, :]
    if c._dtype.is_complex:
        raise NotRecorded("complex correlation")
    return u.minimum(u.maximum(c, -1), 1)


def _order_statistic(original: Function) -> Function:
    """`median`, `quantile`, ...: a library step; a call on one element finds the result's type."""

    @recorded(original, host=True)
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        """The statistic as a recorded library step, where its shape is known."""
        node = node_of(a)
        axis = kwargs.get("axis")
        simple = not args and kwargs.keys() <= {"axis"} and original is np.median
        if not simple or 0 in node.shape or node.dtype.is_complex:
            return hand_over(original.__name__, original, (a, *args), kwargs, LIBRARY)
        axes = axis_rules.many_axes(axis, len(node.shape))
        shape = axis_rules.reduced_shape(node.shape, axes, False)
        dtype = original(np.ones((1,), node.dtype.numpy)).dtype
        return opaque.opaque("median", lambda x: original(x, axis=axis), (node,), dtype, shape)

    return call


EXPORTS: dict[str, Function] = {
    "sum": quick("sum", _sum_like("sum", np.sum)),
    "prod": quick("prod", _sum_like("prod", np.prod)),
    "min": quick("min", _extreme("min", np.min)), "max": quick("max", _extreme("max", np.max)),
    "amin": quick("min", _extreme("min", np.amin)), "amax": quick("max", _extreme("max", np.amax)),
    "any": quick("any", _logical("any", np.any)), "all": quick("all", _logical("all", np.all)),
    "argmin": _arg("argmin", np.argmin), "argmax": _arg("argmax", np.argmax),
    "cumsum": _scan("cumsum", np.cumsum), "cumprod": _scan("cumprod", np.cumprod),
    "cumulative_sum": _cumulative("cumsum", np.cumulative_sum),
    "cumulative_prod": _cumulative("cumprod", np.cumulative_prod),
    "mean": quick("mean", mean), "var": _spread(np.var, reductions.var),
    "std": _spread(np.std, reductions.std),
    "count_nonzero": count_nonzero, "ptp": ptp, "average": average, "cov": cov,
    "corrcoef": corrcoef,
    **{f.__name__: _order_statistic(f) for f in (np.median, np.percentile, np.quantile)},
}  # fmt: skip
