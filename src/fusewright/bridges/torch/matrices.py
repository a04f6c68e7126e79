"""Products of torch's as ours: those that our arrays compute themselves (`ir.products`), too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fusewright.base.later import later
from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.ir import products
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import LEAF, Node

if TYPE_CHECKING:
    import torch
else:  # the table is read without it
    torch = later("torch")


def is_ours(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: DType) -> bool:
    """Whether a product of matrices is ours, by shapes and type alone."""
    left, right = (Node(LEAF, "", (), dtype, shape) for shape in shapes)
    return products.is_compiled(left, right)


def is_half_quick_in_torch() -> bool:
    """Whether torch's library multiplies bfloat16 faster than ours: where the processor has
    instructions for that.
    """
    found: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(found.get("avx512_bf16")) or bool(found.get("amx_bf16"))


def product(call: AtenCall, a: Node, b: Node) -> Node:
    """`a @ b`."""
    if not products.is_compiled(a, b):
        raise Declined("a product of these extents is torch's")
    return products.multiplied("matmul", a, b, a.shape[:-2])


def shifted_product(
    call: AtenCall, shift: Node, a: Node, b: Node, *, beta: Any = 1, alpha: Any = 1
) -> Node:
    """`a @ b + shift`, the sum rounded once more."""
    if alpha != 1 or beta != 1:
        raise Declined("the product or the sum is scaled")
    return nodes.mapped("add", product(call, a, b), shift)
