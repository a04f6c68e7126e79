"""Rows of positions in arrays, and whether two have an element in common (`_core/overlap.c`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any

from fusewright.ir.graph import Node

Place = tuple[int, int, int]
"""Positions in a dim: the first, the step, how many."""


def all_same(writes: Iterable[Place], places: Iterable[Place]) -> bool:
    """Whether two regions are the same."""
    return all(
        here == there or (here[0] == there[0] and here[2] == there[2] == 1)
        for here, there in zip(writes, places, strict=True)
    )


def apart(start: int, step: int, count: int, place: int, pace: int, other: int) -> bool:
    """Whether two rows of positions have none in common, by where they end or by their steps."""
    low, high = sorted((start, start + step * (count - 1)))
    least, most = sorted((place, place + pace * (other - 1)))
    common = gcd(step if count > 1 else 0, pace if other > 1 else 0)
    return high < least or most < low or (common > 1 and (start - place) % common > 0)


def is_leaf_safe(
    base: Node, read: Node, straight: bool, region: Any, shape: tuple[int, ...]
) -> bool:
    """Whether reading a leaf on the memory of a base, which lies there in C order, touches none of
    a region that is written, or exactly that, element for element.
    """
    _, offset, strides = base.value
    _, at, paces = read.value
    first = offset + sum(start * stride for (start, _), stride in zip(region, strides, strict=True))
    steps = [step * stride for (_, step), stride in zip(region, strides, strict=True)]
    writes = [(n, step) for n, step in zip(shape, steps, strict=True) if n != 1]
    places = [(n, pace) for n, pace in zip(read.shape, paces, strict=True) if n != 1]
    size, other = base.dtype.itemsize, read.dtype.itemsize
    if first == at and writes == places and size == other:
        return straight
    low, high = _ends(first, size, writes)
    least, most = _ends(at, other, places)
    if high <= least or most <= low:
        return True
    common = gcd(*(step for _, step in writes), *(pace for _, pace in places))
    if common and size <= (at - first) % common <= common - other:
        return True
    where = _places(base, read) if size == other else None
    return where is not None and any(
        apart(start, step, count, *place)
        for (start, step), count, place in zip(region, shape, where, strict=True)
    )


def _ends(first: int, size: int, dims: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The bytes between which elements lie that begin with one of a size."""
    low = sum(min((count - 1) * step, 0) for count, step in dims)
    high = sum(max((count - 1) * step, 0) for count, step in dims)
    return first + low, first + high + size


def _places(base: Node, read: Node) -> list[Place] | None:
    """Which elements of a base a leaf on its memory is, as a row of positions for each dim; None
    where it is no such region.
    """
    left = read.value[1] - base.value[1]
    strides = base.value[2]
    found: list[Place] = []
    for stride in strides:
        start, left = divmod(left, stride)
        found.append((start, 0, 1))
    for count, pace in zip(read.shape, read.value[2], strict=True):
        if count == 1 or pace == 0:
            continue
        dims = (d for d, n in enumerate(base.shape) if n != 1 and pace % strides[d] == 0)
        dim = next(dims, None)
        if dim is None or found[dim][2] > 1:
            return None
        found[dim] = (found[dim][0], pace // strides[dim], count)
    inside = all(
        0 <= start < extent and 0 <= start + step * (count - 1) < extent
        for (start, step, count), extent in zip(found, base.shape, strict=True)
    )
    return found if inside and left == 0 else None
