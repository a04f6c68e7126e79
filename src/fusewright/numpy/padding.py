"""Borders round an array: constants, or pieces of the array itself; the plan sees them as index
maps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.frontends.arrays import core, creation, opaque, record, scans
from fusewright.frontends.arrays import dtypes as rules
from fusewright.frontends.arrays.core import wrap_array
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import Node
from fusewright.numpy.arranging import by_runs, runs_of
from fusewright.numpy.operands import Function, NotRecorded, handle_of, recorded


@recorded(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Borders added: constant values, or pieces of the array itself, in the given order."""
    a = handle_of(array)
    node = a._node
    plain = kwargs.keys() <= ({"constant_values"} if mode == "constant" else frozenset())
    if not plain or (mode != "constant" and mode not in FOLDED) or isinstance(pad_width, dict):
        raise NotRecorded("this mode of padding")
    widths = np.broadcast_to(np.asarray(opaque.to_numpy(pad_width)), (len(node.shape), 2))
    if widths.dtype.kind not in "iu" or (widths < 0).any():
        raise NotRecorded("NumPy refuses these widths")
    creation.as_shape([n + sum(map(int, w)) for n, w in zip(node.shape, widths, strict=True)])
    if mode == "constant":
        return wrap_array(_framed(node, widths, kwargs.get("constant_values", 0)))
    if 0 in node.shape:
        raise NotRecorded("NumPy's rules for an empty array")
    for axis, (left, right) in enumerate(widths):
        extent = node.shape[axis]
        before = runs_of(FOLDED[mode](np.arange(-left, 0), extent))
        after = runs_of(FOLDED[mode](np.arange(extent, extent + right), extent))
        if before or after:
            node = by_runs(node, axis, [*before, (0, 1, extent), *after])
    return wrap_array(node)


def _reflected(place: Any, extent: int) -> Any:
    """Back and forth between the first and the last element, each met once a turn."""
    period = max(2 * extent - 2, 1)
    place = place % period
    return np.minimum(place, period - place) if extent > 1 else place * 0


def _mirrored(place: Any, extent: int) -> Any:
    """Back and forth, the first and the last element met twice a turn."""
    place = place % (2 * extent)
    return np.minimum(place, 2 * extent - 1 - place)


FOLDED: dict[str, Function] = {
    "edge": lambda place, extent: np.clip(place, 0, extent - 1),
    "wrap": lambda place, extent: place % extent,
    "reflect": _reflected,
    "symmetric": _mirrored,
}
"""Which element stands at a place outside, by the mode of padding."""


def _stored(value: Any, dtype: DType) -> Node:
    """A constant as a Python number is stored: an integer has none for NaN."""
    if value.dtype.kind in "biuf":
        return rules.stored_scalar(value.item(), dtype)
    return core.cast(record.node_of(value), dtype)


def _framed(node: Node, widths: Any, values: Any) -> Node:
    """Constants before and after along each axis."""
    constants = np.broadcast_to(np.asarray(opaque.to_numpy(values)), (len(node.shape), 2))
    for axis, ((left, right), pair) in enumerate(zip(widths, constants, strict=True)):
        parts = [node]
        for count, value, at in ((left, pair[0], 0), (right, pair[1], len(parts) + 1)):
            if count:
                shape = (*node.shape[:axis], int(count), *node.shape[axis + 1 :])
                filler = _stored(value, node.dtype)
                parts.insert(at, record.broadcast_node(filler, shape))
        node = scans.concatenated(parts, axis)
    return node


EXPORTS: dict[str, Function] = {"pad": pad}
