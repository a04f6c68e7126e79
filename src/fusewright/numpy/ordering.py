"""Sorting, sets, histograms: library steps, recorded where the result's shape is known, else
run at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusewright.base.errors import ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import opaque
from fusewright.frontends.arrays.core import wrap_array
from fusewright.frontends.arrays.views import reshape_node
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.numpy.choosing import ordinary
from fusewright.numpy.operands import Function, NotRecorded, library, node_of, recorded

KINDS = (None, "quicksort", "mergesort", "heapsort", "stable", "introselect")


def _sorting(original: Function, indices: bool) -> Function:
    @recorded(original)
    def function(
        a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Any:
        if order is not None or kind not in KINDS or (kind is not None and stable is not None):
            raise NotRecorded("NumPy refuses these arguments")
        node = node_of(a)
        if axis is None or (indices and not node.shape):
            node, axis = reshape_node(node, (math.prod(node.shape),)), 0
        at = axis_rules.one_axis(axis, len(node.shape))
        options = {"kind": kind} if stable is None else {"stable": stable}
        return opaque.opaque(
            original.__name__,
            lambda x: original(x, at, **options),
            (node,),
            INT64 if indices else node.dtype,
            node.shape,
        )

    return function


def _partition(original: Function, indices: bool) -> Function:
    @recorded(original)
    def function(
        a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
    ) -> Any:
        node = node_of(a)
        if order is not None or kind != "introselect":
            raise NotRecorded("NumPy refuses these arguments")
        if axis is None:
            node, axis = reshape_node(node, (math.prod(node.shape),)), 0
        at = axis_rules.one_axis(axis, len(node.shape))
        places, extent = opaque.to_numpy(kth), node.shape[at]
        if any(not -extent <= place < extent for place in np.ravel(places)):
            raise ValueRangeError(f"kth(={kth}) out of bounds ({extent})")
        return opaque.opaque(
            original.__name__,
            lambda x: original(x, places, at),
            (node,),
            INT64 if indices else node.dtype,
            node.shape,
        )

    return function


@recorded(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The order by several keys, the last one first."""
    nodes = tuple(node_of(key) for key in keys)
    shape = nodes[0].shape if nodes else ()
    if not shape or any(node.shape != shape for node in nodes):
        raise NotRecorded("NumPy's rules for other keys")
    at = axis_rules.one_axis(axis, len(shape))
    return opaque.opaque("lexsort", lambda *k: np.lexsort(k, at), nodes, INT64, shape)


@recorded(np.isin)
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    """Which elements are in a set; against few numbers as comparisons, else a library step."""
    node, tests = node_of(element), node_of(test_elements)
    if kind not in (None, "sort", "table"):
        raise NotRecorded("NumPy refuses this kind")

    def step(x: Any, y: Any) -> Any:
        return np.isin(x, y, assume_unique, invert, kind=kind)

    return wrap_array(opaque.opaque_node("isin", step, (node, tests), BOOL, node.shape))


EXPORTS: dict[str, Function] = {
    "sort": _sorting(np.sort, False), "argsort": _sorting(np.argsort, True),
    "partition": _partition(np.partition, False),
    "argpartition": _partition(np.argpartition, True), "lexsort": lexsort, "isin": isin,
    **ordinary(
        "unique unique_all unique_counts unique_inverse unique_values union1d intersect1d "
        "setdiff1d setxor1d sort_complex histogram histogram2d histogramdd histogram_bin_edges "
        "bincount", library,
    ),
}  # fmt: skip
