"""Expressions and conditions as text of isl: affine, quasi-affine and piecewise ones exactly, all
others as a value nothing is known about.

Everything unknown is a fresh variable without a constraint, so the set described is never too
small: what is proved empty is empty.

>>> from fusewright.ir.dtypes import INT64
>>> from fusewright.ir.expr import const, index, op
>>> formula = Formula({}, "x", {0: (0, 9)})
>>> formula.term(op("bitwise_and", index(0), const(7, INT64)))
'((x0) mod 8)'
>>> formula.term(op("bitwise_xor", index(0), const(1, INT64)))
'((x0) + 1 - 2*(((x0) mod 2)))'
>>> formula.condition(op("less", index(0), const(5, INT64)), holds=False)
'(x0) >= (5)'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from fusewright.analysis.affine import fixed, loads
from fusewright.analysis.ranges import Interval, bounds_of, exact_interval, interval
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.expr import Expr

TRUE = "1 = 1"
RUNS = 4
"""A mask with more runs of ones than this is treated as unknown: each costs isl two divisions."""


@dataclass(slots=True)
class Shared:
    """What both sides of one question share: parameters, fresh variables and what is said of them.

    `exact` turns false when something unknown was written as a free variable.
    """

    params: dict[Expr, str] = field(default_factory=dict)
    fresh: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    exact: bool = True

    def param(self, expr: Expr) -> str:
        """The variable of a value no loop changes."""
        return self.params.setdefault(expr, f"p{len(self.params)}")

    def variable(self) -> str:
        """A fresh variable."""
        self.fresh.append(f"t{len(self.fresh)}")
        return self.fresh[-1]


@dataclass(slots=True)
class Formula:
    """Writes expressions of one side (`x` the earlier, `y` the later) as isl text."""

    known: Mapping[Any, Interval]
    side: str
    loops: Mapping[int, Interval]
    shared: Shared = field(default_factory=Shared)
    memo: dict[Expr, str] = field(default_factory=dict)

    def term(self, expr: Expr) -> str:
        """The value as an affine text; side conditions go to `shared.said`."""
        if loads(expr):
            # written twice, a load may be two values: the array may change in between
            return self._term(expr)
        if expr not in self.memo:
            self.memo[expr] = self._term(expr)
        return self.memo[expr]

    def _term(self, expr: Expr) -> str:
        if expr.name == "index":
            return f"{self.side}{expr.attr}"
        if expr.name == "const" and expr.dtype.kind in "iub":
            return str(int(expr.attr))
        if expr.name == "cast":
            return self._cast(expr)
        if expr.dtype is BOOL and not fixed(expr):
            return self._choice(expr, "1", "0")
        rule = TERMS.get(expr.name)
        if rule is not None and expr.dtype.is_integer:
            text = rule(self, expr)
            if text is not None:
                return self._wrapped(expr, text)
        return self.unknown(expr)

    def unknown(self, expr: Expr) -> str:
        """A parameter if no loop changes the value, else a variable of which nothing is said."""
        if fixed(expr):
            return self.shared.param(expr)
        self.shared.exact = False
        return self.shared.variable()

    def _wrapped(self, expr: Expr, text: str) -> str:
        """The value after the arithmetic of the expression's type; 64 bits that may wrap are
        unknown.
        """
        low, high = bounds_of(expr.dtype)
        exact = exact_interval(expr, self.loops, self.known)
        if exact is not None and low <= exact[0] and exact[1] <= high:
            return text
        if expr.dtype.bits == 64:
            return self.unknown(expr)
        return _modulo(text, expr.dtype)

    def _cast(self, expr: Expr) -> str:
        value = expr.args[0]
        if value.dtype is BOOL and expr.dtype.is_integer and not fixed(value):
            return self._choice(value, "1", "0")
        if value.dtype.is_integer and expr.dtype.is_integer:
            return self._wrapped(expr, self.term(value))
        return self.unknown(expr)

    def _choice(self, condition: Expr, yes: str, no: str) -> str:
        """A variable that is one of two values."""
        chosen = self.shared.variable()
        self.shared.said.append(
            f"(({self.condition(condition)}) and {chosen} = {yes}"
            f" or ({self.condition(condition, holds=False)}) and {chosen} = {no})"
        )
        return chosen

    def condition(self, expr: Expr, holds: bool = True) -> str:
        """The condition, or its opposite; never too strong in either case."""
        if expr.name in NEGATIONS and expr.dtype is BOOL:
            return self.condition(expr.args[0], not holds)
        if expr.name in CONNECTIVES and all(arg.dtype is BOOL for arg in expr.args):
            word = CONNECTIVES[expr.name][0 if holds else 1]
            parts = [f"({self.condition(arg, holds)})" for arg in expr.args]
            return f" {word} ".join(parts)
        if expr.name in COMPARED and all(arg.dtype.kind in "iu" for arg in expr.args):
            sign = COMPARED[expr.name][0 if holds else 1]
            return f"({self.term(expr.args[0])}) {sign} ({self.term(expr.args[1])})"
        if expr.name == "const":
            return TRUE if bool(expr.attr) == holds else "1 = 0"
        if fixed(expr) and expr.dtype is BOOL:
            return f"{self.shared.param(expr)} {'=' if holds else '!='} 1"
        self.shared.exact = False
        return TRUE

    def number(self, expr: Expr) -> int | None:
        """The literal's value."""
        return int(expr.attr) if expr.name == "const" and expr.dtype.kind in "iub" else None

    def nonnegative(self, expr: Expr) -> bool:
        """Whether the value is proved not to be negative."""
        return interval(expr, self.loops, self.known)[0] >= 0


