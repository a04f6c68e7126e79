"""Operations of torch's that are written out before a graph is cut into segments: what they
consist of has rows.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch
import torch.nn.functional as F

from fusewright.bridges.torch import attention
from fusewright.bridges.torch.matrices import is_ours
from fusewright.bridges.torch.partition import DTYPES
from fusewright.bridges.torch.prices import traced_extent

Tensor = Any


def encoder_layer(
    x: Tensor, width: int, heads: int,
    qkv_weight: Tensor, qkv_bias: Tensor, out_weight: Tensor, out_bias: Tensor,
    use_gelu: bool, norm_first: bool, eps: float,
    norm_weight_1: Tensor, norm_bias_1: Tensor, norm_weight_2: Tensor, norm_bias_2: Tensor,
    up_weight: Tensor, up_bias: Tensor, down_weight: Tensor, down_bias: Tensor,
    mask: Tensor | None = None, mask_type: int | None = None,
) -> Tensor:  # fmt: skip
    """`nn.TransformerEncoderLayer` in eval: attention and two products, each with a normalisation
    before or after, and what goes in added.

    `x` is (batch, length, width).  With a mask it stays torch's, which takes any number but 0 as
    masked and has its own answer for rows without keys; so it does where its products are torch's
    (of 16-bit types, and small ones) or its attention is as fast, since the whole is faster there.
    """
    if mask is not None or x.is_nested or x.dim() != 3 or not _is_large(x, qkv_weight):
        return NotImplemented
    if attention.is_quick_in_torch():
        return NotImplemented
    batch, length, _ = x.shape

    def first(y: Tensor) -> Tensor:
        return F.layer_norm(y, (width,), norm_weight_1, norm_bias_1, eps)

    def second(y: Tensor) -> Tensor:
        return F.layer_norm(y, (width,), norm_weight_2, norm_bias_2, eps)

    def attend(y: Tensor) -> Tensor:
        parts = F.linear(y, qkv_weight, qkv_bias).chunk(3, -1)
        q, k, v = (each.view(batch, length, heads, -1).transpose(1, 2) for each in parts)
        made = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        return F.linear(made.reshape(batch, length, width), out_weight, out_bias)

    def feed(y: Tensor) -> Tensor:
        hidden = F.linear(y, up_weight, up_bias)
        return F.linear(F.gelu(hidden) if use_gelu else F.relu(hidden), down_weight, down_bias)

    if norm_first:
        x = x + attend(first(x))
        return x + feed(second(x))
    x = first(x + attend(x))
    return second(x + feed(x))


def _is_large(x: Tensor, weight: Tensor) -> bool:
    """Whether the product of all rows and the first weights is ours."""
    rows = prod(traced_extent(extent) for extent in x.shape[:-1])
    shapes = (rows, x.shape[-1]), tuple(weight.shape[::-1])
    return x.dtype in _WIDE and is_ours(shapes, DTYPES[x.dtype])


_WIDE = (torch.float32, torch.float64)
WRITTEN_OUT: dict[Any, Callable[..., Any]] = {
    torch.ops.aten._transformer_encoder_layer_fwd.default: encoder_layer
}
"""By operation."""
