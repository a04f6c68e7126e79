"""Complex numbers: their parts, and what CPython and NumPy's scalars make of `*`, `/` and `**`.

Their products are rounded part by part, with no fused step, so they are spelled out here in real
operations.  Sums, signs and comparisons are single operations on complex values.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.frontends.kernels.values import Number
from fusewright.ir.dtypes import BOOL, COMPLEX128, FLOAT64, DType, component
from fusewright.ir.expr import Expr, cast, const, op, typed_op

OPERATIONS = frozenset(
    {"add", "subtract", "negative", "positive", "conjugate", "absolute", "equal", "not_equal",
     "isnan", "isinf", "isfinite", "exp", "log", "sqrt", "multiply", "divide"}
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
        raise KernelTypeError(f"`.{name}` of a bool", span, help="convert it with int(...)")
    return number if name == "real" else Number(const(0, expr.dtype), number.origin, span)


def conjugate(number: Number, span: Span) -> Number:
    """`z.conjugate()`; a real number is its own."""
    if not number.dtype.is_complex:
        return number
    return Number(typed_op("conjugate", number.dtype, number.expr), number.origin, span)


def angle(z: Expr) -> Expr:
    """`cmath.phase(z)`."""
    x, y = parts(z)
    return op("arctan2", y, x)


def numpy_angle(number: Number, span: Span) -> Number:
    """`np.angle(z)`, of a real number too."""
    z = number.expr
    if not z.dtype.is_complex:
        z = cast(z, z.dtype if z.dtype.is_float else FLOAT64)
        return Number(op("arctan2", const(0.0, z.dtype), z), "numpy", span)
    return Number(angle(z), "numpy", span)


def has_imaginary(wanted: bool) -> Callable[[Number, Span], Number]:
    """`np.iscomplex(z)`, or `np.isreal(z)`: whether its imaginary part is not 0, or is."""
    name = "not_equal" if wanted else "equal"

    def test(number: Number, span: Span) -> Number:
        if not number.dtype.is_complex:
            return Number(const(not wanted, BOOL), "numpy", span)
        imaginary = parts(number.expr)[1]
        return Number(op(name, imaginary, const(0.0, imaginary.dtype)), "numpy", span)

    return test


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
        raise KernelTypeError(
            "a complex quotient of what is Python's number on one path and NumPy's on another",
            span,
            why="they round it differently",
            help="make it one: complex(z), or np.complex128(z)",
        )
    return python_quotient if origin == "python" else numpy_quotient


MOST = {"python": 100, "numpy": 99}
"""The greatest power that is multiplied out; beyond it both compute by logarithms."""


def power(base: Expr, exponent: object, origin: str, span: Span) -> Expr:
    """`z ** n`: products, in the order in which CPython and NumPy multiply."""
    whole = isinstance(exponent, int | float) and exponent == exponent // 1
    if not whole or origin == "either" or abs(exponent) > MOST[origin]:  # type: ignore[arg-type]
        raise _no_power(exponent, origin, span)
    n = int(exponent)  # type: ignore[call-overload]
    return _python_power(base, n) if origin == "python" else _numpy_power(base, n)


def _no_power(exponent: object, origin: str, span: Span) -> KernelTypeError:
    if origin == "either":
        return KernelTypeError(
            "a power of what is Python's complex number on one path and NumPy's on another",
            span,
            why="they multiply in another order",
            help="make it one: complex(z), or np.complex128(z)",
        )
    return KernelTypeError(
        f"a complex number to a power other than a whole literal up to {MOST[origin]}",
        span,
        why="Python and NumPy compute it by functions of the C library, to its last bits",
        help="write the root with cmath.sqrt(z)"
        if exponent == 0.5
        else "write cmath.exp(w * cmath.log(z)) for z ** w, or multiply in a loop",
    )


def _python_power(base: Expr, n: int) -> Expr:
    one = const(1, base.dtype)
    found = _squared_up(base, abs(n))
    return found if n > 0 else python_quotient(one, found)


def _numpy_power(base: Expr, n: int) -> Expr:
    """A zero to a power above 0 is the positive one, below 0 not a number."""
    if n == 0:
        return const(1, base.dtype)
    found = _SHORT[n](base) if n in _SHORT else _squared_up(base, abs(n))
    if n < 0:
        found = numpy_quotient(const(1, base.dtype), found)
    of_zero = const(0 if n > 0 else complex(math.nan, math.nan), base.dtype)
    return op("where", op("equal", base, const(0, base.dtype)), of_zero, found)


_SHORT: dict[int, Callable[[Expr], Expr]] = {
    1: lambda z: z,
    2: lambda z: product(z, z),
    3: lambda z: product(z, product(z, z)),
}
"""NumPy's powers that do not begin with 1."""


def _squared_up(base: Expr, n: int) -> Expr:
    """By squaring, from 1 on: what 1 times an infinity gives belongs to it."""
    found = const(1, base.dtype)
    while n:
        if n & 1:
            found = product(found, base)
        n >>= 1
        base = product(base, base)
    return found


def rect(r: Expr, turn: Expr) -> Expr:
    """`cmath.rect(r, turn)`.  No turn leaves the second part the zero that the signs give, and
    a length of 0 is 0 in whatever direction; an endless one in no direction is still endless.
    """
    nothing, straight = op("equal", r, _ZERO), op("equal", turn, _ZERO)
    cos, sin = (op("multiply", r, op(name, turn)) for name in ("cos", "sin"))
    aimless = op("logical_not", typed_op("isfinite", BOOL, turn))
    lost = op("logical_and", aimless, typed_op("isinf", BOOL, r))
    real = op("where", straight, r, op("where", lost, const(math.inf, FLOAT64), cos))
    still = op("multiply", turn, op("copysign", const(1.0, FLOAT64), r))
    still = op("where", typed_op("isnan", BOOL, r), _ZERO, still)
    imaginary = op("where", straight, still, sin)
    gone = op("logical_and", aimless, nothing)
    first, second = (op("where", gone, _ZERO, part) for part in (real, imaginary))
    return joined(first, second, COMPLEX128)


_ZERO = const(0.0, FLOAT64)
