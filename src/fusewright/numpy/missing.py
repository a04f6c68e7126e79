"""Statistics that leave out NaN: the plain ones on values with the NaN replaced, as NumPy
defines them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.frontends.arrays import record, reductions
from fusewright.frontends.arrays.core import cast, wrap
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.graph import Node
from fusewright.numpy import statistics
from fusewright.numpy.operands import NO_VALUE, Function, NotRecorded, library, node_of, recorded

NAN = float("nan")


def _replaced(node: Node, value: Any) -> tuple[Node, Node]:
    """The value with its NaN replaced, and where they were."""
    missing = record.map_node("isnan", node)
    return record.map_node("where", missing, cast(record.node_of(value), node.dtype), node), missing


def _plain(node: Node) -> bool:
    return node.dtype.kind not in "fc"


def _selected(missing: Node, where: Any) -> Any:
    """The elements that count."""
    present = record.map_node("logical_not", missing)
    if where is NO_VALUE or where is True or where is None:
        return present
    return record.map_node("logical_and", present, cast(node_of(where), BOOL))


def _filled(name: str, plain: str, value: int) -> Function:
    """`nansum`, `nanprod`, `nancumsum`, `nancumprod`: NaN count as the identity."""
    ordinary = statistics.EXPORTS[plain]

    @recorded(getattr(np, name), host=True)
    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        node = node_of(a)
        return ordinary(wrap(node if _plain(node) else _replaced(node, value)[0]), *args, **kwargs)

    return function


def _extreme(name: str, plain: str, worst: float) -> Function:
    """`nanmin`, `nanmax`: NaN only where there is nothing else."""
    ordinary = statistics.EXPORTS[plain]

    @recorded(getattr(np, name), host=True)
    def function(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        node = node_of(a)
        if _plain(node):
            return ordinary(wrap(node), axis, out, keepdims, initial, where)
        if node.dtype.is_complex or initial is not NO_VALUE or where is not NO_VALUE:
            raise NotRecorded("nan extremes with initial= or where=")
        filled, missing = _replaced(node, worst)
        best = ordinary(wrap(filled), axis, None, keepdims)
        nothing = reductions.reduction("all", missing, axis, keepdims=keepdims is True)
        result = record.map_node("where", nothing, cast(record.node_of(NAN), node.dtype), best)
        return reductions.finish(result, out)

    return function


@recorded(np.nanmean, host=True)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
) -> Any:
    """The mean of what is not NaN."""
    node = node_of(a)
    if _plain(node):
        return statistics.mean(wrap(node), axis, dtype, out, keepdims, where=where)
    axis = statistics.flat_axis(node, axis)
    return reductions.mean(
        node, axis, dtype, out, keepdims is True, _selected(record.map_node("isnan", node), where)
    )


def _spread(name: str, root: bool) -> Function:
    ordinary = statistics.EXPORTS[name.removeprefix("nan")]

    @recorded(getattr(np, name), host=True)
    def function(
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
        node = node_of(a)
        if _plain(node):
            named = {"where": where, "mean": mean, "correction": correction}
            return ordinary(wrap(node), axis, dtype, out, ddof, keepdims, **named)
        if correction is not NO_VALUE and ddof != 0:
            raise NotRecorded("both ddof= and correction=")
        ddof = ddof if correction is NO_VALUE else correction
        keep, axis = keepdims is True, statistics.flat_axis(node, axis)
        present = _selected(record.map_node("isnan", node), where)
        spread = reductions.var(node, axis, dtype, None, ddof, keep, present, mean)
        count = reductions.reduction("sum", cast(present, INT64), axis, keepdims=keep)
        empty = record.map_node("less_equal", count, ddof)
        nan = cast(record.node_of(NAN), spread._dtype)
        result = record.map_node("where", empty, nan, spread)
        return reductions.finish(record.map_node("sqrt", result) if root else result, out)

    return function


EXPORTS: dict[str, Function] = {
    "nansum": _filled("nansum", "sum", 0), "nanprod": _filled("nanprod", "prod", 1),
    "nancumsum": _filled("nancumsum", "cumsum", 0),
    "nancumprod": _filled("nancumprod", "cumprod", 1),
    "nanmin": _extreme("nanmin", "min", float("inf")),
    "nanmax": _extreme("nanmax", "max", float("-inf")),
    "nanmean": nanmean, "nanvar": _spread("nanvar", False), "nanstd": _spread("nanstd", True),
    **{
        f.__name__: library(f)
        for f in (np.nanmedian, np.nanpercentile, np.nanquantile, np.nanargmin, np.nanargmax)
    },
}  # fmt: skip
