"""One-electron integrals: overlap, kinetic energy, multipoles, attraction by nuclei.

All but the last are products of one-dimensional integrals of x, y and z over each pair of
primitives, by the relation of Obara and Saika

    S(i+1, j, e) = (P-A) S(i, j, e) + (i S(i-1, j, e) + j S(i, j-1, e) + e S(i, j, e-1)) / 2p

and the same for j (with P-B) and for e, the power of x - origin.  The kinetic energy in one
dimension is T(i, j) = -2 b^2 S(i, j+2) + b (2j+1) S(i, j) - j (j-1)/2 S(i, j-2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fusewright.base.errors import ValueRangeError
from fusewright.integrals import given
from fusewright.integrals.basis import Basis, a_basis
from fusewright.integrals.harmonics import Exponents, cartesian, spherical
from fusewright.integrals.operators import COULOMB, Operator
from fusewright.integrals.pairs import SCALE, PairGroup, grouped, point_charges
from fusewright.integrals.repulsion import Tensor, pairs_of
from fusewright.ir.fused import Array

MOST_ORDER = 8
"""Of multipoles."""

_Value = Callable[["_Line", "_Line", "_Line", Exponents, Exponents], Array]
"""From the lines of x, y, z and the exponents of both functions: a number for each primitive."""


def overlap(basis: Basis) -> Array:
    """<i|j>, an array (functions, functions)."""
    return np.asarray(_matrices(basis, [_moment((0, 0, 0))], np.zeros(3))[0])


def kinetic(basis: Basis) -> Array:
    """<i| -1/2 nabla^2 |j> in hartree, an array (functions, functions)."""
    return np.asarray(_matrices(basis, [_kinetic], np.zeros(3))[0])


def multipoles(basis: Basis, order: int, origin: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
    """<i| x^a y^b z^c |j> for all a + b + c = order, around the origin (bohr).

    An array (components, functions, functions): x, y, z of dipoles; xx, xy, xz, yy, yz, zz of
    quadrupoles; and so on as in Cartesian shells.
    """
    if not 0 <= given.whole(order, "the order of multipoles") <= MOST_ORDER:
        raise ValueRangeError(f"multipoles of order {order}", help=f"from 0 to {MOST_ORDER}")
    values = [_moment(powers) for powers in cartesian(order)]
    return _matrices(basis, values, given.point(origin, "the coordinates of the origin"))


def dipole(basis: Basis, origin: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
    """(3, functions, functions): x, y, z around the origin."""
    return multipoles(basis, 1, origin)


def quadrupole(basis: Basis, origin: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
    """(6, functions, functions): xx, xy, xz, yy, yz, zz around the origin, with their traces."""
    return multipoles(basis, 2, origin)


def nuclear_attraction(
    basis: Basis,
    charges: Any = None,
    places: Any = None,
    operator: Operator = COULOMB,
) -> Array:
    """<i| - sum over C of Z_C op(|r - C|) |j> in hartree, an array (functions, functions).

    `charges` (n,) at `places` (n, 3), in bohr; left out, those of the basis.
    """
    a_basis(basis)
    z = given.reals(basis.charges if charges is None else charges, "charges").reshape(-1)
    at = given.points(basis.places if places is None else places, "places")
    if len(z) != len(at) or not (np.all(np.isfinite(z)) and np.all(np.isfinite(at))):
        raise ValueRangeError("charges and places are finite, one place for each charge")
    whole = (0, len(basis.shells))
    tensor = Tensor(basis, (whole, whole), operator)
    return tensor.attracted(point_charges(-z, at), pairs_of(whole, whole))


class _Line:
    """S(i, j, e) in one dimension, for all pairs of primitives of a group."""

    def __init__(self, group: PairGroup, axis: int, origin: float) -> None:
        data, pair = group.data, np.repeat(np.arange(len(group)), np.diff(group.starts))
        self.from_a = data[:, 1 + axis]
        self.from_b = self.from_a + group.apart[pair, axis]
        self.from_origin = data[:, 4 + axis] - origin
        self.half = 0.5 * data[:, 7]
        self.b = group.exponents[:, 1]
        self.known: dict[tuple[int, int, int], Array] = {(0, 0, 0): np.ones(len(data))}

    def moment(self, i: int, j: int, e: int = 0) -> Array:
        """S(i, j, e) without the prefactor."""
        key = (i, j, e)
        if key not in self.known:
            place = next(k for k in range(3) if key[k])
            low = list(key)
            low[place] -= 1
            value = (self.from_a, self.from_b, self.from_origin)[place] * self.moment(*low)
            for other in range(3):
                if low[other]:
                    lower = list(low)
                    lower[other] -= 1
                    value = value + low[other] * self.half * self.moment(*lower)
            self.known[key] = value
        return self.known[key]

    def kinetic(self, i: int, j: int) -> Array:
        """T(i, j)."""
        value = self.b * ((2 * j + 1) * self.moment(i, j) - 2 * self.b * self.moment(i, j + 2))
        if j > 1:
            value = value - 0.5 * j * (j - 1) * self.moment(i, j - 2)
        return np.asarray(value)


def _moment(powers: Exponents) -> _Value:
    def value(x: _Line, y: _Line, z: _Line, a: Exponents, b: Exponents) -> Array:
        found = x.moment(a[0], b[0], powers[0]) * y.moment(a[1], b[1], powers[1])
        product: Array = found * z.moment(a[2], b[2], powers[2])
        return product

    return value


def _kinetic(x: _Line, y: _Line, z: _Line, a: Exponents, b: Exponents) -> Array:
    lines = (x, y, z)
    plain = [line.moment(i, j) for line, i, j in zip(lines, a, b, strict=True)]
    total = np.zeros(len(x.half))
    for axis, line in enumerate(lines):
        rest = plain[(axis + 1) % 3] * plain[(axis + 2) % 3]
        total += line.kinetic(a[axis], b[axis]) * rest
    return total


def _matrices(basis: Basis, values: Sequence[_Value], origin: Array) -> Array:
    """A symmetric matrix of each value."""
    offsets = a_basis(basis).offsets
    found = np.zeros((len(values), offsets[-1], offsets[-1]))
    whole = (0, len(basis.shells))
    for group in grouped(basis, pairs_of(whole, whole)):
        lines = [_Line(group, axis, origin[axis]) for axis in range(3)]
        blocks = _FunctionBlocks(basis, group)
        for number, value in enumerate(values):
            for rows, columns, block in blocks.of(value, lines):
                found[number, rows, columns] = block
                found[number, columns, rows] = block
    return found


class _FunctionBlocks:
    """From primitives to functions of the basis."""

    def __init__(self, basis: Basis, group: PairGroup) -> None:
        self.basis, self.group = basis, group
        p = group.data[:, 0]
        self.weights = group.data[:, 8:] * (np.pi * np.sqrt(np.pi / p) / SCALE)[:, None]

    @cached_property
    def maps(self) -> tuple[Array, Array]:
        """From Cartesian components to those of the basis."""
        la, lb = self.group.pattern[:2]
        if self.basis.is_cartesian:
            return np.eye(len(cartesian(la))), np.eye(len(cartesian(lb)))
        return spherical(la), spherical(lb)

    def of(self, value: _Value, lines: Sequence[_Line]) -> Iterator[tuple[Array, Array, Array]]:
        """Row and column numbers and what stands there, one function of each shell at a time."""
        group = self.group
        la, lb, ca, cb = group.pattern
        x, y, z = lines
        shape = (len(group), ca, cb, len(cartesian(la)), len(cartesian(lb)))
        whole = np.empty(shape)
        for m, a in enumerate(cartesian(la)):
            for n, b in enumerate(cartesian(lb)):
                terms = value(x, y, z, a, b)[:, None] * self.weights
                sums = np.add.reduceat(terms, group.starts[:-1], axis=0)
                whole[..., m, n] = sums.reshape(shape[:3])
        mapped = np.einsum("pcdmn,am,bn->pcadb", whole, *self.maps, optimize=True)
        starts = self.basis.offsets
        first, second = starts[group.first], starts[group.second]
        block = mapped.reshape(len(group), ca * mapped.shape[2], -1)
        for m in range(block.shape[1]):
            for n in range(block.shape[2]):
                yield first + m, second + n, block[:, m, n]
