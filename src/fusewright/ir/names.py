"""What users call the operations that are recorded."""

from __future__ import annotations

from fusewright.ir import graph
from fusewright.ir.graph import Node

_NAMES = {
    graph.LEAF: "array",
    graph.GATHER: "take",
    graph.IOTA: "arange",
    graph.VIEW: "view",
    graph.RESHAPE: "reshape",
    graph.SCALAR: "scalar",
}


def name_of(node: Node) -> str:
    """What the user would call the operation."""
    if node.kind == graph.ASSEMBLE:
        return "assign" if is_update(node) else "join"
    if node.kind == graph.PART:
        return name_of(node.args[0])
    if isinstance(node.value, graph.InPlace):
        return node.value.title
    return _NAMES.get(node.kind) or node.op


def is_update(node: Node) -> bool:
    """Whether an assembled value is an earlier version with a part written over."""
    first, region = node.args[0], node.attr[0]
    return first.shape == node.shape and all(place == (0, 1) for place in region)
