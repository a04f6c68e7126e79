"""Element-wise operations of torch's as ours: in eager's order, rounded after every step."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.bridges.torch.nodes import cast, compared, mapped
from fusewright.ir.graph import Node

Record = Callable[..., Any]


def same(name: str) -> Record:
    """An operation that has our name for it."""

    def record(call: AtenCall, *operands: Any) -> Node:
        return mapped(name, *(call.operand(each) for each in operands))

    return record


def scaling(name: str) -> Record:
    """A product or a quotient: a number is not rounded to the type that arrays are stored in."""

    def record(call: AtenCall, *operands: Any) -> Node:
        given = [call.operand(x) if isinstance(x, Node) else call.constant(x) for x in operands]
        return mapped(name, *given)

    return record


def in_float(name: str) -> Record:
    """A function whose result is of floating point: integers are converted first."""

    def record(call: AtenCall, x: Any) -> Node:
        call.need_float()
        return mapped(name, call.operand(x))

    return record


def comparison(name: str) -> Record:
    """A question about two operands in their common type."""

    def record(call: AtenCall, *operands: Any) -> Node:
        return compared(name, *(call.operand(each, call.common) for each in operands))

    return record


def scaled(name: str) -> Record:
    """`a + alpha * b`, the product rounded before the sum."""

    def record(call: AtenCall, a: Any, b: Any, *, alpha: Any = 1) -> Node:
        left, right = call.operand(a), call.operand(b)
        if alpha != 1:
            right = mapped("multiply", right, call.operand(alpha))
        return mapped(name, left, right)

    return record


def reversed_difference(call: AtenCall, a: Any, b: Any, alpha: Any = 1) -> Node:
    """`b - alpha * a`."""
    left = call.operand(a)
    if alpha != 1:
        left = mapped("multiply", left, call.operand(alpha))
    return mapped("subtract", call.operand(b), left)


def divide(call: AtenCall, a: Any, b: Any) -> Node:
    """True division; integers are converted first."""
    call.need_float()
    made: Node = scaling("divide")(call, a, b)
    return made


def reciprocal(call: AtenCall, x: Any) -> Node:
    """`1 / x`."""
    call.need_float()
    return mapped("divide", call.constant(1), call.operand(x))


def reciprocal_root(call: AtenCall, x: Any) -> Node:
    """`1 / sqrt(x)`, rounded twice."""
    call.need_float()
    return mapped("divide", call.constant(1), mapped("sqrt", call.operand(x)))


_POWERS: dict[float, Callable[[AtenCall, Node], Node]] = {
    2.0: lambda call, x: mapped("multiply", x, x),
    3.0: lambda call, x: mapped("multiply", mapped("multiply", x, x), x),
    0.5: lambda call, x: mapped("sqrt", x),
    1.0: lambda call, x: mapped("positive", x),
    -0.5: reciprocal_root,
    -1.0: reciprocal,
    -2.0: lambda call, x: mapped("divide", call.constant(1), mapped("multiply", x, x)),
}
"""Exponents for which eager takes no power."""


def power(call: AtenCall, x: Any, exponent: Any) -> Node:
    """A power by a number."""
    call.need_float()
    base = call.operand(x)
    special = _POWERS.get(float(exponent))
    if special is not None:
        return special(call, base)
    return mapped("power", base, call.operand(exponent))


def power_of_arrays(call: AtenCall, x: Any, exponent: Any) -> Node:
    """A power by an array."""
    call.need_float()
    return mapped("power", call.operand(x), call.operand(exponent))


def where(call: AtenCall, condition: Node, a: Any, b: Any) -> Node:
    """One of two operands."""
    if condition.dtype.kind != "b":
        raise Declined("the condition is no boolean array")
    return mapped("where", condition, call.operand(a), call.operand(b))


def dropout_backward(call: AtenCall, grad: Node, mask: Node, scale: float) -> Node:
    """What was kept, scaled."""
    call.need_float()
    kept = mapped("multiply", call.operand(grad), call.operand(mask))
    return mapped("multiply", kept, call.constant(scale))


def masked_fill(call: AtenCall, x: Node, mask: Node, value: Any) -> Node:
    """A number, or an array of one element, where the mask is true."""
    if isinstance(value, Node) and value.shape:
        raise Declined("the value has dims")
    return where(call, mask, value, x)


def clamp(call: AtenCall, x: Any, low: Any = None, high: Any = None) -> Node:
    """Between two bounds, either of which may be missing."""
    made = call.operand(x)
    if low is not None:
        made = mapped("maximum", made, call.operand(low))
    if high is not None:
        made = mapped("minimum", made, call.operand(high))
    return made


def clamp_high(call: AtenCall, x: Any, high: Any) -> Node:
    """At most a bound."""
    return clamp(call, x, None, high)


def relu(call: AtenCall, x: Any) -> Node:
    """`max(x, 0)`."""
    return clamp(call, x, 0)


def convert(call: AtenCall, x: Node, *rest: Any, **options: Any) -> Node:
    """Another element type."""
    if options.get("device") is not None and str(options["device"]) != "cpu":
        raise Declined("another device")
    return _copy(x) if x.dtype is call.dtype else cast(x, call.dtype)


def clone(call: AtenCall, x: Node, *, memory_format: Any = None) -> Node:
    """The same elements; where torch needs them, they are laid out as its own result is."""
    return _copy(x)


def _copy(x: Node) -> Node:
    """The same elements, in memory of their own."""
    return mapped("positive", x) if x.dtype.kind != "b" else mapped("cast", x)


def addcmul(call: AtenCall, x: Any, a: Any, b: Any, *, value: Any = 1) -> Node:
    """`x + value * a * b`."""
    product = mapped("multiply", _times(call, value, call.operand(a)), call.operand(b))
    return mapped("add", call.operand(x), product)


def addcdiv(call: AtenCall, x: Any, a: Any, b: Any, *, value: Any = 1) -> Node:
    """`x + value * a / b`."""
    call.need_float()
    quotient = mapped("divide", _times(call, value, call.operand(a)), call.operand(b))
    return mapped("add", call.operand(x), quotient)


def _times(call: AtenCall, value: Any, x: Node) -> Node:
    return x if value == 1 else mapped("multiply", call.constant(value), x)


# ---- activations, and what is handed back through them ------------------------------------------


def sigmoid_of(call: AtenCall, x: Node) -> Node:
    """`1 / (1 + exp(-x))`."""
    one = call.constant(1)
    return mapped("divide", one, mapped("add", one, mapped("exp", mapped("negative", x))))


def sigmoid(call: AtenCall, x: Any) -> Node:
    """The logistic function."""
    call.need_float()
    return sigmoid_of(call, call.operand(x))


def silu(call: AtenCall, x: Any) -> Node:
    """`x / (1 + exp(-x))`."""
    call.need_float()
    node = call.operand(x)
    below = mapped("add", call.constant(1), mapped("exp", mapped("negative", node)))
    return mapped("divide", node, below)


def silu_backward(call: AtenCall, grad: Node, x: Node) -> Node:
    """`grad * s * (1 + x * (1 - s))` with the logistic function `s`."""
    one, s = call.constant(1), sigmoid_of(call, call.operand(x))
    inner = mapped("add", one, mapped("multiply", x, mapped("subtract", one, s)))
    return mapped("multiply", mapped("multiply", call.operand(grad), s), inner)


def sigmoid_backward(call: AtenCall, grad: Node, y: Node) -> Node:
    """`grad * (1 - y) * y`."""
    left = mapped("multiply", call.operand(grad), mapped("subtract", call.constant(1), y))
    return mapped("multiply", left, y)


def tanh_backward(call: AtenCall, grad: Node, y: Node) -> Node:
    """`grad * (1 - y * y)`."""
    inner = mapped("subtract", call.constant(1), mapped("multiply", y, y))
    return mapped("multiply", call.operand(grad), inner)


def threshold_backward(call: AtenCall, grad: Node, x: Node, threshold: Any) -> Node:
    """The gradient where x is above the threshold."""
    below = compared("less_equal", x, call.operand(threshold, x.dtype))
    return mapped("where", below, call.constant(0), call.operand(grad))


_ROOT = sqrt(0.5)
_TANH = sqrt(2 / pi)
_CUBIC = 0.044715


def _chosen(approximate: str) -> bool:
    if approximate not in ("none", "tanh"):
        raise Declined(f"approximate={approximate!r}")
    return approximate == "tanh"


def _inner(call: AtenCall, x: Node) -> Node:
    cube = mapped("multiply", mapped("multiply", x, x), x)
    inside = mapped("add", x, mapped("multiply", call.constant(_CUBIC), cube))
    return mapped("multiply", call.constant(_TANH), inside)


def gelu(call: AtenCall, x: Any, *, approximate: str = "none") -> Node:
    """`x * Phi(x)`, by `erf` or by `tanh`."""
    call.need_float()
    node, one, half = call.operand(x), call.constant(1), call.constant(0.5)
    if _chosen(approximate):
        above = mapped("add", one, mapped("tanh", _inner(call, node)))
        return mapped("multiply", mapped("multiply", half, node), above)
    phi = mapped("add", one, mapped("erf", mapped("multiply", node, call.constant(_ROOT))))
    return mapped("multiply", mapped("multiply", node, half), phi)


def gelu_backward(call: AtenCall, grad: Node, x: Node, *, approximate: str = "none") -> Node:
    """The gradient through it."""
    one, half = call.constant(1), call.constant(0.5)
    grad, x = call.operand(grad), call.operand(x)
    if not _chosen(approximate):
        phi = mapped("add", one, mapped("erf", mapped("multiply", x, call.constant(_ROOT))))
        phi = mapped("multiply", half, phi)
        square = mapped("multiply", mapped("multiply", call.constant(-0.5), x), x)
        density = mapped("multiply", call.constant(_TANH * 0.5), mapped("exp", square))
        return mapped("multiply", grad, mapped("add", phi, mapped("multiply", x, density)))
    tanh = mapped("tanh", _inner(call, x))
    left = mapped("multiply", half, mapped("add", one, tanh))
    slope = mapped("multiply", call.constant(3 * _CUBIC), mapped("multiply", x, x))
    slope = mapped("multiply", call.constant(_TANH), mapped("add", one, slope))
    fall = mapped("subtract", one, mapped("multiply", tanh, tanh))
    right = mapped("multiply", mapped("multiply", half, x), mapped("multiply", fall, slope))
    return mapped("multiply", grad, mapped("add", left, right))


def invert(call: AtenCall, x: Node) -> Node:
    """All bits, or not."""
    return mapped("invert", cast(x, call.dtype))


def logical(name: str) -> Record:
    """Of truth values, whatever the operands' types are."""

    def record(call: AtenCall, *operands: Node) -> Node:
        return compared(name, *(cast(each, call.common) for each in operands))

    return record
