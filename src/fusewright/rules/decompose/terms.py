"""Operator notation for building expressions, so that a decomposition reads like its formula.

A number beside a `Term` is a literal of the term's dtype.  Every operator makes one primitive and
rounds once; nothing is simplified.

>>> from fusewright.ir.dtypes import FLOAT64
>>> from fusewright.ir.expr import param
>>> x = Term(param(0, FLOAT64))
>>> (fma(x, x, 1.0) / 2.0).expr
divide(fma(p0, p0, 1.0), 2.0)
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.ir import expr
from fusewright.ir.dtypes import FLOAT32, FLOAT64, UINT32, UINT64, DType
from fusewright.ir.expr import Expr

MANTISSA = {FLOAT64: 52, FLOAT32: 23}
BIAS = {FLOAT64: 1023, FLOAT32: 127}
_WORD = {FLOAT64: UINT64, FLOAT32: UINT32}


class Term:
    """An expression with Python's operators; the comparisons give bool terms (so `==` is spelled
    `equal`).
    """

    __slots__ = ("expr",)

    def __init__(self, value: Expr) -> None:
        self.expr = value

    @property
    def dtype(self) -> DType:
        return self.expr.dtype

    def of(self, other: Term | float) -> Term:
        """The other operand as a term of this one's dtype."""
        return other if isinstance(other, Term) else Term(expr.const(other, self.dtype))

    def _op(self, name: str, other: Term | float) -> Term:
        return Term(expr.op(name, self.expr, self.of(other).expr))

    def _reversed(self, name: str, other: Term | float) -> Term:
        return Term(expr.op(name, self.of(other).expr, self.expr))

    def __add__(self, other: Term | float) -> Term:
        return self._op("add", other)

    def __radd__(self, other: float) -> Term:
        return self._reversed("add", other)

    def __sub__(self, other: Term | float) -> Term:
        return self._op("subtract", other)

    def __rsub__(self, other: float) -> Term:
        return self._reversed("subtract", other)

    def __mul__(self, other: Term | float) -> Term:
        return self._op("multiply", other)

    def __rmul__(self, other: float) -> Term:
        return self._reversed("multiply", other)

    def __truediv__(self, other: Term | float) -> Term:
        return self._op("divide", other)

    def __rtruediv__(self, other: float) -> Term:
        return self._reversed("divide", other)

    def __neg__(self) -> Term:
        return Term(expr.op("negative", self.expr))

    def __abs__(self) -> Term:
        return Term(expr.op("absolute", self.expr))

    def __lt__(self, other: Term | float) -> Term:
        return self._op("less", other)

    def __le__(self, other: Term | float) -> Term:
        return self._op("less_equal", other)

    def __gt__(self, other: Term | float) -> Term:
        return self._reversed("less", other)

    def __ge__(self, other: Term | float) -> Term:
        return self._reversed("less_equal", other)

    def equal(self, other: Term | float) -> Term:
        return self._op("equal", other)

    def differs(self, other: Term | float) -> Term:
        return self._op("not_equal", other)

    def __and__(self, other: Term | int) -> Term:
        return self._op("bitwise_and", other)

    def __or__(self, other: Term | int) -> Term:
        return self._op("bitwise_or", other)

    def __xor__(self, other: Term | int) -> Term:
        return self._op("bitwise_xor", other)

    def __invert__(self) -> Term:
        return Term(expr.op("invert", self.expr))

    def __lshift__(self, other: Term | int) -> Term:
        return self._op("shl", other)

    def __rshift__(self, other: Term | int) -> Term:
        return self._op("shr", other)

    def cast(self, dtype: DType) -> Term:
        return Term(expr.cast(self.expr, dtype))

    def as_type(self, dtype: DType) -> Term:
        """The same bits as another dtype."""
        return Term(expr.bitcast(self.expr, dtype))

    @property
    def bits(self) -> Term:
        """The bits of a float as an unsigned integer."""
        return self.as_type(_WORD[self.dtype])

    def mapped(self, name: str) -> Term:
        """A unary primitive that has no Python operator (`sqrt`, `floor`, `rint`, ...)."""
        return Term(expr.op(name, self.expr))


def fma(a: Term, b: Term | float, c: Term | float) -> Term:
    """a * b + c, rounded once."""
    return Term(expr.op("fma", a.expr, a.of(b).expr, a.of(c).expr))


def where(condition: Term, yes: Term | float, no: Term | float) -> Term:
    """`yes` where the condition holds, else `no`; one of them may be a number."""
    model = yes if isinstance(yes, Term) else no
    assert isinstance(model, Term), "one branch must be a term"
    return Term(expr.op("where", condition.expr, model.of(yes).expr, model.of(no).expr))


def ldexp(x: Term, n: Term) -> Term:
    """x * 2**n for a whole float n, rounded once."""
    return Term(expr.op("ldexp", x.expr, n.expr))


def sqrt(x: Term) -> Term:
    """The IEEE square root."""
    return x.mapped("sqrt")


def copysign(size: Term | float, sign: Term) -> Term:
    """The magnitude of `size` with the sign bit of `sign`."""
    return Term(expr.op("copysign", sign.of(size).expr, sign.expr))


def constant(value: float, dtype: DType) -> Term:
    """A literal."""
    return Term(expr.const(value, dtype))


def is_nan(x: Term) -> Term:
    """Whether x is NaN."""
    return x.differs(x)


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """Horner's rule with fma; lowest power first."""
    total = x.of(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = fma(total, x, coefficient)
    return total


def paired(x: Term, coefficients: Sequence[float]) -> Term:
    """The same polynomial as even and odd halves: half the latency for one more multiplication."""
    square = x * x
    even = polynomial(square, coefficients[0::2])
    return fma(polynomial(square, coefficients[1::2]), x, even)


def power_of_two(biased: Term, dtype: DType) -> Term:
    """2**k for an unsigned integer `k + BIAS`, 0 < k + BIAS < 2 * BIAS + 1."""
    return (biased << MANTISSA[dtype]).as_type(dtype)


def two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """a + b as a rounded sum and its exact error, whatever their order (Knuth)."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


def quick_two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The same where |a| >= |b| or a is 0 (Dekker)."""
    total = a + b
    return total, b - (total - a)


def two_product(a: Term, b: Term) -> tuple[Term, Term]:
    """a * b as a rounded product and its exact error."""
    product = a * b
    return product, fma(a, b, -product)
