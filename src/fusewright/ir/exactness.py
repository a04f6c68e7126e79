"""Which operations NumPy computes to the bits of compiled code."""

from __future__ import annotations

from fusewright.ir import graph, ops
from fusewright.ir.dtypes import BFLOAT16
from fusewright.ir.graph import Node
from fusewright.ir.order import LANES, SHORT


def is_exact(node: Node) -> bool:
    """Whether NumPy computes the operation to the bits of compiled code."""
    kind = node.kind
    if kind == graph.PRODUCT:
        return False
    if kind in (graph.MAP, graph.REDUCE, graph.SCAN):
        if any(arg.dtype is BFLOAT16 for arg in node.args):
            return False
        real = node.dtype.kind in "biuf" and node.dtype.itemsize * (node.dtype.kind == "f") != 2
        kinds = {arg.dtype.kind for arg in node.args}
        if kind == graph.MAP and node.dtype.kind == "c" and node.op in ("cast", "where"):
            return node.op == "cast" or {arg.dtype for arg in node.args[1:]} == {node.dtype}
        if node.dtype.kind == "c" and {arg.dtype for arg in node.args} == {node.dtype}:
            return kind == graph.MAP and node.op in ops.EXACT_PARTS
        if kind == graph.MAP:
            narrows = node.op == "cast" and "f" in kinds and node.dtype.kind != "f"
            return real and "c" not in kinds and node.op in ops.EXACT and not narrows
        return real and (kind == graph.SCAN or node.dtype.kind != "f") and kinds <= set("biu")
    return True


def is_short_sum(node: Node) -> bool:
    """Whether floats are added along a short last dim, which `ir.order` does to the bits of
    compiled code.
    """
    if node.kind != graph.REDUCE or node.op != "sum" or node.dtype not in LANES:
        return False
    source = node.args[0]
    return (
        source.dtype is node.dtype
        and node.attr[0] == (len(source.shape) - 1,)
        and source.shape[-1] <= SHORT
    )
