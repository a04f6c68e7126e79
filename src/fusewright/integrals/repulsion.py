"""Electron-repulsion integrals of two, three and four centres, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from fusewright.base.errors import ArgumentError, ValueRangeError
from fusewright.base.values import dataclass
from fusewright.integrals import given
from fusewright.integrals.basis import Basis, a_basis
from fusewright.integrals.classes import QuartetClass, lanes
from fusewright.integrals.evaluate import Evaluator, Side, empty
from fusewright.integrals.operators import COULOMB, Operator
from fusewright.integrals.pairs import NONE, PairGroup, grouped
from fusewright.ir.fused import Array
from fusewright.machine.integrals import CHUNK_BYTES

Range = tuple[int, int]
"""Shells [first, last)."""


def electron_repulsion(
    basis: Basis,
    shells: Sequence[Range | slice | None] | None = None,
    operator: Operator = COULOMB,
) -> Array:
    """(ij|kl) = integral of i(1) j(1) op(r12) k(2) l(2), an array of four dimensions.

    `shells` are four ranges of shells (pairs or slices; None for all), by default all; the array
    has the functions of each in order, as `int2e_sph` of libcint, in hartree.  Integrals have an
    error that is small against the Schwarz bound of their class, not against each tiny one.
    """
    ranges = shell_ranges(a_basis(basis), shells, 4)
    bra, ket = (pairs_of(*ranges[:2]), pairs_of(*ranges[2:]))
    return Tensor(basis, ranges, operator).filled(bra, ket)


def three_centre(
    basis: Basis,
    auxiliary: Basis,
    shells: Sequence[Range | slice | None] | None = None,
    operator: Operator = COULOMB,
) -> Array:
    """(ij|P), an array (functions, functions, auxiliary functions).

    `shells` are ranges of i, j (of `basis`) and P (of `auxiliary`); both bases are spherical or
    both Cartesian.
    """
    whole, (i, j, k) = _joined(basis, auxiliary, shells, 3)
    ranges = (i, j, k)
    return Tensor(whole, ranges, operator).filled(pairs_of(i, j), _alone(k))


def two_centre(
    auxiliary: Basis,
    shells: Sequence[Range | slice | None] | None = None,
    operator: Operator = COULOMB,
) -> Array:
    """(P|Q), an array (functions, functions)."""
    first, second = shell_ranges(a_basis(auxiliary), shells, 2)
    return Tensor(auxiliary, (first, second), operator).filled(_alone(first), _alone(second))


def _alone(shells: Range) -> Array:
    """(n, 2), each shell with none."""
    return np.stack(np.broadcast_arrays(np.arange(*shells), NONE), axis=1)


def shell_ranges(
    basis: Basis, shells: Sequence[Range | slice | None] | None, many: int
) -> list[Range]:
    """So many ranges, all shells where none is given."""
    return [_range(len(basis.shells), each) for each in _one_for_each(shells, many)]


def _one_for_each(
    shells: Sequence[Range | slice | None] | None, many: int
) -> list[Range | slice | None]:
    ranges: list[Range | slice | None] = [None] * many
    if shells is not None:
        ranges = list(given.sequence(shells, "ranges of shells"))
    if len(ranges) != many:
        raise ValueRangeError(f"{many} ranges of shells are needed, not {len(ranges)}")
    return ranges


def _range(many: int, one: Any) -> Range:
    if one is None:
        return 0, many
    if isinstance(one, slice):
        first, last, step = one.indices(many)
        if step != 1:
            raise ValueRangeError("a slice of shells has the step 1")
        return first, max(first, last)
    if not isinstance(one, Sequence) or len(one) != 2:
        raise ArgumentError(f"a range of shells is {one!r}", help="(first, last), a slice or None")
    first, last = (given.whole(each, "the end of a range of shells") for each in one)
    if not 0 <= first <= last <= many:
        raise ValueRangeError(f"shells {first} to {last} of {many}")
    return first, last


def _joined(
    basis: Basis, auxiliary: Basis, shells: Sequence[Range | slice | None] | None, many: int
) -> tuple[Basis, list[Range]]:
    """Both bases as one, and the ranges there."""
    if a_basis(basis).is_cartesian != a_basis(auxiliary).is_cartesian:
        raise ValueRangeError("one basis is Cartesian and the other one is not")
    ranges = _one_for_each(shells, many)
    own = [_range(len(basis.shells), each) for each in ranges[:-1]]
    first, last = _range(len(auxiliary.shells), ranges[-1])
    shift = len(basis.shells)
    whole = Basis((*basis.shells, *auxiliary.shells), is_cartesian=basis.is_cartesian)
    return whole, [*own, (shift + first, shift + last)]


def pairs_of(one: Range, two: Range) -> Array:
    """(n, 2), the pairs i >= j that the products of two ranges need, in order."""
    first, second = np.arange(*one)[:, None], np.arange(*two)
    base = max(one[1], two[1]) + 1
    numbers = np.unique(np.maximum(first, second) * base + np.minimum(first, second))
    return np.stack(np.divmod(numbers, base), axis=1)


@dataclass(slots=True)
class Tensor:
    """The array being filled; an axis for each function that is there."""

    basis: Basis
    ranges: Sequence[Range]
    operator: Operator
    values: Array = field(init=False)
    offsets: Array = field(init=False)

    def __post_init__(self) -> None:
        given.an_operator(self.operator)
        self.offsets = self.basis.offsets
        sizes = [self.offsets[last] - self.offsets[first] for first, last in self.ranges]
        self.values = np.zeros(sizes)

    def filled(self, bra: Array, ket: Array) -> Array:
        width = lanes()
        same = np.array_equal(bra, ket)
        left = [Side(group, width) for group in grouped(self.basis, bra, careful=True)]
        right = left
        if not same:
            right = [Side(group, width) for group in grouped(self.basis, ket, careful=True)]
        for m, one in enumerate(left):
            for two in right[m:] if same else right:
                swapped = one.group.pattern < two.group.pattern
                higher, lower = (two, one) if swapped else (one, two)
                self.groups(higher, lower, swapped, same)
        return self.values

    def attracted(self, charges: PairGroup, pairs: Array) -> Array:
        """All pairs with charges instead of a bra."""
        width = lanes()
        bra = Side(charges, width)
        for group in grouped(self.basis, pairs) if len(charges.data) else ():
            self.groups(bra, Side(group, width), False, False)
        return self.values

    def groups(self, bra: Side, ket: Side, swapped: bool, same: bool) -> None:
        """All pairs of one group with all of another."""
        kind = kind_of(bra.group, ket.group, self.basis, self.operator)
        evaluator = Evaluator(kind, bra, ket, self.operator)
        units = units_of(bra, ket, triangle=bra is ket)
        size = 8 * int(np.prod(evaluator.shape))
        step = max(1, CHUNK_BYTES // size)
        results = empty((min(step, len(units)), *evaluator.shape))
        for start in range(0, len(units), step):
            chunk = units[start : start + step]
            evaluator.run(chunk, results[: len(chunk)])
            self.scatter(evaluator, chunk, results[: len(chunk)], swapped, same)

    def scatter(
        self, evaluator: Evaluator, units: Array, results: Array, swapped: bool, same: bool
    ) -> None:
        """Put integrals at all places that symmetry gives them."""
        bra, ket = evaluator.bra.group, evaluator.ket.group
        pair = units[:, :1]
        other = units[:, 1:] * evaluator.ket.width + np.arange(evaluator.ket.width)
        valid = other < len(ket)
        if bra is ket:
            valid &= other <= pair
        unit, lane = np.nonzero(valid)
        blocks = results[unit, :, :, lane]
        pair, other = units[unit, 0], other[unit, lane]
        quartet = (bra.first[pair], bra.second[pair], ket.first[other], ket.second[other])
        shape = self.block_shape(bra, ket)
        whole = blocks.reshape(len(unit), *shape)
        # (n, ca, cb, cc, cd, a, b, c, d) -> (n, ca a, cb b, cc c, cd d)
        whole = whole.transpose(0, 1, 5, 2, 6, 3, 7, 4, 8).reshape(
            len(unit), *(shape[k] * shape[k + 4] for k in range(4))
        )
        for order in _orders(swapped, same):
            self.put(whole, quartet, order)

    def block_shape(self, bra: PairGroup, ket: PairGroup) -> tuple[int, ...]:
        momenta = (*bra.pattern[:2], *ket.pattern[:2])
        many = (*bra.pattern[2:], *ket.pattern[2:])
        return (*many, *(1 if l == NONE else self.basis.components(l) for l in momenta))  # noqa: E741

    def put(self, whole: Array, quartet: Sequence[Array], order: Sequence[int]) -> None:
        """Add blocks with their axes in an order, where they belong to the ranges."""
        shells = [quartet[k] for k in order]
        present = [k for k in range(4) if shells[k][0] != NONE]
        if any(k % 2 and k - 1 not in present for k in present):
            return  # a function that is not there stands last in its pair
        inside = np.ones(len(whole), bool)
        for k, (first, last) in zip(present, self.ranges, strict=True):
            inside &= (shells[k] >= first) & (shells[k] < last)
        blocks = whole[inside].transpose(0, *(1 + k for k in order))
        blocks = blocks.reshape(len(blocks), *(blocks.shape[1 + k] for k in present))
        index = []
        for axis, k in enumerate(present):
            start = self.offsets[shells[k][inside]] - self.offsets[self.ranges[axis][0]]
            size = blocks.shape[1 + axis]
            shape = [len(blocks)] + [1] * len(present)
            shape[1 + axis] = size
            index.append((start[:, None] + np.arange(size)).reshape(shape))
        self.values[tuple(index)] = blocks


def kind_of(bra: PairGroup, ket: PairGroup, basis: Basis, *operators: Operator) -> QuartetClass:
    """The class of two groups, for one operator or two."""
    momenta = (*bra.pattern[:2], *ket.pattern[:2])
    general = bra.contractions * ket.contractions > 1
    lossy = (bra.lossy, ket.lossy)
    parts = tuple(operator.parts for operator in operators)
    return QuartetClass(momenta, not basis.is_cartesian, parts, general, lossy)


def units_of(bra: Side, ket: Side, triangle: bool) -> Array:
    """(n, 2): each pair of the bra with each vector of the ket, up to its own where both are one
    group.
    """
    pairs, vectors = np.meshgrid(np.arange(len(bra.group)), np.arange(ket.vectors), indexing="ij")
    units = np.stack([pairs.ravel(), vectors.ravel()], axis=1)
    return units[units[:, 1] * ket.width <= units[:, 0]] if triangle else units


def _orders(swapped: bool, same: bool) -> Iterator[tuple[int, int, int, int]]:
    """The eight orders of a quartet's functions (four where bra and ket are of different kinds)."""
    for turned in (False, True) if same else (swapped,):
        one, two = ((2, 3), (0, 1)) if turned else ((0, 1), (2, 3))
        for a, b in (one, one[::-1]):
            for c, d in (two, two[::-1]):
                yield a, b, c, d
