"""Tier T0, at each launch: which views share memory, and how, as a short signature.

The signature is part of a kernel's key: it says for every view which root it belongs to and how its
indices become the root's.  Ordinary overlap (slices and reversals of one array) keeps the indices'
structure; anything else (other dtypes over the same bytes, odd strides) becomes one root of bytes.

>>> whole = View(1000, (8,), (10,), 8)
>>> tail = View(1008, (8,), (9,), 8)
>>> signature([whole, tail])[1]
Place(root=0, kind='shift', offsets=(1,), signs=(1,), reference=0)
>>> even, odd = View(1000, (16,), (5,), 8), View(1008, (16,), (5,), 8)
>>> [place.root for place in signature([even, odd])]
[0, 1]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import gcd
from typing import Literal

from fusewright.base.values import dataclass
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op


@dataclass(frozen=True, slots=True)
class View:
    """Memory as a kernel gets it: first element's address, byte strides, extents, element size."""

    address: int
    strides: tuple[int, ...]
    extents: tuple[int, ...]
    itemsize: int

    @property
    def span(self) -> tuple[int, int]:
        """The half-open interval of bytes it touches; empty for an empty view."""
        if 0 in self.extents:
            return (self.address, self.address)
        reach = [s * (n - 1) for s, n in zip(self.strides, self.extents, strict=True)]
        low = self.address + sum(r for r in reach if r < 0)
        return (low, self.address + sum(r for r in reach if r > 0) + self.itemsize)


@dataclass(frozen=True, slots=True)
class Place:
    """How a view lies in its root.

    `shift`: index k of the root is `offsets[k] + signs[k] * index k of the view`; a sign of 0 is a
    broadcast dim (stride 0), which the root has once; -1 counts from the end of view `reference`.
    `bytes`: the root is one dim of bytes, the address `offsets[0] + sum(signs[k] * index k)`.
    """

    root: int
    kind: Literal["shift", "bytes"]
    offsets: tuple[int, ...]
    signs: tuple[int, ...]
    reference: int = 0


Signature = tuple[Place, ...]


def signature(views: Sequence[View]) -> Signature:
    """The place of every view; roots are numbered in the order of their first views."""
    group = list(range(len(views)))
    for a, b in combinations(range(len(views)), 2):
        if group[a] != group[b] and may_overlap(views[a], views[b]):
            old, new = sorted((group[a], group[b]), reverse=True)
            group = [new if g == old else g for g in group]
    roots = {g: number for number, g in enumerate(dict.fromkeys(group))}
    places: dict[int, Place] = {}
    for g, root in roots.items():
        members = [k for k in range(len(views)) if group[k] == g]
        places.update(_places(views, members, root))
    return tuple(places[k] for k in range(len(views)))


def may_overlap(a: View, b: View) -> bool:
    """Whether two views could share a byte: intervals, then the gcd of the strides."""
    low, high = max(a.span[0], b.span[0]), min(a.span[1], b.span[1])
    if low >= high:
        return False
    step = gcd(*(s for s, n in _steps(a)), *(s for s, n in _steps(b)))
    if not step:
        return True
    # the elements' starts differ by `gap` modulo step; they touch if one reaches into the other
    gap = (b.address - a.address) % step
    return gap < a.itemsize or step - gap < b.itemsize


def _steps(view: View) -> list[tuple[int, int]]:
    return [(s, n) for s, n in zip(view.strides, view.extents, strict=True) if n > 1 and s]


def _places(views: Sequence[View], members: list[int], root: int) -> dict[int, Place]:
    reference = min(members, key=lambda k: views[k].span[0])
    found: dict[int, Place] = {}
    for k in members:
        place = _shifted(views[reference], views[k], root, reference)
        if place is None:
            return _as_bytes(views, members, root)
        found[k] = place
    boxes = [_box(place, views[k], views[reference]) for k, place in found.items()]
    if not _distinct(boxes, views[reference]):
        return _as_bytes(views, members, root)
    return found


