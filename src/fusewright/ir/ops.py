"""The ops, one row each: what an element-wise, a reducing or a scanning operation means.

`MAP` holds the element-wise functions a front end records.  Their meaning and dtype rules are
NumPy's: `meaning` is called by the reference target, and where it is a ufunc, its `resolve_dtypes`
is the dtype rule (NEP 50 included).

`PRIMITIVE` holds the scalar ops that every target spells.  `rules.decompose` rewrites the other
names of `MAP` into them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

Meaning = Callable[..., Any]


class Check(NamedTuple):
    """An op that raises for some values: those of the operand at `place`, where that is of a signed
    integer type and so is the loop's, must not be `wrong`.
    """

    place: int
    wrong: Callable[[Any], bool]
    message: str
    help: str


class Op(NamedTuple):
    """`cost` is in units of one vector add; `check` says which values are refused.

    `exact`: NumPy computes it to the bits of compiled code, for real types; `exact_parts`: for
    complex ones too, part by part.
    """

    name: str
    arity: int
    meaning: Meaning
    cost: int = 1
    check: Check | None = None
    exact: bool = False
    exact_parts: bool = False


@cache
def _libm(name: str) -> Callable[[float], float]:
    from ctypes.util import find_library  # slow to import, and only the reference needs it

    function = getattr(ctypes.CDLL(find_library("m")), name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    called: Callable[[float], float] = function
    return called


def _special(name: str) -> Meaning:
    """C's function, for every element: NumPy lacks it.  Integers give the type `exp` gives."""

    def meaning(x: Any) -> Any:
        dtype = np.result_type(np.asarray(x).dtype, np.float16)
        return np.vectorize(_libm(name), otypes=[dtype])(x)

    return meaning


def _complex(real: Any, imaginary: Any) -> Any:
    """Complex numbers of these parts, to the bit (`x + 1j * y` computes with both)."""
    real, imaginary = np.broadcast_arrays(real, imaginary)
    found = np.empty(real.shape, np.result_type(real, np.complex64))
    found.real, found.imag = real, imaginary
    return found


def _conjugate(x: Any) -> Any:
    return np.conjugate(x)


