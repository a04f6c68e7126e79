"""Index expressions as sums of integer multiples: the form the fast tier works on.

>>> from fusewright.ir.dtypes import INT64
>>> from fusewright.ir.expr import const, index, op, param
>>> n = param(0, INT64)
>>> reverse = op("subtract", op("subtract", n, const(1, INT64)), index(0))
>>> affine(reverse)
((p0, 1), (None, -1), (i0, -1))
>>> affine(op("floor_divide", index(0), const(2, INT64))) is None
True
"""

from __future__ import annotations

from functools import lru_cache

from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, postorder

Atom = Expr | None
"""A loop index, a value that no loop changes, or None for the number 1."""
Form = tuple[tuple[Atom, int], ...]

SMALL = 1 << 14
"""Coefficients up to this cannot wrap around 64 bits: an index has at most 48 bits (`ranges`)."""


@lru_cache(maxsize=1 << 14)
def fixed(expr: Expr) -> bool:
    """Whether no loop changes the value: neither an index nor a load is in it."""
    return all(node.name not in ("index", "load") for node in postorder([expr]))


@lru_cache(maxsize=1 << 14)
def loads(expr: Expr) -> bool:
    """Whether the value depends on memory."""
    return any(node.name == "load" for node in postorder([expr]))


@lru_cache(maxsize=1 << 14)
def affine(expr: Expr) -> Form | None:
    """The coefficient of each atom, or None where the expression is no such sum (or could wrap)."""
    total = _terms(expr)
    if total is None or any(abs(c) > SMALL for atom, c in total.items() if atom is not None):
        return None
    return tuple((atom, count) for atom, count in total.items() if count)


def _terms(expr: Expr) -> dict[Atom, int] | None:
    name, args = expr.name, expr.args
    if name == "const" and expr.dtype.is_integer:
        return {None: int(expr.attr)}
    if name == "index":
        return {expr: 1}
    if expr.dtype is INT64 and name in _RULES:
        found = _RULES[name](args)
        if found is not None:
            return found
    return {expr: 1} if fixed(expr) else None


def _sum(args: tuple[Expr, ...], sign: int) -> dict[Atom, int] | None:
    left, right = _terms(args[0]), _terms(args[1])
    if left is None or right is None:
        return None
    total = dict(left)
    for atom, count in right.items():
        total[atom] = total.get(atom, 0) + sign * count
    return total


def _scaled(expr: Expr, factor: int) -> dict[Atom, int] | None:
    total = _terms(expr)
    return None if total is None else {atom: factor * count for atom, count in total.items()}


def _product(args: tuple[Expr, ...]) -> dict[Atom, int] | None:
    for factor, other in (args, args[::-1]):
        if factor.name == "const":
            return _scaled(other, int(factor.attr))
    return None


def _shifted(args: tuple[Expr, ...]) -> dict[Atom, int] | None:
    amount = args[1]
    if amount.name != "const" or not 0 <= int(amount.attr) < SMALL.bit_length():
        return None
    return _scaled(args[0], 1 << int(amount.attr))


_RULES = {
    "add": lambda args: _sum(args, 1),
    "subtract": lambda args: _sum(args, -1),
    "negative": lambda args: _scaled(args[0], -1),
    "multiply": _product,
    "left_shift": _shifted,
    "shl": _shifted,
}
