"""Which number types meet and what comes out: Python's rules among Python's numbers, NumPy's (NEP
50) as soon as an element of an array is in it.

A variable that holds a Python number on one path and a NumPy scalar on another is `either`: it may
be used wherever both mean the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels.values import Number, Origin, describe, described
from fusewright.ir import dtypes, ops
from fusewright.ir.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, UINT64, DType
from fusewright.ir.expr import COMPARISONS, Expr, cast, const

Kind = DType | type
_WEAK: dict[DType, type] = {INT64: int, UINT64: int, FLOAT64: float, COMPLEX128: complex}
_BITWISE = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor"})
INT_RANGE = range(-(2**63), 2**63)
RANGES = {
    d: range(int(np.iinfo(d.numpy).min), int(np.iinfo(d.numpy).max) + 1)
    for d in dtypes.ALL
    if d.is_integer
}


@dataclass(frozen=True, slots=True)
class Rule:
    """What an operation computes in, what comes out, and whose number that is."""

    loop: tuple[DType, ...]
    result: DType
    origin: Origin


def kinds_of(number: Number) -> list[Kind]:
    """What CPython may hold: a weak type (int, float), a NumPy dtype, or one of both."""
    weak: Kind = _WEAK.get(number.dtype, number.dtype)
    if number.origin == "python":
        return [weak if number.dtype is not BOOL else bool]
    strong: Kind = number.dtype
    if number.origin == "either":
        return [strong, weak if number.dtype is not BOOL else bool]
    return [strong]


def rule_of(name: str, operands: tuple[Number, ...], span: Span) -> Rule:
    """The rule of an operation, the same on every path; a `KernelTypeError` where there is none."""
    found: list[Rule] = []
    for kinds in _combinations([kinds_of(operand) for operand in operands]):
        rule = _rule(name, kinds)
        if rule is None:
            raise KernelTypeError(
                f"{name} is not defined for {' and '.join(map(describe, operands))}",
                span,
                why="neither Python nor NumPy computes it for these types",
                help="convert an operand, as in float(x) or np.float64(x)",
            )
        found.append(rule)
    first = found[0]
    if any((rule.loop, rule.result) != (first.loop, first.result) for rule in found):
        mixed = next(operand for operand in operands if operand.origin == "either")
        raise KernelTypeError(
            f"the type of {name} depends on the path taken",
            span,
            why=f"an operand is a Python {_plain(mixed.dtype)} on one path and a NumPy "
            f"{mixed.dtype} on another, and they promote differently",
            help=f"make it one: np.{mixed.dtype}(x), or {_plain(mixed.dtype)}(x)",
        )
    if name in COMPARISONS:  # by value, also with a literal of 2**63 and more
        wide = zip(first.loop, operands, strict=True)
        loop = tuple(UINT64 if o.dtype is UINT64 and d is INT64 else d for d, o in wide)
        first = Rule(loop, first.result, first.origin)
    origins = {rule.origin for rule in found}
    origin: Origin = first.origin if len(origins) == 1 else "either"
    return Rule(first.loop, first.result, origin)


def _plain(dtype: DType) -> str:
    plain = {INT64: "int", FLOAT64: "float", BOOL: "bool", COMPLEX128: "complex"}
    return plain.get(dtype, dtype.name)


def _combinations(choices: list[list[Kind]]) -> list[tuple[Kind, ...]]:
    rows: list[tuple[Kind, ...]] = [()]
    for choice in choices:
        rows = [(*row, kind) for row in rows for kind in choice]
    return rows


def _rule(name: str, kinds: tuple[Kind, ...]) -> Rule | None:
    if len(kinds) > 1 and all(isinstance(kind, type) for kind in kinds):
        return _python_rule(name, kinds)
    if kinds == (complex, FLOAT64):  # NumPy's float64 is a float to Python's complex numbers
        return _python_complex_rule(name)
    if name in COMPARISONS and _is_value_comparison(kinds):
        other = next(kind for kind in kinds if isinstance(kind, DType))
        wide = other if other is UINT64 else INT64
        loop = tuple(wide if isinstance(kind, DType) else INT64 for kind in kinds)
        return Rule(loop, BOOL, "numpy")
    spelled = tuple(
        kind.numpy if isinstance(kind, DType) else (BOOL.numpy if kind is bool else kind)
        for kind in kinds
    )
    try:
        *inputs, output = ops.loop_dtypes(name, spelled)
    except TypeError:
        return None
    rows = tuple(dtypes.from_numpy(dtype) for dtype in inputs)
    result = dtypes.from_numpy(output)
    if result is None or None in rows:
        return None
    return Rule(rows, result, "numpy")  # type: ignore[arg-type]


def _is_value_comparison(kinds: tuple[Kind, ...]) -> bool:
    """NumPy compares an integer with a Python int by value."""
    strong = [kind for kind in kinds if isinstance(kind, DType)]
    return int in kinds and len(strong) == 1 and strong[0].is_integer


def _python_rule(name: str, kinds: tuple[Kind, ...]) -> Rule | None:
    if complex in kinds:
        return _python_complex_rule(name)
    real = float in kinds
    if name in COMPARISONS:
        wide = FLOAT64 if real else INT64
        return Rule((wide,) * 2, BOOL, "python")
    if name in _BITWISE and set(kinds) == {bool}:
        return Rule((BOOL,) * 2, BOOL, "python")
    if name in _BITWISE or name in ("left_shift", "right_shift"):
        return None if real else Rule((INT64,) * 2, INT64, "python")
    if name == "divide":
        return Rule((FLOAT64,) * 2, FLOAT64, "python")
    wide = FLOAT64 if real else INT64
    return Rule((wide,) * len(kinds), wide, "python")


def _python_complex_rule(name: str) -> Rule | None:
    if name in ("equal", "not_equal"):
        return Rule((COMPLEX128,) * 2, BOOL, "python")
    if name in ("add", "subtract", "multiply", "divide", "power"):
        return Rule((COMPLEX128,) * 2, COMPLEX128, "python")
    return None


def literal(value: Any, span: Span) -> Number:
    """A Python bool, int, float or complex as a number; an int must fit 64 bits.  One of 2**63 and
    more is a uint64: it meets NumPy's, and nothing else takes it.
    """
    if isinstance(value, bool):
        return Number(const(value, BOOL), "python", span)
    if isinstance(value, int):
        value = int(value)  # a range looks through all its items for an `IntEnum`'s
        if value not in INT_RANGE and value not in RANGES[UINT64]:
            raise _too_large(value, span)
        dtype = INT64 if value in INT_RANGE else UINT64
        return Number(const(value, dtype), "python", span)
    if isinstance(value, complex):
        return Number(const(complex(value), COMPLEX128), "python", span)
    return Number(const(float(value), FLOAT64), "python", span)


def _too_large(value: int, span: Span) -> KernelTypeError:
    return KernelTypeError(
        f"the integer {value} does not fit 64 bits",
        span,
        why="Python's integers are int64 in a kernel",
        help="use np.uint64(...) for bits, a float, or a smaller number",
    )


def converted(number: Number, dtype: DType, span: Span) -> Expr:
    """The number in another dtype; a literal is converted here and must fit an integer type."""
    expr = number.expr
    if expr.dtype is dtype:
        return expr
    if expr.dtype.is_complex and not dtype.is_complex:
        raise KernelTypeError(
            f"{described(number)} where {_article(_plain(dtype))} is needed",
            span,
            why="Python refuses to drop the imaginary part (NumPy warns)",
            help="take .real, .imag or abs() of it",
        )
    if expr.name == "const":
        value = expr.attr
        if dtype.is_integer and isinstance(value, int) and int(value) not in RANGES[dtype]:
            raise KernelTypeError(
                f"Python integer {value} out of bounds for {dtype}",
                span,
                why=f"a Python integer takes the type of what it meets, and {dtype} ends at "
                f"{RANGES[dtype][-1]}",
                help="convert the other operand, as in np.int64(x)",
            )
        if not (dtype.is_integer and isinstance(value, float)):
            return const(value, dtype)
    return cast(expr, dtype)


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


@dataclass(frozen=True, slots=True)
class Held:
    """The type of a variable.  `literals` are its values while it has only been given literals:
    such a variable takes the type of what it is given next.
    """

    dtype: DType
    origin: Origin
    literals: frozenset[Any] | None
    span: Span

    def takes(self, number: Number) -> Held | None:
        """The type that holds both, or None where there is no such type."""
        return join(self, held(number))


def held(number: Number) -> Held:
    """The type of a variable that has been given this."""
    value = number.literal
    if number.dtype is UINT64 and number.origin == "python":
        raise _too_large(value, number.span)
    literals = None if value is None else frozenset({_distinct(value)})
    return Held(number.dtype, number.origin, literals, number.span)


def _distinct(value: Any) -> Any:
    return (type(value).__name__, value)


def join(a: Held, b: Held) -> Held | None:
    """One type for both."""
    if a.dtype is b.dtype:
        literals = a.literals | b.literals if a.literals and b.literals else None
        if a.origin == b.origin:
            return Held(a.dtype, a.origin, literals, a.span)
        for this, other in ((a, b), (b, a)):
            if this.literals:
                origin = _adopted(this, other)
                return Held(other.dtype, origin, other.literals, other.span)
        return Held(a.dtype, "either", None, a.span)
    for this, other in ((a, b), (b, a)):
        if this.literals and all(_fits(value, other.dtype) for _, value in this.literals):
            literals = this.literals | other.literals if other.literals else None
            return Held(other.dtype, _adopted(this, other), literals, other.span)
    return None


def _adopted(literal: Held, other: Held) -> Origin:
    """Whose number a literal is where it meets another: it makes no difference, but for quotients
    of complex numbers other than 0.
    """
    same = literal.origin == other.origin or not other.dtype.is_complex
    if same or not any(value for _, value in literal.literals or ()):
        return other.origin
    return "either"


def _fits(value: Any, dtype: DType) -> bool:
    """Whether a literal has the same value in another type."""
    if isinstance(value, bool) or dtype is BOOL:
        return False
    if dtype.is_integer:
        return isinstance(value, int) and int(value) in RANGES[dtype]
    if isinstance(value, complex) or dtype.is_complex:
        return dtype.is_complex and bool(value != value or dtype.numpy.type(value) == value)
    if isinstance(value, int):
        return abs(value) <= 2**53 and float(dtype.numpy.type(value)) == value
    return bool(value != value or float(dtype.numpy.type(value)) == value)


def conflict(name: str, first: Held, second: Number) -> KernelTypeError:
    """Two types for one variable: both places."""
    before = Number(const(0, first.dtype), first.origin, first.span)
    file, line = first.span[0], first.span[1]
    return KernelTypeError(
        f"`{name}` is {described(before)} and {described(second)}",
        second.span,
        why=f"a variable has one type where paths meet: at {file}:{line} it is given a "
        f"{describe(before)}",
        help=f"convert one of the two, as in {name} = np.{first.dtype}(...)",
        remark=f"{describe(second)} here",
    )
