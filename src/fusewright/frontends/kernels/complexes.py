"""Complex numbers: their parts, and what CPython and NumPy's scalars make of `*`, `/` and `**`.

Their products are rounded part by part, with no fused step, so they are spelled out here in real
operations.  Sums, signs and comparisons are single operations on complex values.
"""

from __future__ import annotations

from collections.abc import Callable

from fusewright.base.errors import KernelError
from fusewright.base.source import Span
from fusewright.frontends.kernels.values import Number
from fusewright.ir.dtypes import BOOL, DType, component
from fusewright.ir.expr import Expr, cast, const, op, typed_op

OPERATIONS = frozenset(
    {"add", "subtract", "negative", "positive", "conjugate", "absolute", "equal", "not_equal",
     "isnan", "isinf", "isfinite", "exp", "multiply", "divide"}
)  # fmt: skip
"""What kernels compute of complex numbers."""


def joined(real: Expr, imaginary: Expr, dtype: DType) -> Expr:
    """`complex(real, imaginary)`."""
    return typed_op("complex", dtype, real, imaginary)


def parts(value: Expr) -> tuple[Expr, Expr]:
    """The real and the imaginary part."""
    real = component(value.dtype)
    if value.name == "complex":
        return value.args[0], value.args[1]
    if value.name == "const":
        return const(value.attr.real, real), const(value.attr.imag, real)
    if value.name == "cast" and not value.args[0].dtype.is_complex:
        return cast(value.args[0], real), const(0.0, real)
    return typed_op("real", real, value), typed_op("imag", real, value)


def part(number: Number, name: str, span: Span) -> Number:
    """`z.real` or `z.imag`, of a real number too."""
    expr = number.expr
    if expr.dtype.is_complex:
        return Number(parts(expr)[name == "imag"], number.origin, span)
    if expr.dtype is BOOL:
        raise KernelError(f"`.{name}` of a bool", span, help="convert it with int(...)")
    return number if name == "real" else Number(const(0, expr.dtype), number.origin, span)


def conjugate(number: Number, span: Span) -> Number:
    """`z.conjugate()`; a real number is its own."""
    if not number.dtype.is_complex:
        return number
    return Number(typed_op("conjugate", number.dtype, number.expr), number.origin, span)


def product(a: Expr, b: Expr) -> Expr:
    """`a * b`."""
    (x, y), (u, v) = parts(a), parts(b)
    real = op("subtract", op("multiply", x, u), op("multiply", y, v))
    return joined(real, op("add", op("multiply", x, v), op("multiply", y, u)), a.dtype)


def numpy_quotient(a: Expr, b: Expr) -> Expr:
    """`a / b` of NumPy's scalars, which is that of its arrays."""
    return op("divide", a, b)


def python_quotient(a: Expr, b: Expr) -> Expr:
    """`a / b` of Python's numbers: Smith's algorithm with two divisions by the denominator; for a
    divisor of 0, where Python raises, what NumPy gives.
    """
    (x, y), (u, v) = parts(a), parts(b)
    wide = op("less_equal", op("absolute", v), op("absolute", u))
    most, least = op("where", wide, u, v), op("where", wide, v, u)
    ratio = op("divide", least, most)
    below = op("add", most, op("multiply", least, ratio))
    first, second = op("where", wide, x, y), op("where", wide, y, x)
    real = op("divide", op("add", first, op("multiply", second, ratio)), below)
    across = op("subtract", y, op("multiply", x, ratio))
    over = op("subtract", op("multiply", y, ratio), x)
    imaginary = op("divide", op("where", wide, across, over), below)
    nothing = op("equal", b, const(0, b.dtype))
    return op("where", nothing, op("divide", a, b), joined(real, imaginary, a.dtype))


def quotient(origin: str, span: Span) -> Callable[[Expr, Expr], Expr]:
    """How numbers of an origin divide."""
    if origin == "either":
        raise KernelError(
            "a complex quotient of what is Python's number on one path and NumPy's on another",
            span,
            why="they round it differently",
            help="make it one: complex(z), or np.complex128(z)",
        )
    return python_quotient if origin == "python" else numpy_quotient


def power(base: Expr, exponent: object, origin: str, span: Span) -> Expr:
    """`z ** 2` and `z ** 3`: products, in the order in which both multiply."""
    if type(exponent) is not int or exponent not in (2, 3) or origin == "either":
        raise KernelError(
            "a complex number to a power other than the literals 2 and 3",
            span,
            why="it is computed by logarithms, which kernels do not have for complex numbers",
            help="multiply it out",
        )
    square = product(base, base)
    if origin == "python":  # by squaring, from 1 on
        one = const(1, base.dtype)
        return product(one, square) if exponent == 2 else product(product(one, base), square)
    return square if exponent == 2 else product(base, square)
