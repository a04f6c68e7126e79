"""Which loop of one nest is paired with which of the other, and which may move outermost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from fusewright.analysis.affine import fixed
from fusewright.analysis.fast import Pair
from fusewright.analysis.unit import Dim, Unit
from fusewright.ir.expr import Expr, postorder

Chain = tuple[Pair, ...]


def chain(a: Unit, b: Unit, equal: frozenset[Pair]) -> Chain:
    """Pairs of dims, in order in both nests: as many as possible of those in which every conflict
    is equal, then of those with the same bounds, then any.
    """
    best: tuple[tuple[int, int, int], Chain] = ((0, 0, 0), ())
    size = min(len(a.dims), len(b.dims))
    for left in combinations(a.dims, size):
        for right in combinations(b.dims, size):
            pairs = tuple((x.number, y.number) for x, y in zip(left, right, strict=True))
            score = (
                sum(pair in equal for pair in pairs),
                sum(same_bounds(x, y) for x, y in zip(left, right, strict=True)),
                sum(x is y for x, y in zip(left, a.dims, strict=False)),
            )
            if score > best[0] or not best[1]:
                best = (score, pairs)
    return best[1]


def same_bounds(x: Dim, y: Dim) -> bool:
    """Whether two loops run over the same range, whatever the parameters."""
    return x.low is y.low and x.high is y.high and fixed(x.low) and fixed(x.high)


def outermost(unit: Unit, numbers: tuple[int, ...], ordered: Callable[..., bool]) -> bool:
    """Whether these dims may become the unit's outer loops, the others keeping their order.

    `ordered(unit, numbers)` answers for its accesses; the bounds must not need a loop that would
    then be further in.
    """
    if numbers == tuple(dim.number for dim in unit.dims[: len(numbers)]):
        return True
    seen: set[int] = set()
    for dim in unit.dims:
        if dim.number in numbers:
            if not all(_uses_only(bound, seen) for bound in (dim.low, dim.high)):
                return False
            seen.add(dim.number)
    return ordered(unit, numbers)


def _uses_only(bound: Expr, numbers: set[int]) -> bool:
    return all(
        node.name != "load" and (node.name != "index" or node.attr in numbers)
        for node in postorder([bound])
    )


def subsets(pairs: Chain) -> Iterator[Chain]:
    """All parts of a chain, larger ones first."""
    for size in range(len(pairs), -1, -1):
        yield from combinations(pairs, size)
