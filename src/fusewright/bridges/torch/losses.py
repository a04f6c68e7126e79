"""Losses, and what is handed back through them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.bridges.torch.nodes import compared, mapped, reduced
from fusewright.ir.graph import Node

EACH, MEAN, TOTAL = 0, 1, 2
"""Torch's numbers of what a loss does with those of the elements."""
LEAST_LOG = -100.0
LEAST_SLOPE = 1e-12


def _gathered(call: AtenCall, x: Node, how: int) -> Node:
    """The loss of each element, their mean or their sum."""
    if how == EACH:
        return x
    whole = reduced("sum", x, range(len(x.shape)), False)
    return whole if how == TOTAL else mapped("divide", whole, call.constant(prod(x.shape)))


def _share(a: Node, b: Node, how: int) -> float:
    """What one element has of the loss."""
    if a.shape != b.shape:
        raise Declined("the operands have different shapes")
    return 1 / prod(a.shape) if how == MEAN else 1.0


def squares(call: AtenCall, x: Node, y: Node, how: int = MEAN) -> Node:
    """`(x - y) ** 2`."""
    call.need_float()
    apart = mapped("subtract", x, y)
    return _gathered(call, mapped("multiply", apart, apart), how)


def squares_backward(call: AtenCall, grad: Node, x: Node, y: Node, how: int) -> Node:
    """`2 / n * (x - y) * grad`."""
    share = call.constant(2 * _share(x, y, how))
    return mapped("multiply", mapped("multiply", share, mapped("subtract", x, y)), grad)


def bent(is_scaled: bool) -> Callable[..., Node]:
    """A square near zero and a line from `beta` on; the smooth one is divided by `beta`."""

    def record(call: AtenCall, x: Node, y: Node, how: int = MEAN, beta: Any = 1.0) -> Node:
        call.need_float()
        if not beta > 0:
            raise Declined("a bound that is not above zero")
        size, bound = mapped("absolute", mapped("subtract", x, y)), call.constant(beta)
        half = call.constant(0.5)
        square = mapped("multiply", mapped("multiply", half, size), size)
        line = mapped("subtract", size, call.constant(0.5 * beta))
        if is_scaled:
            square = mapped("divide", square, bound)
            near = compared("less", size, bound)
        else:
            line = mapped("multiply", bound, line)
            near = compared("less_equal", size, bound)
        return _gathered(call, mapped("where", near, square, line), how)

    return record


def cross_entropy(
    call: AtenCall, x: Node, target: Node, weight: Node | None = None, how: int = MEAN
) -> Node:
    """`-(target * log(x) + (1 - target) * log(1 - x))`, logarithms cut off at -100."""
    call.need_float()
    floor, one = call.constant(LEAST_LOG), call.constant(1)
    rest = mapped("maximum", mapped("log1p", mapped("negative", x)), floor)
    log = mapped("maximum", mapped("log", x), floor)
    left = mapped("multiply", mapped("subtract", target, one), rest)
    made = mapped("subtract", left, mapped("multiply", target, log))
    if weight is not None:
        made = mapped("multiply", made, weight)
    return _gathered(call, made, how)


def cross_entropy_backward(
    call: AtenCall,
    grad: Node,
    x: Node,
    target: Node,
    weight: Node | None = None,
    how: int = MEAN,
) -> Node:
    """`grad * (x - target) / (x * (1 - x))`, the divisor at least 1e-12."""
    _share(x, target, how)
    slope = mapped("multiply", mapped("subtract", call.constant(1), x), x)
    slope = mapped("maximum", slope, call.constant(LEAST_SLOPE))
    made = mapped("divide", mapped("multiply", grad, mapped("subtract", x, target)), slope)
    if weight is not None:
        made = mapped("multiply", made, weight)
    return made if how != MEAN else mapped("divide", made, call.constant(prod(x.shape)))