NO_NEGATIVE_POWERS = Check(
    1,
    lambda exponents: bool(np.size(exponents) and np.min(exponents) < 0),
    "Integers to negative integer powers are not allowed.",
    "convert the base to float first",
)
MAP: dict[str, Op] = {
    row.name: row
    for row in (
        Op("add", 2, np.add, exact=True, exact_parts=True),
        Op("subtract", 2, np.subtract, exact=True, exact_parts=True),
        Op("multiply", 2, np.multiply, exact=True),
        Op("divide", 2, np.true_divide, 4, exact=True),
        Op("floor_divide", 2, np.floor_divide, 8),
        Op("remainder", 2, np.remainder, 8),
        Op("fmod", 2, np.fmod, 8),
        Op("power", 2, np.power, 40, NO_NEGATIVE_POWERS),
        Op("float_power", 2, np.float_power, 40),
        Op("negative", 1, np.negative, exact=True, exact_parts=True),
        Op("positive", 1, np.positive, 0, exact=True, exact_parts=True),
        Op("absolute", 1, np.absolute, exact=True),
        Op("fabs", 1, np.fabs),
        Op("sign", 1, np.sign, 2),
        Op("reciprocal", 1, np.reciprocal, 4),
        Op("square", 1, np.square, exact=True),
        Op("sqrt", 1, np.sqrt, 6, exact=True),
        Op("cbrt", 1, np.cbrt, 30),
        Op("exp", 1, np.exp, 15),
        Op("exp2", 1, np.exp2, 15),
        Op("expm1", 1, np.expm1, 20),
        Op("log", 1, np.log, 20),
        Op("log2", 1, np.log2, 20),
        Op("log10", 1, np.log10, 20),
        Op("log1p", 1, np.log1p, 25),
        Op("logaddexp", 2, np.logaddexp, 40),
        Op("logaddexp2", 2, np.logaddexp2, 40),
        Op("sin", 1, np.sin, 25),
        Op("cos", 1, np.cos, 25),
        Op("tan", 1, np.tan, 35),
        Op("arcsin", 1, np.arcsin, 30),
        Op("arccos", 1, np.arccos, 30),
        Op("arctan", 1, np.arctan, 25),
        Op("arctan2", 2, np.arctan2, 30),
        Op("sinh", 1, np.sinh, 30),
        Op("cosh", 1, np.cosh, 30),
        Op("tanh", 1, np.tanh, 30),
        Op("arcsinh", 1, np.arcsinh, 40),
        Op("arccosh", 1, np.arccosh, 40),
        Op("arctanh", 1, np.arctanh, 40),
        Op("hypot", 2, np.hypot, 12),
        Op("erf", 1, _special("erf"), 40),
        Op("erfc", 1, _special("erfc"), 50),
        Op("gamma", 1, _special("tgamma"), 120),
        Op("lgamma", 1, _special("lgamma"), 150),
        Op("j0", 1, _special("j0"), 120),
        Op("j1", 1, _special("j1"), 120),
        Op("maximum", 2, np.maximum, 2, exact=True),
        Op("minimum", 2, np.minimum, 2, exact=True),
        Op("fmax", 2, np.fmax, 2),
        Op("fmin", 2, np.fmin, 2),
        Op("floor", 1, np.floor, exact=True),
        Op("ceil", 1, np.ceil, exact=True),
        Op("trunc", 1, np.trunc, exact=True),
        Op("rint", 1, np.rint, exact=True),
        Op("equal", 2, np.equal, exact=True),
        Op("not_equal", 2, np.not_equal, exact=True),
        Op("less", 2, np.less, exact=True),
        Op("less_equal", 2, np.less_equal, exact=True),
        Op("greater", 2, np.greater, exact=True),
        Op("greater_equal", 2, np.greater_equal, exact=True),
        Op("logical_and", 2, np.logical_and, exact=True),
        Op("logical_or", 2, np.logical_or, exact=True),
        Op("logical_xor", 2, np.logical_xor, exact=True),
        Op("logical_not", 1, np.logical_not, exact=True),
        Op("bitwise_and", 2, np.bitwise_and, exact=True),
        Op("bitwise_or", 2, np.bitwise_or, exact=True),
        Op("bitwise_xor", 2, np.bitwise_xor, exact=True),
        Op("invert", 1, np.invert, exact=True),
        Op("left_shift", 2, np.left_shift, 2),
        Op("right_shift", 2, np.right_shift, 2),
        Op("bitwise_count", 1, np.bitwise_count, 4),
        Op("isnan", 1, np.isnan, exact=True),
        Op("isinf", 1, np.isinf, exact=True),
        Op("isfinite", 1, np.isfinite, exact=True),
        Op("signbit", 1, np.signbit, exact=True),
        Op("copysign", 2, np.copysign, exact=True),
        Op("nextafter", 2, np.nextafter, 6),
        Op("heaviside", 2, np.heaviside, 3),
        Op("deg2rad", 1, np.deg2rad),
        Op("rad2deg", 1, np.rad2deg),
        Op("conjugate", 1, _conjugate),
        Op("real", 1, np.real, 0),
        Op("imag", 1, np.imag, 0),
        Op("complex", 2, _complex, 0),
        Op("where", 3, np.where, exact=True),
        Op("cast", 1, lambda x: x, 1, exact=True),
    )
}
"""`where` and `cast` take their dtypes from the node; `real`, `imag` give the component type."""
EXACT = frozenset(row.name for row in MAP.values() if row.exact)
EXACT_PARTS = frozenset(row.name for row in MAP.values() if row.exact_parts)

SPECIAL = frozenset({"erf", "erfc", "gamma", "lgamma", "j0", "j1"})
"""Functions that NumPy lacks: their dtypes are those of `exp`, real ones only."""
PUBLIC = {"lgamma": "gammaln"}
"""Which of them users know by another name: that of `scipy.special`."""
PUBLIC_SPECIAL = {PUBLIC.get(name, name): name for name in SPECIAL}
"""The operation of each name that users know."""


class Fold(NamedTuple):
    """A reduction or scan: how two values combine and what an empty one is (`None`: empty is an
    error).
    """

    name: str
    combine: str
    identity: Any
    meaning: Meaning


REDUCE: dict[str, Fold] = {
    row.name: row
    for row in (
        Fold("sum", "add", 0, np.add.reduce),
        Fold("prod", "multiply", 1, np.multiply.reduce),
        Fold("min", "minimum", None, np.minimum.reduce),
        Fold("max", "maximum", None, np.maximum.reduce),
        Fold("any", "logical_or", False, np.logical_or.reduce),
        Fold("all", "logical_and", True, np.logical_and.reduce),
    )
}
SCAN: dict[str, Fold] = {
    row.name: row
    for row in (
        Fold("cumsum", "add", 0, np.add.accumulate),
        Fold("cumprod", "multiply", 1, np.multiply.accumulate),
        Fold("cummax", "maximum", None, np.maximum.accumulate),
        Fold("cummin", "minimum", None, np.minimum.accumulate),
    )
}

