"""Loops over the same iterations become one loop: its body is theirs, one after the other.

    for i in [0, n): A(i)            for i in [0, min(n, m)): A(i); B(i)
    for i in [0, m): B(i)      ->    for i in [min(n, m), n): A(i)
                                     for i in [min(n, m), m): B(i)

Right where all that A(i) and B(j) have in common has i = j.  Bounds that differ split the
iterations, so that no element pays for a test.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.ir import linear
from fusewright.ir.expr import Expr, index
from fusewright.ir.linear import at_least, at_most
from fusewright.ir.loops.statements import Dim, For, Statement
from fusewright.plan.loops.rename import Numbers, copied, reindexed


def same_bounds(a: For, b: For) -> bool:
    """Whether the loops run over the same ranges, as written."""
    return all(_equal(x, y) for x, y in zip(a.dims, b.dims, strict=True))


def _equal(x: Dim, y: Dim) -> bool:
    return x.low is y.low and x.high is y.high


def merged(a: For, b: For, numbers: Numbers) -> tuple[Statement, ...]:
    """The two loops as one; with parts that only one of them has where the bounds differ."""
    return _from(a, b, 0, numbers)


def _from(a: For, b: For, depth: int, numbers: Numbers) -> tuple[Statement, ...]:
    """From a dim on; the dims further out are one already."""
    if depth == len(a.dims):
        return (*a.body, *b.body)
    x, y = a.dims[depth], b.dims[depth]
    inside = replace(b, body=reindexed(b.body, {y.index: index(x.index)}))
    if _equal(x, y):
        return (_loop(a, x, x.low, x.high, _from(a, inside, depth + 1, numbers)),)
    low = at_least(x.low, y.low)
    high = at_least(low, at_most(x.high, y.high))
    parts: list[For] = []
    for loop, dim, (begin, end) in (
        (a, x, (x.low, at_most(x.high, low))), (b, y, (y.low, at_most(y.high, low))),
    ):  # fmt: skip
        if begin is not low:
            parts.append(_alone(loop, depth, dim, begin, end, numbers))
    parts.append(_loop(a, x, low, high, _from(a, inside, depth + 1, numbers)))
    for loop, dim in ((a, x), (b, y)):
        if not (dim.high is at_most(x.high, y.high) and x.low is y.low):
            begin = at_least(dim.low, high)
            parts.append(_alone(loop, depth, dim, begin, dim.high, numbers))
    numbers.parts.update(part.dims[0].index for part in parts)
    return tuple(parts)


def _loop(around: For, dim: Dim, low: Expr, high: Expr, body: tuple[Statement, ...]) -> For:
    fresh = replace(around, dims=(replace(dim, low=low, high=high),), body=body)
    if len(body) == 1 and isinstance(body[0], For) and body[0].declared == around.declared:
        inner = body[0]
        own = {dim.index}
        if all(_is_free(bound, own) for d in inner.dims for bound in (d.low, d.high)):
            return replace(fresh, dims=fresh.dims + inner.dims, body=inner.body)
    return fresh


def _is_free(bound: Expr, own: set[int]) -> bool:
    return not any(term.name == "index" and term.attr in own for term in linear.terms(bound))


def _alone(loop: For, depth: int, dim: Dim, low: Expr, high: Expr, numbers: Numbers) -> For:
    """The iterations that only one of the loops has, from this dim on."""
    dims = (replace(dim, low=low, high=high), *loop.dims[depth + 1 :])
    (fresh,) = copied((replace(loop, dims=dims),), numbers)
    assert isinstance(fresh, For)
    return fresh