NEGATIONS = frozenset({"logical_not", "invert"})
CONNECTIVES = {
    "logical_and": ("and", "or"),
    "bitwise_and": ("and", "or"),
    "logical_or": ("or", "and"),
    "bitwise_or": ("or", "and"),
}
COMPARED = {
    "less": ("<", ">="),
    "less_equal": ("<=", ">"),
    "greater": (">", "<="),
    "greater_equal": (">=", "<"),
    "equal": ("=", "!="),
    "not_equal": ("!=", "="),
}


def _modulo(text: str, dtype: DType) -> str:
    """Wrapped to a type narrower than 64 bits."""
    size = 1 << dtype.bits
    if dtype.kind == "u":
        return f"(({text}) mod {size})"
    half = size // 2
    return f"((({text}) + {half}) mod {size} - {half})"


def masked(text: str, mask: int) -> str | None:
    """`text & mask`: each run of ones is a quotient and a remainder (two's complement)."""
    if mask < 0:
        rest = masked(text, ~mask)
        return None if rest is None else f"(({text}) - {rest})"
    parts, position = [], 0
    while mask >> position:
        if not mask >> position & 1:
            position += 1
            continue
        length = 0
        while mask >> position + length & 1:
            length += 1
        low = f"floor(({text})/{1 << position})" if position else f"({text})"
        scale = f"{1 << position}*" if position else ""
        parts.append(f"{scale}({low} mod {1 << length})")
        position += length
    if len(parts) > RUNS:
        return None
    return " + ".join(parts) or "0"


def _binary(sign: str) -> Callable[[Formula, Expr], str | None]:
    def rule(formula: Formula, expr: Expr) -> str | None:
        left, right = map(formula.term, expr.args)
        return f"({left}) {sign} ({right})"

    return rule


def _multiply(formula: Formula, expr: Expr) -> str | None:
    for factor, other in (expr.args, expr.args[::-1]):
        value = formula.number(factor)
        if value is not None:
            return f"{value}*({formula.term(other)})"
    return None


def _quotient(formula: Formula, expr: Expr) -> str | None:
    divisor = formula.number(expr.args[1])
    if not divisor:
        return None
    sign = "-" if divisor < 0 else ""
    return f"floor({sign}({formula.term(expr.args[0])})/{abs(divisor)})"