PRIMITIVE: dict[str, str] = {
    "add": "sum; integers wrap",
    "subtract": "difference; integers wrap",
    "multiply": "product; integers wrap",
    "divide": "IEEE quotient (floats only)",
    "tdiv": "integer quotient rounded towards zero; "
    "the divisor is neither 0 nor (with the least integer) -1",
    "trem": "integer remainder with the dividend's sign; divisor as for tdiv",
    "negative": "minus; integers wrap; floats flip the sign bit",
    "absolute": "magnitude; the least integer stays itself",
    "fma": "a * b + c rounded once (floats only)",
    "ldexp": "the first times 2**n, rounded once; "
    "n is a whole float, |n| <= 1100 (float64) or 160 (float32)",
    "exponent": "k of x = m * 2**k, 0.75 <= m < 1.5, as a float; "
    "any value where x is not positive and finite",
    "fraction": "m of that",
    "sqrt": "IEEE square root",
    "floor": "towards minus infinity (floats)",
    "ceil": "towards infinity (floats)",
    "trunc": "towards zero (floats)",
    "rint": "to nearest, ties to even (floats)",
    "copysign": "magnitude of the first, sign bit of the second (floats)",
    "equal": "IEEE; false with NaN",
    "not_equal": "IEEE; true with NaN",
    "less": "IEEE; false with NaN; signed or unsigned as the dtype says; false < true",
    "less_equal": "likewise",
    "bitwise_and": "integers and bools",
    "bitwise_or": "integers and bools",
    "bitwise_xor": "integers and bools",
    "invert": "all bits (integers), not (bools)",
    "shl": "left shift, 0 <= amount < bits",
    "shr": "right shift, 0 <= amount < bits; arithmetic for signed, logical for unsigned",
    "popcount": "number of one bits, in the operand's dtype",
    "sin_far": "the second operand where |first| < decompose.trigonometric.FAR, "
    "else the sine of the first",
    "cos_far": "likewise the cosine",
    "tan_far": "likewise the tangent",
    "fmod_far": "the third operand where it is no NaN, "
    "else the exact remainder of the first by the second (C's fmod)",
    "hypot_far": "of x, y, x**2 + y**2 and its root: "
    "the last where the square is an ordinary number, else the length of (x, y)",
    "length_below_far": "of x, y, x**2 + y**2, c, b, t: t where neither the square nor b is NaN, "
    "else whether the length of (x, y) is less than c; b and c are the same in all lanes",
    "length_at_most_far": "likewise less or equal",
    "length_above_far": "likewise greater",
    "length_at_least_far": "likewise greater or equal",
    "where": "the second operand where the first (bool) is true, else the third",
    "cast": "C conversion; out-of-range float to integer gives what x86's cvtt instructions give; "
    "NaN is true; bool is 0/1",
    "bitcast": "the bits, as another dtype of the same size",
}


def complex_expm1(x: Any) -> Any:
    """NumPy's `expm1`, at zero and where a part is not finite as the array API standard has it
    (C's `cexp` less one): NumPy gives NaN or the other zero there.
    """
    x = np.asarray(x)
    with np.errstate(all="ignore"):
        made = np.asarray(np.expm1(x))
        odd = ~np.isfinite(x) | (x == 0)
        if odd.any():
            special = np.where(x == 0, x.imag * 1j, np.exp(x) - x.dtype.type(1))
            made = np.where(odd, special, made)
    return made.astype(x.dtype, copy=False)[()]


COMPLEX = {"expm1": complex_expm1}
"""Meanings for complex numbers that are not NumPy's own."""


def loop_dtypes(name: str, operands: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
    """The dtypes NumPy computes in: one for each operand, then the result's.

    `operands` holds an `np.dtype` for an array and `int`, `float` or `complex` (the type) for a
    Python scalar, which is weak (NEP 50).  Raises `TypeError` (NumPy's `UFuncTypeError`) where
    NumPy has no loop.
    """
    ufunc = MAP[name].meaning
    if not isinstance(ufunc, np.ufunc):
        raise TypeError(f"{name} has no ufunc: its front end decides the dtypes")
    resolved: tuple[np.dtype[Any], ...] = ufunc.resolve_dtypes((*operands, None))
    return resolved
