"""Index arithmetic in normal form: sums of integer multiples of terms.

>>> from fusewright.ir.expr import index, param
>>> from fusewright.ir.dtypes import INT64
>>> n = param(0, INT64)
>>> plus(plus(index(0), 3), minus(n, plus(n, 1)))
add(i0, 2)
"""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, postorder, typed_op

Index = Expr | int
_ONE = const(1, INT64)


def terms(expr: Index) -> dict[Expr, int]:
    """The coefficient of each term; the literal stands under `const(1)`."""
    if isinstance(expr, int):
        return {_ONE: expr} if expr else {}
    if expr.name == "const":
        return terms(int(expr.attr))
    if expr.name not in _SUMS:
        return {expr: 1}
    if expr.terms is None:
        total = _SUMS[expr.name](*expr.args)
        if expr in total:  # it would keep itself alive
            return total
        expr.terms = total
    return dict(expr.terms)


def _sum(left: Expr, right: Expr) -> dict[Expr, int]:
    total = terms(left)
    for term, count in terms(right).items():
        total[term] = total.get(term, 0) + count
    return {term: count for term, count in total.items() if count}


def _multiple(left: Expr, right: Expr) -> dict[Expr, int]:
    if right.name == "const":
        return {t: c * right.attr for t, c in terms(left).items() if right.attr}
    if left.name == "const":
        return {t: c * left.attr for t, c in terms(right).items() if left.attr}
    return _product(terms(left), terms(right))


def _product(left: dict[Expr, int], right: dict[Expr, int]) -> dict[Expr, int]:
    total: dict[Expr, int] = {}
    for a, m in left.items():
        for b, n in right.items():
            term = b if a is _ONE else a if b is _ONE else op("multiply", *_ordered(a, b))
            total[term] = total.get(term, 0) + m * n
    return {term: count for term, count in total.items() if count}


def _ordered(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return (a, b) if _rank(a) <= _rank(b) else (b, a)


def _rank(term: Expr) -> tuple[int, str]:
    """Where a term stands in a sum: by kind, then as it is spelled.

    A long spelling (an index read from a table that is indexed by another) is told by its checksum.
    """
    if term.order is None:
        for node in postorder([term], _RANKED):
            spelled = node.spelled([arg.order[1] for arg in node.args])
            if len(spelled) > MOST_SPELLED:
                spelled = f"{node.name}#{len(spelled)}#{crc32(spelled.encode())}"
            node.order = (3 if node is _ONE else _RANKS.get(node.name, 2), spelled)
    rank: tuple[int, str] = term.order
    return rank


class _Ranked:
    """The expressions whose rank is known."""

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Expr) and node.order is not None


_RANKED = _Ranked()
MOST_SPELLED = 400
"""Characters of a term's spelling."""
_SUMS: dict[str, Callable[[Expr, Expr], dict[Expr, int]]] = {
    "add": _sum,
    "subtract": lambda a, b: _difference(a, b),
    "multiply": _multiple,
}
_RANKS = {"index": 0, "multiply": 1, "param": 2}


def build(total: dict[Expr, int]) -> Expr:
    """The expression with these coefficients, in one canonical order."""
    result: Expr | None = None
    for term in sorted(total, key=_rank) if len(total) > 1 else total:
        count = total[term]
        if term is _ONE:
            part = const(count, INT64)
        else:
            part = term if count == 1 else op("multiply", term, const(count, INT64))
        result = part if result is None else op("add", result, part)
    return result if result is not None else const(0, INT64)


def plus(a: Index, b: Index) -> Expr:
    """a + b."""
    total = terms(a)
    for term, count in terms(b).items():
        total[term] = total.get(term, 0) + count
    return build({term: count for term, count in total.items() if count})


def minus(a: Index, b: Index) -> Expr:
    """a - b."""
    return build(_difference(a, b))


def _difference(a: Index, b: Index) -> dict[Expr, int]:
    total = terms(a)
    for term, count in terms(b).items():
        total[term] = total.get(term, 0) - count
    return {term: count for term, count in total.items() if count}


def times(a: Index, b: Index) -> Expr:
    """a * b."""
    return build(_product(terms(a), terms(b)))


def constant(expr: Index) -> int | None:
    """The value, where it is a literal."""
    return _literal(terms(expr))


def _literal(total: dict[Expr, int]) -> int | None:
    if not total:
        return 0
    return total[_ONE] if len(total) == 1 and _ONE in total else None


def distance(a: Index, b: Index) -> int | None:
    """a - b, where it is a literal."""
    return 0 if a is b else _literal(_difference(a, b))


def at_most(a: Expr, b: Expr) -> Expr:
    """min(a, b) for positions; the literal difference decides where there is one."""
    gap = distance(a, b)
    if gap is not None:
        return a if gap <= 0 else b
    return typed_op("imin", INT64, a, b)


def at_least(a: Expr, b: Expr) -> Expr:
    """max(a, b) for positions."""
    gap = distance(a, b)
    if gap is not None:
        return a if gap >= 0 else b
    return typed_op("imax", INT64, a, b)
