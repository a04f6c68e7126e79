"""Running sums and products, and differences between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.base.errors import ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import layouts, record, trace
from fusewright.frontends.arrays.core import cast, wrap
from fusewright.frontends.arrays.dtypes import as_dtype
from fusewright.frontends.arrays.reductions import NO_VALUE, accumulator, finish
from fusewright.frontends.arrays.views import identity, reshape_node, view_node
from fusewright.ir.dtypes import BOOL
from fusewright.ir.graph import ASSEMBLE, SCAN, Node

SCANS = {"cumsum": "sum", "cumprod": "prod", "cummax": "max", "cummin": "min"}


def scan(name: str, x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`cumsum` or `cumprod` along an axis; of all elements in C order without one."""
    node = record.node_of(x)
    if axis is None:
        count = axis_rules.count_over(node.shape, tuple(range(len(node.shape))))
        node, axis = reshape_node(node, (count,)), 0
    elif not node.shape:
        node = reshape_node(node, (1,))
    where = axis_rules.one_axis(axis, len(node.shape))
    result = as_dtype(dtype) if dtype is not None else accumulator(SCANS[name], node.dtype)
    return finish(scan_node(name, cast(node, result), where), out)


def scan_node(name: str, node: Node, axis: int) -> Node:
    """One SCAN."""
    return trace.record(Node(SCAN, name, (node,), node.dtype, node.shape, axis))


def diff(
    x: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Any:
    """The n-th difference of neighbours along an axis."""
    if n < 0:
        raise ValueRangeError(f"order must be non-negative but got {n}")
    node = record.node_of(x)
    if not node.shape:
        raise ValueRangeError("diff requires input that is at least one dimensional")
    where = axis_rules.one_axis(axis, len(node.shape))
    if n == 0:
        return wrap(node)
    pieces = [_border(prepend, node, where), node, _border(append, node, where)]
    node = concatenated([piece for piece in pieces if piece is not None], where)
    for _ in range(n):
        op = "not_equal" if node.dtype is BOOL else "subtract"
        node = record.map_node(op, _shifted(node, where, 1), _shifted(node, where, 0))
    return wrap(node)


def _border(value: Any, node: Node, axis: int) -> Node | None:
    if value is NO_VALUE:
        return None
    border = record.node_of(value)
    if not border.shape:
        shape = (*node.shape[:axis], 1, *node.shape[axis + 1 :])
        return record.broadcast_node(border, shape)
    beside = [(*each.shape[:axis], *each.shape[axis + 1 :]) for each in (border, node)]
    if len(border.shape) != len(node.shape) or beside[0] != beside[1]:
        raise ValueRangeError(
            "all the input array dimensions except for the concatenation axis must match exactly",
            why=f"{border.shape} is to stand beside {node.shape} along axis {axis}",
        )
    return border


def _shifted(node: Node, axis: int, start: int) -> Node:
    places = list(identity(node.shape))
    places[axis] = (axis, start, 1)
    shape = list(node.shape)
    shape[axis] = max(shape[axis] - 1, 0)
    return view_node(node, tuple(places), tuple(shape))


def concatenated(pieces: list[Node], axis: int) -> Node:
    """Values one after the other along an axis."""
    if len(pieces) == 1:
        return pieces[0]
    dtype = as_dtype(np.result_type(*(piece.dtype.numpy for piece in pieces)))
    extent = sum(piece.shape[axis] for piece in pieces)
    first = pieces[0].shape
    attr, at = [], 0
    for piece in pieces:
        attr.append(tuple((at if dim == axis else 0, 1) for dim in range(len(first))))
        at += piece.shape[axis]
    shape = (*first[:axis], extent, *first[axis + 1 :])
    args = tuple(cast(piece, dtype) for piece in pieces)
    return layouts.joined(trace.record(Node(ASSEMBLE, "", args, dtype, shape, tuple(attr))))
