"""Loops over the same iterations become one loop: its body is theirs, one after the other.

    for i in [0, n): A(i)            for i in [0, min(n, m)): A(i); B(i)
    for i in [0, m): B(i)      ->    for i in [min(n, m), n): A(i)
                                     for i in [min(n, m), m): B(i)

Right where all that A(i) and B(j) have in common has i = j.  Bounds that differ split the
iterations, so that no element pays for a test: the loops have those in common which all of them
have; before and after, each runs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce

from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.expr import Expr, index
from fusewright.ir.linear import at_least, at_most
from fusewright.ir.loops.statements import Dim, For, Statement, inner_dims
from fusewright.plan.loops.normalise.rename import Numbers, copied, reindexed


@dataclass(frozen=True, slots=True)
class Parts:
    """What all loops have in common, as one loop, and what they run alone before and after it."""

    before: tuple[For, ...]
    core: For
    after: tuple[For, ...]


def same_bounds(a: For, b: For) -> bool:
    """Whether the loops run over the same ranges, as written."""
    return all(_equal(x, y) for x, y in zip(a.dims, b.dims, strict=True))


def _equal(x: Dim, y: Dim) -> bool:
    return x.low is y.low and x.high is y.high


def merged(loops: Sequence[For], numbers: Numbers) -> Parts:
    """Loops of as many dims as one, with parts that only one of them has where bounds differ."""
    return _from(loops, 0, numbers)


def _from(loops: Sequence[For], depth: int, numbers: Numbers) -> Parts:
    """From a dim on; the dims further out are one already."""
    first, dims = loops[0], [loop.dims[depth] for loop in loops]
    same = [loops[0]]
    for loop, dim in zip(loops[1:], dims[1:], strict=True):
        renamed = {dim.index: index(dims[0].index)}
        same.append(_reindexed(loop, depth, renamed))
    if all(_equal(dims[0], dim) for dim in dims[1:]):
        body = _inside(same, depth + 1, numbers)
        return Parts((), _loop(first, dims[0], dims[0].low, dims[0].high, body), ())
    low = _furthest((dim.low for dim in dims), "imax")
    least = _furthest((dim.high for dim in dims), "imin")
    end = _furthest((low, least), "imax")
    before = [
        _alone(loop, depth, dim, dim.low, _furthest((dim.high, low), "imin"), numbers)
        for loop, dim in zip(loops, dims, strict=True)
        if not _reaches(dim.low, low)
    ]
    core = _loop(first, dims[0], low, end, _inside(same, depth + 1, numbers))
    after = [
        _alone(loop, depth, dim, _furthest((dim.low, end), "imax"), dim.high, numbers)
        for loop, dim in zip(loops, dims, strict=True)
        if not _reaches(end, dim.high)
    ]
    parts = (*before, core, *after)
    numbers.parts.update(part.dims[0].index for part in parts)
    return Parts(tuple(before), core, tuple(after))


def _inside(loops: Sequence[For], depth: int, numbers: Numbers) -> tuple[Statement, ...]:
    """The body of the loop that has the dims before this one."""
    if depth == len(loops[0].dims):
        return tuple(statement for loop in loops for statement in loop.body)
    parts = _from(loops, depth, numbers)
    return (*parts.before, parts.core, *parts.after)


def _reindexed(loop: For, depth: int, renamed: dict[int, Expr]) -> For:
    """The loop with another index for a dim, in its body and in the bounds further in."""
    inner = replace(loop, dims=loop.dims[depth + 1 :])
    if not inner.dims:
        return replace(loop, body=reindexed(loop.body, renamed))
    (fresh,) = reindexed((inner,), renamed)
    assert isinstance(fresh, For)
    return replace(fresh, dims=(*loop.dims[: depth + 1], *fresh.dims))


_PICK: dict[str, Callable[[Expr, Expr], Expr]] = {"imax": at_least, "imin": at_most}


def _furthest(bounds: Iterable[Expr], name: str) -> Expr:
    """The greatest (imax) or least of the bounds, each that may be it named once."""
    flat = [part for bound in bounds for part in _alternatives(bound, name)]
    kept: list[Expr] = []
    for bound in flat:
        beaten = [_beats(other, bound, name) for other in kept]
        if not any(beaten):
            kept = [other for other in kept if not _beats(bound, other, name)]
            kept.append(bound)
    return reduce(_PICK[name], kept)


def _beats(a: Expr, b: Expr, name: str) -> bool:
    """Whether `a` is certainly at least as far as `b`."""
    gap = linear.distance(a, b)
    return gap is not None and (gap >= 0 if name == "imax" else gap <= 0)


def _alternatives(bound: Expr, name: str) -> list[Expr]:
    if bound.name != name:
        return [bound]
    return [part for arg in bound.args for part in _alternatives(arg, name)]


def _reaches(a: Expr, b: Expr) -> bool:
    """Whether a >= b is certain: one of what `a` is the greatest of is at least one of what `b`
    is the least of.
    """
    return any(
        _beats(x, y, "imax") for x in _alternatives(a, "imax") for y in _alternatives(b, "imin")
    )


def _loop(around: For, dim: Dim, low: Expr, high: Expr, body: tuple[Statement, ...]) -> For:
    fresh = replace(around, dims=(replace(dim, low=low, high=high),), body=body)
    if len(body) == 1 and isinstance(body[0], For) and body[0].declared == around.declared:
        inner = body[0]
        own = {dim.index}
        if all(_is_free(bound, own) for d in inner.dims for bound in (d.low, d.high)):
            return replace(fresh, dims=fresh.dims + inner_dims(inner), body=inner.body)
    return fresh


def _is_free(bound: Expr, own: set[int]) -> bool:
    return not any(term.name == "index" and term.attr in own for term in linear.terms(bound))


def _alone(loop: For, depth: int, dim: Dim, low: Expr, high: Expr, numbers: Numbers) -> For:
    """The iterations that only one of the loops has, from this dim on."""
    dims = (replace(dim, low=low, high=high), *loop.dims[depth + 1 :])
    (fresh,) = copied((replace(loop, dims=dims),), numbers)
    assert isinstance(fresh, For)
    return fresh
