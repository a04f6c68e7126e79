"""Products of torch's as ours: those that our arrays compute themselves (`ir.products`), too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.ir import products
from fusewright.ir.dtypes import BFLOAT16, FLOAT32, DType
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
    """Whether torch's library multiplies bfloat16 faster than we do: where the processor has
    instructions for that; but those for vectors are no faster on Intel's than two fused
    multiply-adds (measured: ours 1.1 to 1.6 times as fast).  With tile registers ours have not been
    timed beside torch's, so there they are only taken where `features="amx"` asks for them.
    """
    found: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    if found.get("amx_bf16"):
        return current().features != "amx"
    return bool(found.get("avx512_bf16")) and "Intel" not in str(found.get("cpu_name", ""))


def product(call: AtenCall, a: Node, b: Node) -> Node:
    """`a @ b`."""
    if not products.is_compiled(a, b):
        raise Declined("a product of these extents is torch's")
    return multiplied(a, b, BFLOAT16)


def multiplied(a: Node, b: Node, result: DType) -> Node:
    """`a @ b`; of widened bfloat16 that of what was widened, with a result of that type or not yet
    rounded.
    """
    stored = [each.args[0] for each in (a, b) if each.op == "cast"]
    if [each.dtype for each in stored] == [BFLOAT16, BFLOAT16]:
        left, right = stored
        if a.shape[-1] > products.DEEP:  # to be cut there
            result = FLOAT32
        made = products.multiplied("matmul", left, right, a.shape[:-2], result)
        return nodes.cast(made, FLOAT32)
    return products.multiplied("matmul", a, b, a.shape[:-2])


def shifted_product(
    call: AtenCall, shift: Node, a: Node, b: Node, *, beta: Any = 1, alpha: Any = 1
) -> Node:
    """`a @ b + shift`, the sum rounded once more."""
    if alpha != 1 or beta != 1:
        raise Declined("the product or the sum is scaled")
    if not products.is_compiled(a, b):
        raise Declined("a product of these extents is torch's")
    return nodes.mapped("add", multiplied(a, b, FLOAT32), shift)
