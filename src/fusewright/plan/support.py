"""Which nodes the code generators can compile; a library runs the others, and `explain` repeats the
reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusewright.base.later import later
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.ir.library_steps import ON_PURPOSE, UNCOMPILED, family_of

if TYPE_CHECKING:
    from fusewright.rules import complex as complex_rules
else:  # many programs have no complex numbers
    complex_rules = later("fusewright.rules.complex")

_MOVES = frozenset({graph.LEAF, graph.SCALAR, graph.VIEW})

PRODUCT = "a product of matrices, by kernels of its own"
"""Why a product is a step of its own."""


def why_library(node: Node) -> str:
    """Why a node is not compiled; empty where it is."""
    if isinstance(node.value, graph.InPlace):
        return "a kernel of loops that are no array statements, compiled by itself"
    if node.kind in (graph.OPAQUE, graph.PART):
        step = node.args[0] if node.kind == graph.PART and node.args else node
        return ON_PURPOSE if family_of(step.op) else UNCOMPILED
    if node.kind == graph.PRODUCT:
        return PRODUCT
    if node.kind in _MOVES or node.kind == graph.RESHAPE:
        return ""
    if node.dtype.is_complex or any(arg.dtype.is_complex for arg in node.args):
        if node.kind == graph.MAP and node.op in complex_rules.OPAQUE_COMPLEX:
            return f"{node.op} of complex numbers is computed by NumPy"
        if node.kind == graph.SCAN or (node.kind == graph.REDUCE and node.op != "sum"):
            return f"{node.op} of complex numbers is computed by NumPy"
    if node.kind in (graph.REDUCE, graph.SCAN) and node.dtype.is_stored_only:
        return f"{node.dtype} is a storage type: NumPy reduces it"
    return ""
