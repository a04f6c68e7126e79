"""How numbers meet in C++: the usual arithmetic conversions.

C's `int` is held in 64 bits (a Python int of the kernel language): that is seen only where 32 bits
overflow, which C++ leaves undefined.  An element of an int32 view stays int32.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from fusewright.base.errors import KernelError
from fusewright.base.source import Span
from fusewright.frontends.kernels import types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.operators import apply, combine_numbers
from fusewright.frontends.kernels.types import Rule
from fusewright.frontends.kernels.values import Number, describe
from fusewright.ir.dtypes import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT32,
    UINT64,
    DType,
    component,
)
from fusewright.ir.expr import COMPARISONS, Expr, cast, const, op, typed_op

INT = "int"
Kind = DType | str
_RANK: dict[Kind, int] = {INT: 1, INT32: 1, UINT32: 2, INT64: 3, UINT64: 4}
_BITWISE = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor"})
_SHIFTS = frozenset({"left_shift", "right_shift"})
_TESTS = frozenset({"isnan", "isinf", "isfinite", "signbit"})
_INTEGRAL = frozenset({"add", "subtract", "multiply", "absolute", "negative", "positive"})


def kind_of(number: Number) -> Kind:
    """The C type of a number."""
    return INT if number.dtype is INT64 and number.origin == "python" else number.dtype


def promoted(kind: Kind) -> Kind:
    """Types narrower than int become int."""
    if isinstance(kind, str) or kind in _RANK or kind.is_float or kind.is_complex:
        return kind
    return INT


def common(kinds: list[Kind]) -> Kind:
    """The type in which several meet."""
    if any(isinstance(kind, DType) and kind.is_complex for kind in kinds):
        parts = {component(kind) for kind in kinds if isinstance(kind, DType)}
        return COMPLEX128 if FLOAT64 in parts else COMPLEX64
    if any(kind is FLOAT64 for kind in kinds):
        return FLOAT64
    if any(isinstance(kind, DType) and kind.is_float for kind in kinds):
        return FLOAT32
    wide = [promoted(kind) for kind in kinds]
    best = max(wide, key=lambda kind: _RANK[kind])
    return INT if _RANK[best] == 1 and INT in wide else best


def held(kind: Kind) -> DType:
    """What a C type is computed in."""
    return INT64 if isinstance(kind, str) else kind


def _result(kind: Kind, count: int, result: DType | None = None) -> Rule:
    dtype = held(kind)
    python = isinstance(kind, str) or result is BOOL
    return Rule((dtype,) * count, result or dtype, "python" if python else "numpy")


def rule(name: str, operands: tuple[Number, ...], span: Span) -> Rule:
    """What an operation computes in; see `types.rule_of`."""
    kinds = [_near(number, operands) for number in operands]
    count = len(kinds)
    if any(number.dtype.is_complex for number in operands):
        return _complex_rule(name, common(kinds), count)
    if name in COMPARISONS:
        return _result(common(kinds), count, BOOL)
    if name in _BITWISE or name in _SHIFTS or name == "invert":
        if any(isinstance(kind, DType) and kind.is_float for kind in kinds):
            words = " and ".join(map(describe, operands))
            raise KernelError(f"{name} of {words}", span, why="C++ has it for integers only")
        if set(kinds) == {BOOL} and name in _BITWISE:
            return _result(BOOL, count, BOOL)
        return _result(promoted(kinds[0]) if name in _SHIFTS else common(kinds), count)
    if name in _INTEGRAL:
        return _result(promoted(kinds[0]) if count == 1 else common(kinds), count)
    if name == "logical_not":
        return _result(BOOL, count, BOOL)
    real = FLOAT32 if all(kind is FLOAT32 for kind in kinds) else FLOAT64
    return _result(real, count, BOOL if name in _TESTS else None)


def _complex_rule(name: str, kind: Kind, count: int) -> Rule:
    wide = held(kind)
    if name in COMPARISONS:
        return _result(wide, count, BOOL)
    return _result(wide, count, component(wide) if name == "absolute" else None)


def _near(number: Number, operands: tuple[Number, ...]) -> Kind:
    """The C type; a literal beside an int32 element is int32 if it fits."""
    kind = kind_of(number)
    small = isinstance(number.literal, int) and number.literal in types.RANGES[INT32]
    beside = any(kind_of(other) is INT32 for other in operands)
    return INT32 if kind == INT and small and beside else kind


def as_int(expr: Expr) -> Expr:
    """C's conversion to int, held in 64 bits."""
    if expr.dtype in (INT64, UINT64, UINT32):
        return cast(cast(expr, INT32), INT64)
    return cast(expr, INT64)


