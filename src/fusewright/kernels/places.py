"""Indices as numbers: at a call every bound is known, so an index is a constant plus multiples of
loop variables, with a least and a greatest value.

    a[2 * i + 1] for i in [0, 10):  Form(1, {i: 2}), between 1 and 19
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import product
from math import gcd
from typing import Any

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import COMPARISONS, Expr
from fusewright.ir.ops import MAP

Box = Mapping[int, tuple[int, int]]
"""For each loop variable its first value and how many it takes."""
_WIDEST = 63
"""Bits that forms may take: one less than there are, whatever meets."""


@dataclass(frozen=True, slots=True)
class Form:
    """`constant + sum(factor * variable)`; factors are not 0."""

    constant: int
    factors: tuple[tuple[int, int], ...] = ()

    def plus(self, other: Form, times: int = 1) -> Form:
        """The sum with a multiple of another form."""
        total = dict(self.factors)
        for variable, factor in other.factors:
            total[variable] = total.get(variable, 0) + factor * times
        kept = tuple(sorted((v, f) for v, f in total.items() if f))
        return Form(self.constant + other.constant * times, kept)

    def scaled(self, times: int) -> Form:
        return Form(0).plus(self, times)

    def reach(self, box: Box) -> tuple[int, int]:
        """The least and the greatest value in a box that is not empty."""
        low = high = self.constant
        for variable, factor in self.factors:
            first, count = box[variable]
            ends = (factor * first, factor * (first + count - 1))
            low, high = low + min(ends), high + max(ends)
        return low, high


@dataclass(frozen=True, slots=True)
class Access:
    """One access to an array: an index for each dim, and the loops around it."""

    array: int
    indices: tuple[Form, ...]
    loops: tuple[int, ...]
    writes: bool
    span: Span


def keeps_order(a: Access, b: Access, box: Box, declared: Container[int]) -> bool:
    """Whether two accesses to one array meet in the same iteration of the loops they share, or
    never; of the `declared` loops the user has said so.

    Theorem: if each shared variable v has a dim whose index is `factor * v + constant` in both,
    factor and constant the same and factor not 0, equal places mean equal values of v.
    """
    if any(_apart(m, n, box) for m, n in zip(a.indices, b.indices, strict=True)):
        return True
    shared = [v for v in a.loops if v in b.loops and v not in declared]
    return all(_fixes(a.indices, b.indices, variable) for variable in shared)


def _fixes(a: Sequence[Form], b: Sequence[Form], variable: int) -> bool:
    return any(
        m == n and len(m.factors) == 1 and m.factors[0][0] == variable
        for m, n in zip(a, b, strict=True)
    )


def _apart(a: Form, b: Form, box: Box) -> bool:
    """Whether two indices, each in iterations of its own, have no value in common."""
    low, high = a.reach(box)
    least, most = b.reach(box)
    if high < least or most < low:
        return True
    step = gcd(*(factor for _, factor in (*a.factors, *b.factors)))
    return step > 1 and (a.constant - b.constant) % step != 0


@dataclass(frozen=True, slots=True)
class Known:
    """What is known where an expression stands: parameters, variables, and the loops' ranges."""

    parameters: Mapping[int, int]
    variables: Mapping[int, Form]
    box: Box


def form_of(expr: Expr, known: Known) -> Form | None:
    """An integer expression as a form; None where it is none."""
    found = _form(expr, known)
    return found if found is not None and _fits(found, expr.dtype, known.box) else None


def _form(expr: Expr, known: Known) -> Form | None:
    if expr.name == "const":
        return Form(int(expr.attr)) if isinstance(expr.attr, int) else None
    if expr.name == "param":
        value = known.parameters.get(expr.attr)
        return None if value is None else Form(value)
    if expr.name == "index":
        return Form(0, ((expr.attr, 1),)) if expr.attr in known.box else None
    if expr.name == "local":
        return known.variables.get(expr.attr)
    if expr.name == "where":
        return _chosen(expr, known)
    parts = [form_of(arg, known) for arg in expr.args]
    if not parts or any(part is None for part in parts):
        return None
    forms = [part for part in parts if part is not None]
    if expr.name in ("cast", "positive"):
        return forms[0] if expr.args[0].dtype.is_integer else None
    if not expr.dtype.is_integer:
        return None
    return _combined(expr, forms)


def _combined(expr: Expr, forms: list[Form]) -> Form | None:
    first, other = forms[0], forms[-1]
    if expr.name in ("add", "subtract"):
        return first.plus(other, 1 if expr.name == "add" else -1)
    if expr.name == "negative":
        return first.scaled(-1)
    if expr.name == "multiply":
        first, other = (other, first) if not first.factors else (first, other)
        return None if other.factors else first.scaled(other.constant)
    if any(form.factors for form in forms) or expr.name not in _EXACT:
        return None
    if expr.name in ("floor_divide", "remainder") and other.constant == 0:
        return None
    values = [form.constant for form in forms]
    return Form(int(_EXACT[expr.name](*values)))


_EXACT: dict[str, Any] = {
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "minimum": min,
    "maximum": max,
    "absolute": abs,
    "square": lambda a: a * a,
}


def _fits(form: Form, dtype: DType, box: Box) -> bool:
    """Whether no value wraps around (a sum of numbers that do not is far below 2**63)."""
    if not dtype.is_integer:
        return False
    low, high = form.reach(box)
    bits = min(dtype.bits, _WIDEST)
    least, most = (-(1 << bits - 1), 1 << bits - 1) if dtype.kind == "i" else (0, 1 << bits)
    return least <= low and high < most


def _chosen(expr: Expr, known: Known) -> Form | None:
    condition = decided(expr.args[0], known)
    return None if condition is None else form_of(expr.args[1 if condition else 2], known)


def decided(condition: Expr, known: Known) -> bool | None:
    """Whether a condition holds in all iterations, or in none; None where that is not known."""
    if condition.name == "const":
        return bool(condition.attr)
    if condition.name in ("logical_and", "logical_or"):
        parts = [decided(arg, known) for arg in condition.args]
        ends = condition.name == "logical_or"
        if ends in parts:
            return ends
        return None if None in parts else not ends
    if condition.name in ("logical_not", "invert"):
        part = decided(condition.args[0], known)
        return None if part is None else not part
    if condition.name not in COMPARISONS:
        return None
    a, b = (form_of(arg, known) if arg.dtype.is_integer else None for arg in condition.args)
    if a is None or b is None:
        return None
    low, high = a.plus(b, -1).reach(known.box)
    meaning = MAP[condition.name].meaning
    answers = {bool(meaning(x, 0)) for x in {low, high, *((0,) if low < 0 < high else ())}}
    return answers.pop() if len(answers) == 1 else None


def all_keep_order(accesses: Sequence[Access], box: Box, declared: Container[int]) -> Access | None:
    """The first access that meets another one in a different iteration, one of them writing."""
    by_array: dict[int, list[Access]] = {}
    for access in accesses:
        by_array.setdefault(access.array, []).append(access)
    for group in by_array.values():
        for a, b in product([each for each in group if each.writes], group):
            if not keeps_order(a, b, box, declared):
                return b
    return None
