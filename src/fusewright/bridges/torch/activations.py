"""Activations in pieces and smooth ones, and what is handed back through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.bridges.torch.call import AtenCall
from fusewright.bridges.torch.elementwise import clamp, sigmoid_of
from fusewright.bridges.torch.nodes import compared, mapped
from fusewright.ir.graph import Node

_SIXTH = float(np.float32(1 / 6))
"""As torch has it for all types."""


def _is_above(call: AtenCall, x: Node, bound: float = 0) -> Node:
    return compared("greater", x, call.constant(bound))


def leaky_relu(call: AtenCall, x: Any, slope: Any = 0.01) -> Node:
    """`x` above zero, `slope * x` below."""
    node = call.operand(x)
    return leaky_relu_backward(call, node, node, slope, False)


def leaky_relu_backward(
    call: AtenCall, grad: Node, x: Node, slope: Any, self_is_result: bool
) -> Node:
    """`grad` above zero, `slope * grad` below, of the operand or the result: they have one sign."""
    below = mapped("multiply", grad, call.constant(slope))
    return mapped("where", _is_above(call, x), grad, below)


def elu(call: AtenCall, x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Node:
    """`scale * x` above zero, `scale * alpha * (exp(input_scale * x) - 1)` below."""
    call.need_float()
    node = call.operand(x)
    power = mapped("expm1", mapped("multiply", node, call.constant(input_scale)))
    below = mapped("multiply", power, _product(call, alpha, scale))
    above = mapped("multiply", node, call.constant(scale))
    return mapped("where", _is_above(call, node), above, below)


def elu_backward(
    call: AtenCall,
    grad: Node,
    alpha: Any,
    scale: Any,
    input_scale: Any,
    is_result: bool,
    x: Node,
) -> Node:
    """Its slope: from the result where that is given, else from the operand."""
    lowest = _product(call, alpha, scale)
    below = mapped("multiply", grad, call.constant(input_scale))
    if is_result:
        below = mapped("multiply", below, mapped("add", x, lowest))
    else:
        power = mapped("exp", mapped("multiply", x, call.constant(input_scale)))
        below = mapped("multiply", mapped("multiply", below, lowest), power)
    above = mapped("multiply", grad, call.constant(scale))
    return mapped("where", _is_above(call, x), above, below)


def _product(call: AtenCall, a: float, b: float) -> Node:
    """Of two numbers, which torch has in the type that it computes in."""
    kind = call.dtype.numpy.type
    return call.constant(float(kind(a) * kind(b)))


def hardtanh(call: AtenCall, x: Any, low: Any = -1.0, high: Any = 1.0) -> Node:
    """Between two bounds."""
    return clamp(call, x, low, high)


def hardtanh_backward(call: AtenCall, grad: Node, x: Node, low: Any, high: Any) -> Node:
    """`grad` between the bounds, which themselves are outside."""
    over = compared("greater_equal", x, call.constant(high))
    outside = compared("logical_or", compared("less_equal", x, call.constant(low)), over)
    return mapped("where", outside, call.constant(0), grad)


def _gate(call: AtenCall, x: Node) -> Node:
    """`x + 3` between 0 and 6."""
    return clamp(call, mapped("add", x, call.constant(3)), 0, 6)


def hardsigmoid(call: AtenCall, x: Node) -> Node:
    """A line from 0 at -3 to 1 at 3."""
    call.need_float()
    return mapped("divide", _gate(call, x), call.constant(6))


def hardsigmoid_backward(call: AtenCall, grad: Node, x: Node) -> Node:
    """Its slope, which is 0 from the bounds on."""
    under = compared("less", x, call.constant(3))
    inside = compared("logical_and", _is_above(call, x, -3), under)
    slope = mapped("multiply", grad, call.constant(_SIXTH))
    return mapped("where", inside, slope, call.constant(0))


def hardswish(call: AtenCall, x: Node) -> Node:
    """`x` times that line."""
    call.need_float()
    return mapped("divide", mapped("multiply", x, _gate(call, x)), call.constant(6))


def hardswish_backward(call: AtenCall, grad: Node, x: Node) -> Node:
    """0 up to -3, `grad` from 3 on, `grad * (x / 3 + 1 / 2)` between."""
    inner = mapped("add", mapped("divide", x, call.constant(3)), call.constant(0.5))
    under = compared("less", x, call.constant(3))
    upper = mapped("where", under, mapped("multiply", grad, inner), grad)
    below = compared("less_equal", x, call.constant(-3))
    return mapped("where", below, call.constant(0), upper)


def softplus(call: AtenCall, x: Any, beta: Any = 1, threshold: Any = 20) -> Node:
    """`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above the threshold."""
    call.need_float()
    node, factor = call.operand(x), call.constant(beta)
    inner = mapped("multiply", node, factor)
    curve = mapped("divide", mapped("log1p", mapped("exp", inner)), factor)
    return mapped("where", _is_above(call, inner, threshold), node, curve)


def softplus_backward(call: AtenCall, grad: Node, x: Node, beta: Any, threshold: Any) -> Node:
    """`grad * z / (z + 1)` with `z = exp(beta * x)`."""
    inner = mapped("multiply", x, call.constant(beta))
    power = mapped("exp", inner)
    below = mapped("add", power, call.constant(1))
    curve = mapped("divide", mapped("multiply", grad, power), below)
    return mapped("where", _is_above(call, inner, threshold), grad, curve)


def _bend(x: Node) -> Node:
    """`tanh(log(1 + exp(x)))`."""
    return mapped("tanh", mapped("log1p", mapped("exp", x)))


def mish(call: AtenCall, x: Any) -> Node:
    """`x * tanh(log(1 + exp(x)))`."""
    call.need_float()
    node = call.operand(x)
    return mapped("multiply", node, _bend(node))


def mish_backward(call: AtenCall, grad: Node, x: Node) -> Node:
    """`grad * (t + x * s * (1 - t * t))` with the logistic function `s` and the hyperbolic `t`."""
    t = _bend(x)
    fall = mapped("subtract", call.constant(1), mapped("multiply", t, t))
    slope = mapped("multiply", mapped("multiply", x, sigmoid_of(call, x)), fall)
    return mapped("multiply", grad, mapped("add", t, slope))
