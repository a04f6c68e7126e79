"""Reductions of torch's, and what is written out with them: softmax, normalisations.

Sums are in our order (decision 0006), so they differ from eager's in the last bits; everything else
is rounded as eager rounds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.bridges.torch.nodes import cast, mapped, reduced, reshaped
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.graph import Node

Dims = Sequence[int] | int | None


def axes_of(dims: Dims, rank: int) -> tuple[int, ...]:
    """The dims that are meant, from 0 on; none given are all."""
    if dims is None or dims in ([], ()):
        return tuple(range(rank))
    return tuple(sorted({d % rank if rank else 0 for d in _several(dims)})) if rank else ()


def _several(dims: Dims) -> Sequence[int]:
    return [dims] if isinstance(dims, int) else dims or ()


def _count(x: Node, axes: Sequence[int]) -> int:
    return prod(x.shape[d] for d in axes)


def total(
    call: AtenCall, x: Node, dims: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Node:
    """A sum in the result's type."""
    return reduced("sum", cast(x, call.dtype), axes_of(dims, len(x.shape)), keepdim)


def mean(
    call: AtenCall, x: Node, dims: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Node:
    """The sum divided by the number of elements."""
    call.need_float()
    axes = axes_of(dims, len(x.shape))
    return _mean(call, cast(x, call.dtype), axes, keepdim)


def _mean(call: AtenCall, x: Node, axes: Sequence[int], keepdim: bool = True) -> Node:
    return mapped("divide", reduced("sum", x, axes, keepdim), call.constant(_count(x, axes)))


def extreme(name: str) -> Callable[..., Node]:
    """The largest or the smallest."""

    def record(call: AtenCall, x: Node, dims: Dims = None, keepdim: bool = False) -> Node:
        return reduced(name, x, axes_of(dims, len(x.shape)), keepdim)

    return record


def question(name: str) -> Callable[..., Node]:
    """Whether any or all are true."""

    def record(call: AtenCall, x: Node, dims: Dims = None, keepdim: bool = False) -> Node:
        if call.dtype is not BOOL:
            raise Declined(f"a result of {call.dtype}")
        return reduced(name, cast(x, BOOL), axes_of(dims, len(x.shape)), keepdim)

    return record


def variance(
    call: AtenCall, x: Node, dims: Dims = None, *, correction: Any = 1, keepdim: bool = False
) -> Node:
    """The mean square distance from the mean."""
    call.need_float()
    axes = axes_of(dims, len(x.shape))
    left = _count(x, axes) - (1 if correction is None else correction)
    if left <= 0:
        raise Declined("no degrees of freedom are left")
    apart = mapped("subtract", x, _mean(call, x, axes))
    squares = reduced("sum", mapped("multiply", apart, apart), axes, keepdim)
    return mapped("divide", squares, call.constant(left))


def length(
    call: AtenCall, x: Node, order: Any = 2, dims: Dims = None, keepdim: bool = False,
    *, dtype: Any = None,
) -> Node:  # fmt: skip
    """The Euclidean length of a vector, the sum of the sizes of its elements, or the largest."""
    call.need_float()
    x, axes = cast(x, call.dtype), axes_of(dims, len(x.shape))
    if order == 2:
        return mapped("sqrt", reduced("sum", mapped("multiply", x, x), axes, keepdim))
    if order not in (1, inf):
        raise Declined(f"a norm of order {order}")
    return reduced("sum" if order == 1 else "max", mapped("absolute", x), axes, keepdim)


# ---- softmax ------------------------------------------------------------------------------------


def _plain(x: Node, dim: int, dtype: DType) -> tuple[int, ...]:
    if x.dtype is not dtype:
        raise Declined("a result of another type than the operand's")
    return axes_of(dim, len(x.shape))


def softmax(call: AtenCall, x: Node, dim: int, half_to_float: bool) -> Node:
    """`exp(x - max) / sum`."""
    axes = _plain(x, dim, call.dtype)
    powers = mapped("exp", mapped("subtract", x, reduced("max", x, axes, True)))
    return mapped("divide", powers, reduced("sum", powers, axes, True))


def log_softmax(call: AtenCall, x: Node, dim: int, half_to_float: bool) -> Node:
    """`x - max - log(sum)`."""
    axes = _plain(x, dim, call.dtype)
    apart = mapped("subtract", x, reduced("max", x, axes, True))
    return mapped(
        "subtract", apart, mapped("log", reduced("sum", mapped("exp", apart), axes, True))
    )


def softmax_backward(call: AtenCall, grad: Node, y: Node, dim: int, dtype: Any) -> Node:
    """`(grad - sum(grad * y)) * y`."""
    axes = _plain(y, dim, call.dtype)
    along = reduced("sum", mapped("multiply", grad, y), axes, True)
    return mapped("multiply", mapped("subtract", grad, along), y)


def log_softmax_backward(call: AtenCall, grad: Node, y: Node, dim: int, dtype: Any) -> Node:
    """`grad - exp(y) * sum(grad)`."""
    axes = _plain(y, dim, call.dtype)
    along = reduced("sum", grad, axes, True)
    return mapped("subtract", grad, mapped("multiply", mapped("exp", y), along))


# ---- normalisations -----------------------------------------------------------------------------


def _last(x: Node, shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(range(len(x.shape) - len(shape), len(x.shape)))


def layer_norm(
    call: AtenCall,
    x: Node,
    shape: Sequence[int],
    weight: Node | None,
    bias: Node | None,
    eps: float,
) -> tuple[Node, Node, Node]:
    """`(x - mean) / sqrt(var + eps)`, scaled and shifted; the mean and the reciprocal root."""
    axes = _last(x, shape)
    middle = _mean(call, x, axes)
    apart = mapped("subtract", x, middle)
    spread = _mean(call, mapped("multiply", apart, apart), axes)
    root = _reciprocal_root(call, spread, eps)
    made = mapped("multiply", apart, root)
    if weight is not None:
        made = mapped("multiply", made, weight)
    if bias is not None:
        made = mapped("add", made, bias)
    return made, middle, root


def _reciprocal_root(call: AtenCall, x: Node, eps: float) -> Node:
    below = mapped("sqrt", mapped("add", x, call.constant(eps)))
    return mapped("divide", call.constant(1), below)


def layer_norm_backward(
    call: AtenCall,
    grad: Node,
    x: Node,
    shape: Sequence[int],
    middle: Node,
    root: Node,
    weight: Node | None,
    bias: Node | None,
    wanted: Sequence[bool],
) -> tuple[Node | None, ...]:
    """The gradients of the operand, the scale and the shift."""
    axes = _last(x, shape)
    outer = tuple(range(len(x.shape) - len(shape)))
    normal = mapped("multiply", mapped("subtract", x, middle), root)
    made: list[Node | None] = [None, None, None]
    if wanted[0]:
        each = grad if weight is None else mapped("multiply", grad, weight)
        first = _mean(call, each, axes)
        second = _mean(call, mapped("multiply", each, normal), axes)
        inner = mapped("subtract", each, first)
        inner = mapped("subtract", inner, mapped("multiply", normal, second))
        made[0] = mapped("multiply", root, inner)
    if wanted[1] and weight is not None:
        made[1] = reduced("sum", mapped("multiply", grad, normal), outer, False)
    if wanted[2] and bias is not None:
        made[2] = reduced("sum", grad, outer, False)
    return tuple(made)


def batch_norm_inference(
    call: AtenCall,
    x: Node,
    weight: Node | None,
    bias: Node | None,
    middle: Node,
    spread: Node,
    momentum: float,
    eps: float,
) -> tuple[Node | None, ...]:
    """`x * a + (bias - mean * a)` with `a = weight / sqrt(var + eps)`, a for each channel."""
    scale = _reciprocal_root(call, spread, eps)
    if weight is not None:
        scale = mapped("multiply", scale, weight)
    shift = mapped("multiply", middle, scale)
    shift = mapped("negative", shift) if bias is None else mapped("subtract", bias, shift)
    rank = len(x.shape) - 2
    made = mapped("multiply", x, _channels(scale, rank))
    return mapped("add", made, _channels(shift, rank)), None, None


def _channels(x: Node, rank: int) -> Node:
    return reshaped(x, (x.shape[0], *(1,) * rank))
