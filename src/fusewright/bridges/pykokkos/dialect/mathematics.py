"""C's mathematics in work units: by the bare names a program writes, or through `math`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.bridges.pykokkos.dialect.rules import combine, convert
from fusewright.frontends.kernels import complexes, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.intrinsics import Row, Values, arguments
from fusewright.frontends.kernels.operators import apply
from fusewright.frontends.kernels.values import Number, Value
from fusewright.ir import ops
from fusewright.ir.dtypes import FLOAT64
from fusewright.ir.expr import const, op


@dataclass(frozen=True, slots=True)
class Mathematics:
    """A function of C's `<cmath>`, by the name of what it becomes."""

    name: str

    def __call__(self, *args: Any) -> Any:
        """In plain Python: NumPy's function of the meaning."""
        return PLAIN[self.name](*args)


PLAIN: dict[str, Callable[..., Any]] = {
    "degrees": math.degrees, "radians": math.radians,
    "rsqrt": lambda x: 1.0 / math.sqrt(x), "pow": math.pow, "abs": abs, "min": min, "max": max,
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x), "remainder": math.remainder,
    "nan": lambda *_: math.nan, "conj": np.conjugate,
}  # fmt: skip
_SAME = (
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "hypot", "fabs", "copysign", "fmod", "floor", "ceil", "trunc", "rint",
    "isnan", "isinf", "isfinite", "fmin", "fmax", "erf", "erfc", "sign", "square", "reciprocal",
)  # fmt: skip
_RENAMED = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "tgamma": "gamma", "lgamma": "lgamma",
    "cyl_bessel_j0": "j0", "cyl_bessel_j1": "j1",
}  # fmt: skip
OPERATIONS: dict[str, str] = {**{name: name for name in _SAME}, **_RENAMED}
for _name, _row in OPERATIONS.items():
    PLAIN.setdefault(_name, ops.MAP[_row].meaning)
C_FUNCTIONS: dict[str, Mathematics] = {
    name: Mathematics(name) for name in (*OPERATIONS, *PLAIN, "positive", "negative", "mod")
}
"""By the bare name a program may write; some only array functions of PyKokkos have."""


def _math(t: Translation, node: ast.Call, values: Values, name: str) -> Value:
    span = t.span(node)
    numbers = [as_number(t, value, span) for value in values]
    special = _SPECIAL.get(name)
    if special is not None:
        return special(t, numbers, span)
    if name not in OPERATIONS:
        raise t.refuse(node, f"{name} in a work unit", why="Fusewright has no such function")
    operation = OPERATIONS[name]
    two = operation in ("hypot", "copysign", "fmod", "fmin", "fmax", "arctan2")
    arguments(t, node, values, 1 + two, 1 + two)
    return apply(t, operation, numbers, span)


def _scaled(factor: float) -> Callable[..., Number]:
    def scale(t: Translation, numbers: Sequence[Number], span: Any) -> Number:
        return combine(t, "multiply", numbers[0], types.literal(factor, span), span)

    return scale


def _absolute(t: Translation, numbers: Sequence[Number], span: Any) -> Number:
    (x,) = numbers
    return types.literal(abs(x.literal), span) if x.literal is not None else (
        apply(t, "absolute", (x,), span)
    )  # fmt: skip


def _extreme(name: str) -> Callable[..., Number]:
    def extreme(t: Translation, numbers: Sequence[Number], span: Any) -> Number:
        best = t.fixed(numbers[0])
        for number in numbers[1:]:
            other = t.fixed(number)
            better = apply(t, name, (other, best), span)
            rule = t.rule("add", (best, other), span)
            x, y = (types.converted(each, rule.result, span) for each in (other, best))
            best = Number(op("where", better.expr, x, y), rule.origin, span)
        return best

    return extreme


def _rounded(t: Translation, numbers: Sequence[Number], span: Any) -> Number:
    """C's `round`: halves away from zero."""
    (x,) = numbers
    real = x if x.dtype.is_float else convert(x, FLOAT64, span)
    half = Number(const(0.5, real.dtype), "numpy", span)
    size = apply(t, "absolute", (real,), span)
    whole = apply(t, "floor", (size,), span)
    rest = apply(t, "subtract", (size, whole), span)
    up = apply(t, "less_equal", (half, rest), span)
    step = convert(up, real.dtype, span)
    total = apply(t, "add", (whole, step), span)
    return apply(t, "copysign", (total, real), span)


def _rsqrt(t: Translation, numbers: Sequence[Number], span: Any) -> Number:
    root = apply(t, "sqrt", numbers, span)
    one = Number(const(1.0, root.dtype), "numpy", span)
    return apply(t, "divide", (one, root), span)


def _remainder(t: Translation, numbers: Sequence[Number], span: Any) -> Number:
    """IEEE's remainder: `x - y * rint(x / y)`, from the exact `fmod`."""
    x, y = (convert(each, FLOAT64, span) for each in numbers)
    size = t.fixed(apply(t, "absolute", (y,), span))
    rest = t.fixed(apply(t, "fmod", (x, y), span))
    far = apply(t, "add", (apply(t, "absolute", (rest,), span),) * 2, span)
    quotient = apply(t, "divide", (apply(t, "subtract", (x, rest), span), size), span)
    odd = apply(t, "not_equal", (apply(t, "fmod", (quotient, _two(span)), span), _zero(span)), span)
    more = apply(t, "greater", (far, size), span)
    tie = apply(t, "equal", (far, size), span)
    beyond = apply(t, "bitwise_or", (more, apply(t, "bitwise_and", (tie, odd), span)), span)
    step = apply(t, "copysign", (size, rest), span)
    taken = apply(t, "multiply", (convert(beyond, FLOAT64, span), step), span)
    return apply(t, "subtract", (rest, taken), span)


def _two(span: Any) -> Number:
    return Number(const(2.0, FLOAT64), "numpy", span)


def _zero(span: Any) -> Number:
    return Number(const(0.0, FLOAT64), "numpy", span)


def _power(t: Translation, numbers: Sequence[Number], span: Any) -> Number:
    return combine(t, "power", numbers[0], numbers[1], span)


_SPECIAL: dict[str, Callable[..., Number]] = {
    "degrees": _scaled(180.0 / math.pi),
    "radians": _scaled(math.pi / 180.0),
    "abs": _absolute,
    "min": _extreme("less"),
    "max": _extreme("greater"),
    "round": _rounded,
    "rsqrt": _rsqrt,
    "remainder": _remainder,
    "pow": _power,
    "conj": lambda t, numbers, span: complexes.conjugate(numbers[0], span),
    "positive": lambda t, numbers, span: numbers[0],
    "negative": lambda t, numbers, span: apply(t, "negative", numbers, span),
    "mod": lambda t, numbers, span: combine(t, "remainder", numbers[0], numbers[1], span),
    "nan": lambda t, numbers, span: Number(const(math.nan, FLOAT64), "numpy", span),
}


def row_of(name: str) -> Row:
    """The row of one of C's functions."""
    return lambda t, node, values: _math(t, node, values, name)