def _as_bytes(views: Sequence[View], members: list[int], root: int) -> dict[int, Place]:
    first = min(members, key=lambda k: views[k].span[0])
    start = views[first].span[0]
    return {
        k: Place(root, "bytes", (views[k].address - start,), views[k].strides, first)
        for k in members
    }


Box = tuple[tuple[int, int], ...]
"""Least and greatest index in each dim of a root."""


def _box(place: Place, view: View, reference: View) -> Box:
    sides = []
    for offset, sign, extent, end in zip(
        place.offsets, place.signs, view.extents, reference.extents, strict=True
    ):
        first = {1: offset, -1: end + offset - extent, 0: 0}[sign]
        sides.append((first, first + max(extent - 1, 0) * abs(sign)))
    return tuple(sides)


def _distinct(boxes: Sequence[Box], reference: View) -> bool:
    """Whether two indices of the root within the boxes' hull are never one element."""
    reach = reference.itemsize
    sides = zip(*boxes, strict=True)
    spans = [max(high for _, high in side) - min(low for low, _ in side) for side in sides]
    for stride, span in sorted(zip(map(abs, reference.strides), spans, strict=True)):
        if stride and span:
            if stride < reach:
                return False
            reach += stride * span
    return True


def _shifted(reference: View, view: View, root: int, number: int) -> Place | None:
    """The place of a view with the reference's strides, some of them turned round."""
    if view.itemsize != reference.itemsize or len(view.strides) != len(reference.strides):
        return None
    signs = [
        sign
        for strides in zip(reference.strides, view.strides, view.extents, strict=True)
        if (sign := _sign(*strides)) is not None
    ]
    if len(signs) < len(view.strides):
        return None
    turned = zip(reference.strides, reference.extents, signs, strict=True)
    end = sum(stride * (extent - 1) for stride, extent, sign in turned if sign < 0)
    own = Place(root, "shift", (0,) * len(signs), (1,) * len(signs), number)
    for offsets in _decompositions(view.address - reference.address - end, reference.strides):
        place = Place(root, "shift", offsets, tuple(signs), number)
        if _distinct([_box(own, reference, reference), _box(place, view, reference)], reference):
            return place
    return None


def _sign(reference: int, stride: int, extent: int) -> int | None:
    if reference == 0:
        return 0 if stride == 0 or extent <= 1 else None
    return {reference: 1, -reference: -1}.get(stride, 1 if extent <= 1 else None)


def _decompositions(distance: int, strides: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Bytes as whole numbers of strides: in each dim, widest first, rounded down or up."""
    by_size = sorted((k for k, s in enumerate(strides) if s), key=lambda k: -abs(strides[k]))
    for roundings in product((0, 1), repeat=len(by_size)):
        offsets, rest = [0] * len(strides), distance
        for k, up in zip(by_size, roundings, strict=True):
            offsets[k] = rest // strides[k] + up
            rest -= offsets[k] * strides[k]
        if rest == 0:
            yield tuple(offsets)


def in_root(place: Place, indices: Sequence[Expr], ends: Sequence[Expr]) -> tuple[Expr, ...]:
    """A view's indices as its root's; `ends` are the reference view's extents (for reversals)."""
    if place.kind == "bytes":
        total = const(place.offsets[0], INT64)
        for index, stride in zip(indices, place.signs, strict=True):
            total = op("add", total, op("multiply", index, const(stride, INT64)))
        return (total,)
    return tuple(map(_index, indices, place.offsets, place.signs, ends))


def _index(index: Expr, offset: int, sign: int, end: Expr) -> Expr:
    if sign == 0:
        return const(0, INT64)
    if sign < 0:
        return op("subtract", op("add", end, const(offset - 1, INT64)), index)
    return op("add", index, const(offset, INT64)) if offset else index
