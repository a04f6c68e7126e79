"""Convolutions: with windows of one pixel products of pixels, whose channels lie side by side in
memory, and weights; of each channel by itself sums of shifted products (`windows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from fusewright.base.later import later
from fusewright.bridges.torch import nodes, windows
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


def why_not_ours(
    width: int, x: torch.Tensor, weight: torch.Tensor, bias: Any, stride: Sequence[int],
    padding: Sequence[int], dilation: Any, transposed: bool, shift: Any, groups: int,
) -> str:  # fmt: skip
    """Why a convolution, by its arguments (elements are not looked at), is torch's; empty where it
    is not.  `width` are the pixels of a row.
    """
    if windows.is_by_channel(x.shape, weight.shape, transposed, groups):
        how = windows.windows_of(weight.shape, stride, padding, dilation)
        return windows.why_not_windows(x, weight, how, width)
    is_plain = set(stride) == {1} and not any(padding) and not transposed and groups == 1
    if not is_plain or weight.ndim != 4 or any(extent != 1 for extent in weight.shape[2:]):
        return WINDOWS
    return "" if x.is_contiguous(memory_format=torch.channels_last) else APART


def is_of_pixels(x: Any, weight: Any, *rest: Any) -> bool:
    """Whether a convolution of ours is a product."""
    return not windows.is_by_channel(x.shape, weight.shape, rest[4], rest[6])


def laid_out(result: torch.Tensor, args: Sequence[Any]) -> torch.Tensor:
    """A result without elements as torch's kernel lays it out; without a kernel it has other
    strides.
    """
    pixels = is_of_pixels(*args)
    return result.contiguous(memory_format=torch.channels_last) if pixels else result


def convolution(call: AtenCall, x: Node, weight: Node, bias: Node | None, *rest: Any) -> Node:
    """Pixels as rows, channels as columns; or a sum of shifted products."""
    if not is_of_pixels(x, weight, bias, *rest):
        how = windows.windows_of(weight.shape, *rest[:3])
        return windows.convolution(call, x, weight, bias, how)
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
