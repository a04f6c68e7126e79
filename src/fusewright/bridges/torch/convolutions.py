"""Convolutions with windows of one pixel: products of pixels, whose channels lie side by side in
memory, and weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from fusewright.base.later import later
from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.ir import products
from fusewright.ir.graph import Node

if TYPE_CHECKING:
    import torch
else:  # the table is read without it
    torch = later("torch")

WINDOWS = (
    "its windows have several pixels: torch's kernel multiplies as fast as ours for products would "
    "(170 to 245 GFLOP/s measured), and needs no copy of the windows"
)
APART = "a pixel's channels do not lie side by side in memory (channels_last)"


def why_not_pixels(
    x: torch.Tensor, weight: torch.Tensor, bias: Any, stride: Sequence[int],
    padding: Sequence[int], dilation: Any, transposed: bool, shift: Any, groups: int,
) -> str:  # fmt: skip
    """Why a convolution, by its arguments (elements are not looked at), is no product of pixels;
    empty where it is.
    """
    is_plain = set(stride) == {1} and not any(padding) and not transposed and groups == 1
    if not is_plain or weight.ndim != 4 or any(extent != 1 for extent in weight.shape[2:]):
        return WINDOWS
    return "" if x.is_contiguous(memory_format=torch.channels_last) else APART


def laid_out(result: torch.Tensor) -> torch.Tensor:
    """A result without elements as torch's kernel lays it out; without a kernel it has other
    strides.
    """
    return result.contiguous(memory_format=torch.channels_last)


def convolution(call: AtenCall, x: Node, weight: Node, bias: Node | None, *rest: Any) -> Node:
    """Pixels as rows, channels as columns."""
    rank = len(x.shape)
    rows = nodes.pixels(x, rank)
    pixels = nodes.reshaped(rows, (prod(rows.shape[:-1]), rows.shape[-1]))
    right = nodes.permuted(nodes.reshaped(weight, weight.shape[:2]), [1, 0])
    if not products.is_compiled(pixels, right):
        raise Declined("a product of these extents is torch's")
    made = products.multiplied("matmul", pixels, right, ())
    if bias is not None:
        made = nodes.mapped("add", made, bias)
    made = nodes.reshaped(made, (*rows.shape[:-1], weight.shape[0]))
    return nodes.permuted(made, [0, rank - 1, *range(1, rank - 1)])
