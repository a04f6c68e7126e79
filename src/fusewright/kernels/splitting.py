"""Loops of different bounds that meet in the same iterations: better loops than array statements.

    for i in range(n): b[i] = 2 * a[i]            b[:] = 2 * a
    for i in range(n - 1): c[i] = b[i] + 1        c[:-1] = b[:-1] + 1

As loops they share the iterations both have.  As array statements each writes a part of its array,
in a pass over memory of its own; for small arrays, which stay in a cache, that is the faster way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

from fusewright.base.values import dataclass
from fusewright.ir.dtypes import DType
from fusewright.kernels.iteration import NotRaised
from fusewright.kernels.places import Access, Form
from fusewright.machine.record import DEFAULT

Type = tuple[DType, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of one statement, outermost first, with their first values and counts."""

    box: Mapping[int, tuple[int, int]]
    accesses: Sequence[Access]


def keep_together(nests: Sequence[Nest], types: Sequence[Type]) -> None:
    """`NotRaised` where loops share iterations that they would not share as array statements;
    `types` are those of the arrays.
    """
    found = None
    for first, second in combinations([nest for nest in nests if nest.box], 2):
        common = _common(first, second)
        if not common:
            continue
        if len(first.box) != len(second.box):
            return
        if not all(_same(x, y, first, second) for x, y in common):
            return
        size = sum(_bytes(types[array]) for array in {x.array for x, _ in common})
        if list(first.box.values()) != list(second.box.values()) and size >= DEFAULT.joined:
            found = found or second.accesses[-1].span
    if found is not None:
        raise NotRaised("its loops have different bounds: only loops share what is common", found)


def _bytes(of: Type) -> int:
    return of[0].itemsize * prod(of[1])


def _common(first: Nest, second: Nest) -> list[tuple[Access, Access]]:
    """Accesses of both to one array, one of them writing."""
    return [
        (x, y)
        for x in first.accesses
        for y in second.accesses
        if x.array == y.array and (x.writes or y.writes)
    ]


def _same(x: Access, y: Access, first: Nest, second: Nest) -> bool:
    """Whether two accesses meet in the same iteration of all loops, counted from the outermost."""
    place = dict(zip(second.box, first.box, strict=True))
    renamed = [_renamed(form, place) for form in y.indices]
    alone = {form.factors[0][0] for form in x.indices if len(form.factors) == 1}
    return list(x.indices) == renamed and alone >= set(first.box)


def _renamed(form: Form, place: Mapping[int, int]) -> Form:
    return Form(form.constant, tuple(sorted((place[v], factor) for v, factor in form.factors)))
