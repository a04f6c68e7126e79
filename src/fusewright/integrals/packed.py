"""All electron-repulsion integrals, each once: the array that eight-fold symmetry leaves."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import QuartetClass, lanes
from fusewright.integrals.evaluate import Evaluator, Side, empty
from fusewright.integrals.operators import COULOMB, Operator
from fusewright.integrals.pairs import PairGroup, grouped
from fusewright.integrals.repulsion import kind_of, pairs_of, units_of
from fusewright.ir.fused import Array
from fusewright.kernels.kernel import kernel
from fusewright.machine.integrals import CHUNK_BYTES

Observer = Callable[[QuartetClass, int, float], None]
"""Is told of a class, quartets of shells that were evaluated, and seconds."""


def packed_repulsion(
    basis: Basis, operator: Operator = COULOMB, observe: Observer | None = None
) -> Array:
    """(ij|kl) for i >= j, k >= l, ij >= kl, at ij(ij+1)/2 + kl with ij = i(i+1)/2 + j.

    An array of one dimension for all functions of the basis, as `int2e` of libcint with the
    symmetry `s8`, in hartree.  `observe` is called after each class.
    """
    shells = (0, len(basis.shells))
    functions = int(basis.offsets[-1])
    pairs = functions * (functions + 1) // 2
    size = pairs * (pairs + 1) // 2
    values = np.empty(size)
    width = lanes()
    sides = [Side(group, width) for group in grouped(basis, pairs_of(shells, shells))]
    places = [places_of(basis, side.group) for side in sides]
    for m, one in enumerate(sides):
        for n in range(m, len(sides)):
            start = time.perf_counter()
            kind = _groups(basis, operator, (one, places[m]), (sides[n], places[n]), values)
            if observe is not None:
                observe(kind, quartets(one.group, sides[n].group), time.perf_counter() - start)
    return values


def quartets(bra: PairGroup, ket: PairGroup) -> int:
    """How many there are of two groups, or of one with itself."""
    return len(bra) * (len(bra) + 1) // 2 if bra is ket else len(bra) * len(ket)


def places_of(basis: Basis, group: PairGroup) -> Array:
    """(pairs, contractions, products of components): where each product of two functions stands
    among all pairs i >= j.
    """
    la, lb, many, more = group.pattern
    one, two = basis.components(la), basis.components(lb)
    i = basis.offsets[group.first][:, None, None] + _functions(many, one)
    j = basis.offsets[group.second][:, None, None] + _functions(more, two)
    i = i[:, :, None, :, None]
    j = j[:, None, :, None, :]
    high, low = np.maximum(i, j), np.minimum(i, j)
    places = high * (high + 1) // 2 + low
    return np.ascontiguousarray(places.reshape(len(group), many * more, one * two))


def _functions(contractions: int, components: int) -> Array:
    """(contractions, components): numbers within a shell."""
    return np.arange(contractions * components).reshape(contractions, components)


def _groups(
    basis: Basis, operator: Operator, one: tuple[Side, Array], two: tuple[Side, Array], out: Array
) -> QuartetClass:
    """All pairs of one group with all of another; their class."""
    (bra, left), (ket, right) = one, two
    kind = kind_of(bra.group, ket.group, basis, operator)
    evaluator = Evaluator(kind, bra, ket, operator)
    units = units_of(bra, ket, triangle=bra is ket)
    shape = evaluator.shape
    step = max(1, CHUNK_BYTES // (8 * int(np.prod(shape))))
    results = empty((min(step, len(units)), *shape))
    split = (left.shape[1], right.shape[1], left.shape[2], right.shape[2], shape[2])
    for start in range(0, len(units), step):
        chunk = units[start : start + step]
        evaluator.run(chunk, results[: len(chunk)])
        blocks = results[: len(chunk)].reshape(len(chunk), *split)
        _put(out, blocks, chunk, left, right, len(right), bra is ket)
    return kind


@kernel
def _put(
    out: Array, blocks: Array, units: Array, left: Array, right: Array, pairs: int, same: bool
) -> None:
    """Put blocks (units, contractions of bra and ket, integrals of bra and ket, lanes) at their
    places; of one group with itself only those of a pair with itself and with earlier ones.
    """
    lanes = blocks.shape[5]
    for u in range(blocks.shape[0]):
        pair = units[u, 0]
        first = units[u, 1] * lanes
        most = min(pairs, first + lanes)
        if same:
            most = min(most, pair + 1)
        for lane in range(most - first):
            other = first + lane
            for c in range(blocks.shape[1]):
                for d in range(blocks.shape[2]):
                    for a in range(blocks.shape[3]):
                        ij = left[pair, c, a]
                        for b in range(blocks.shape[4]):
                            kl = right[other, d, b]
                            high = max(ij, kl)
                            low = min(ij, kl)
                            out[high * (high + 1) // 2 + low] = blocks[u, c, d, a, b, lane]