def _remainder(formula: Formula, expr: Expr) -> str | None:
    divisor = formula.number(expr.args[1])
    if not divisor:
        return None
    text = formula.term(expr.args[0])
    return f"(({text}) mod {divisor})" if divisor > 0 else f"-((-({text})) mod {-divisor})"


def _truncated(
    rule: Callable[[Formula, Expr], str | None],
) -> Callable[[Formula, Expr], str | None]:
    """C's division: the floor for a dividend that is never negative, else unknown."""

    def of_nonnegative(formula: Formula, expr: Expr) -> str | None:
        divisor = formula.number(expr.args[1])
        if divisor is None or divisor <= 0 or not formula.nonnegative(expr.args[0]):
            return None
        return rule(formula, expr)

    return of_nonnegative


def _shift(left: bool) -> Callable[[Formula, Expr], str | None]:
    def rule(formula: Formula, expr: Expr) -> str | None:
        amount = formula.number(expr.args[1])
        if amount is None or not 0 <= amount < expr.dtype.bits:
            return None
        text = formula.term(expr.args[0])
        return f"{1 << amount}*({text})" if left else f"floor(({text})/{1 << amount})"

    return rule


def _bits(pattern: str) -> Callable[[Formula, Expr], str | None]:
    """And, or, xor with a literal; `a | c` is `a + c - (a & c)`, `a ^ c` is
    `a + c - 2 (a & c)`.
    """

    def rule(formula: Formula, expr: Expr) -> str | None:
        for mask, other in (expr.args[::-1], expr.args):
            value = formula.number(mask)
            if value is not None:
                text = formula.term(other)
                both = masked(text, value)
                return both and pattern.format(a=text, c=value, both=both)
        return None

    return rule


def _extreme(sign: str) -> Callable[[Formula, Expr], str | None]:
    def rule(formula: Formula, expr: Expr) -> str | None:
        left, right = map(formula.term, expr.args)
        return _either(formula, f"({left}) {sign} ({right})", left, right)

    return rule


def _either(formula: Formula, test: str, yes: str, no: str) -> str:
    chosen = formula.shared.variable()
    formula.shared.said.append(
        f"(({test}) and {chosen} = {yes} or not ({test}) and {chosen} = {no})"
    )
    return chosen


def _absolute(formula: Formula, expr: Expr) -> str | None:
    text = formula.term(expr.args[0])
    return _either(formula, f"({text}) >= 0", text, f"-({text})")


def _where(formula: Formula, expr: Expr) -> str | None:
    yes, no = formula.term(expr.args[1]), formula.term(expr.args[2])
    return formula._choice(expr.args[0], yes, no)


def _negative(formula: Formula, expr: Expr) -> str | None:
    return f"-({formula.term(expr.args[0])})"


def _invert(formula: Formula, expr: Expr) -> str | None:
    if expr.dtype.kind != "i":
        return None
    return f"-1 - ({formula.term(expr.args[0])})"


TERMS: dict[str, Callable[[Formula, Expr], str | None]] = {
    "add": _binary("+"),
    "subtract": _binary("-"),
    "multiply": _multiply,
    "negative": _negative,
    "positive": lambda formula, expr: formula.term(expr.args[0]),
    "absolute": _absolute,
    "floor_divide": _quotient,
    "remainder": _remainder,
    "tdiv": _truncated(_quotient),
    "trem": _truncated(_remainder),
    "left_shift": _shift(left=True),
    "shl": _shift(left=True),
    "right_shift": _shift(left=False),
    "shr": _shift(left=False),
    "bitwise_and": _bits("{both}"),
    "bitwise_or": _bits("(({a}) + {c} - ({both}))"),
    "bitwise_xor": _bits("(({a}) + {c} - 2*({both}))"),
    "invert": _invert,
    "minimum": _extreme("<="),
    "imin": _extreme("<="),
    "maximum": _extreme(">="),
    "imax": _extreme(">="),
    "where": _where,
}
