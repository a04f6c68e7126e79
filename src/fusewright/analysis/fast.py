"""The fast tier: equal affine indices, greatest common divisors and symbolic bounds, in a few
microseconds a conflict.

For each conflict: can it happen at all, and which dims must be equal where it does?  Both answers
are proofs; what is not proved here goes to `exact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd
from typing import Any

from fusewright.analysis.affine import affine
from fusewright.analysis.conflicts import Conflict, Row
from fusewright.analysis.ranges import Interval
from fusewright.analysis.unit import Dim
from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr

Pair = tuple[int, int]
"""The numbers of a dim of the earlier and of one of the later access."""
Variable = tuple[int, int] | Expr | None
"""(side, number) of a loop index, a value no loop changes, or None for the number 1."""
Sum = dict[Variable, int]


@dataclass(frozen=True, slots=True)
class Related:
    """`disjoint`: the two never touch the same cell; else the pairs of dims that are equal where
    they do.
    """

    disjoint: bool
    equal: frozenset[Pair] = frozenset()


NEVER = Related(True)


def related(
    conflict: Conflict, known: Mapping[Any, Interval], assumed: Iterable[Pair] = ()
) -> Related:
    """What the rows prove, given that the assumed pairs of dims are equal."""
    equal = set(assumed)
    sums = [(row, total) for row in conflict.rows if (total := difference(row)) is not None]
    progress = True
    while progress:
        progress = False
        for row, total in sums:
            merged = _merge(total, equal)
            found = _solve(row, merged)
            if found is False:
                return NEVER
            if isinstance(found, tuple) and found not in equal:
                equal.add(found)
                progress = True
    for row, total in sums:
        if _apart(row, _merge(total, equal), conflict, known):
            return NEVER
    return Related(False, frozenset(equal))


def difference(row: Row) -> Sum | None:
    """left - right."""
    left, right = affine(row.left), affine(row.right)
    if left is None or right is None:
        return None
    total: Sum = {}
    for side, form, sign in ((0, left, 1), (1, right, -1)):
        _add(total, form, side, sign)
    return total


def _add(total: Sum, form: Iterable[tuple[Expr | None, int]], side: int, factor: int) -> None:
    for atom, count in form:
        loop = atom is not None and atom.name == "index"
        key: Variable = (side, atom.attr) if loop and atom is not None else atom
        total[key] = total.get(key, 0) + factor * count


def _merge(total: Sum, equal: set[Pair]) -> Sum:
    """The sum with the later access's dims replaced by the earlier one's equal ones."""
    merged: Sum = {}
    renamed = {(1, q): (0, p) for p, q in equal}
    for key, count in total.items():
        new: Variable = renamed.get(key, key) if isinstance(key, tuple) else key
        merged[new] = merged.get(new, 0) + count
    return {key: count for key, count in merged.items() if count or key is None}


def _solve(row: Row, total: Sum) -> Pair | bool | None:
    """False: no solution.  A pair: those dims are equal in every solution."""
    low, high = -(row.left_width - 1), row.right_width - 1
    constant = total.get(None, 0)
    unknown = {key: count for key, count in total.items() if key is not None}
    divisor = gcd(*unknown.values()) if unknown else 0
    if divisor == 0:
        return None if low <= constant <= high else False
    if (high - constant) // divisor * divisor < low - constant:
        return False
    if len(unknown) != 2 or not all(isinstance(key, tuple) for key in unknown):
        return None
    (left, a), (right, b) = sorted(unknown.items(), key=lambda item: str(item[0]))
    assert isinstance(left, tuple) and isinstance(right, tuple)
    if (left[0], right[0]) != (0, 1) or a != -b:
        return None
    return (left[1], right[1]) if _only_zero(abs(a), low - constant, high - constant, a) else None


def _only_zero(step: int, low: int, high: int, signed: int) -> bool:
    """Whether 0 is the only whole d with low <= signed * d <= high."""
    if signed < 0:
        low, high = -high, -low
    return -(-low // step) == 0 == high // step


def _apart(row: Row, total: Sum, conflict: Conflict, known: Mapping[Any, Interval]) -> bool:
    """Whether the bounds of the loops keep the two indices apart (Banerjee, symbolically)."""
    scopes = (conflict.source_scope.dims, conflict.sink_scope.dims)
    top = _extreme(total, scopes, known, 1)
    if top is not None and top < -(row.left_width - 1):
        return True
    bottom = _extreme(total, scopes, known, -1)
    return bottom is not None and bottom > row.right_width - 1


def _extreme(
    total: Sum, scopes: tuple[tuple[Dim, ...], ...], known: Mapping[Any, Interval], sign: int
) -> int | None:
    """The greatest (sign 1) or least value over the loops, where it is a number."""
    left = dict(total)
    for side, dims in enumerate(scopes):
        for dim in reversed(dims):
            count = left.pop((side, dim.number), 0)
            if count:
                last = (count > 0) == (sign > 0)
                form = affine(dim.high if last else dim.low)
                if form is None:
                    return None
                _add(left, form, side, count)
                left[None] = left.get(None, 0) - (count if last else 0)
    value = left.pop(None, 0)
    for key, count in left.items():
        if count:
            if not isinstance(key, Expr) or key.name != "param" or key.attr not in known:
                return None
            value += count * known[key.attr][1 if (count > 0) == (sign > 0) else 0]
    return value