def convert(number: Number, kind: Kind, span: Span) -> Number:
    """A number converted to a C type, as by an assignment."""
    if number.dtype.is_complex and kind is not BOOL:
        dtype = held(kind)  # a real one is refused
        return Number(types.converted(number, dtype, span), "numpy", span)
    if kind == INT:
        if kind_of(number) == INT:
            return Number(number.expr, "python", span)
        if isinstance(number.literal, float):
            return types.literal(int(number.literal), span)
        return Number(as_int(number.expr), "python", span)
    assert isinstance(kind, DType)
    if kind is BOOL:
        zero = const(0, number.dtype)
        expr = number.expr if number.dtype is BOOL else op("not_equal", number.expr, zero)
        return Number(expr, "python", span)
    literal = number.literal
    if isinstance(literal, bool | int) and kind.is_integer:
        bits = 8 * kind.itemsize
        wrapped = int(literal) & (2**bits - 1)
        if kind.kind == "i" and wrapped >= 2 ** (bits - 1):
            wrapped -= 2**bits
        return Number(const(wrapped, kind), "numpy", span)
    if isinstance(literal, float) and kind.is_integer:
        return Number(const(int(literal), kind), "numpy", span)
    return Number(types.converted(number, kind, span), "numpy", span)


_FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def combine(t: Translation, name: str, a: Number, b: Number, span: Span) -> Number:
    """What an arithmetic operator makes of two numbers."""
    if a.literal is not None and b.literal is not None and name in _FOLDED:
        return types.literal(_FOLDED[name](a.literal, b.literal), span)
    if a.dtype.is_complex or b.dtype.is_complex:
        return combine_numbers(t, name, a, b, span)
    if name in ("floor_divide", "remainder"):
        return _divided(t, name, a, b, span)
    if name == "power":
        return power(t, a, b, span)
    if name == "divide":
        double = [convert(each, FLOAT64, span) for each in (a, b)]
        return apply(t, "divide", double, span)
    return apply(t, name, (a, b), span)


def _divided(t: Translation, name: str, a: Number, b: Number, span: Span) -> Number:
    """Towards zero; `//` is converted to int, whatever the operands."""
    kind = common([kind_of(a), kind_of(b)])
    dtype = held(kind)
    x, y = (convert(each, kind, span).expr for each in (a, b))
    origin: Any = "python" if kind == INT else "numpy"
    if dtype.is_float:
        if name == "remainder":
            return apply(t, "fmod", (a, b), span)
        return convert(Number(typed_op("divide", dtype, x, y), "numpy", span), INT, span)
    if y.name == "const" and y.attr == 0:
        raise KernelError("division by zero", span, why="C++ leaves it undefined")
    if t.settings.check and y.name != "const":
        t.check(op("not_equal", y, const(0, dtype)), "division", "division by zero", (), span)
    rest = typed_op("fmod", dtype, x, y)
    if name == "remainder":
        return Number(rest, origin, span)
    whole = typed_op("floor_divide", dtype, op("subtract", x, rest), y)
    return convert(Number(whole, origin, span), INT, span)


def power(t: Translation, a: Number, b: Number, span: Span) -> Number:
    """`pow(a, b)`: integers are computed as doubles, a small literal exponent is multiplied out."""
    whole = b.literal if isinstance(b.literal, int) and not isinstance(b.literal, bool) else None
    base = a if a.dtype in (FLOAT32, FLOAT64) else convert(a, FLOAT64, span)
    if whole is not None and 1 <= whole <= 4 and base.dtype is FLOAT64:
        base = t.fixed(base)
        product = base
        for _ in range(whole - 1):
            product = apply(t, "multiply", (product, base), span)
        return product
    found = apply(t, "power", (base, b), span)
    if a.dtype.is_integer and b.dtype.is_integer:
        return Number(_exact(found.expr), "numpy", span)
    return found


def _exact(expr: Expr) -> Expr:
    """A power of integers that is near an integer is one: C's `pow` is exact there."""
    near = op("rint", expr)
    distance = op("absolute", op("subtract", expr, near))
    close = op("less", distance, op("multiply", op("absolute", near), const(1e-14, FLOAT64)))
    small = op("less", op("absolute", near), const(2.0**53, FLOAT64))
    return op("where", op("logical_and", close, small), near, expr)
