"""Schwarz bounds of pairs of shells: |(ij|kl)| <= q_ij q_kl with q_ij = sqrt of max |(ij|ij)| over
the functions of both shells.
"""

from __future__ import annotations

import numpy as np

from fusewright.integrals import given
from fusewright.integrals.basis import Basis, a_basis
from fusewright.integrals.classes import lanes
from fusewright.integrals.evaluate import Evaluator, Side, empty
from fusewright.integrals.operators import COULOMB, Operator
from fusewright.integrals.pairs import PairGroup, grouped
from fusewright.integrals.repulsion import kind_of, pairs_of
from fusewright.ir.fused import Array
from fusewright.machine.integrals import CHUNK_BYTES


def schwarz(basis: Basis, operator: Operator = COULOMB) -> Array:
    """q, an array (shells, shells), symmetric."""
    given.an_operator(operator)
    many = len(a_basis(basis).shells)
    found = np.zeros((many, many))
    for group in grouped(basis, pairs_of((0, many), (0, many))):
        found[group.first, group.second] = bounds(basis, group, operator)
    return np.asarray(np.maximum(found, found.T))


def bounds(basis: Basis, group: PairGroup, operator: Operator = COULOMB) -> Array:
    """(pairs,): q of each pair of a group.

    The diagonal is evaluated with one vector for each pair, of which one lane is used.
    """
    side = Side(group, lanes())
    evaluator = Evaluator(kind_of(group, group, basis, operator), side, side, operator)
    pairs = np.arange(len(group))
    units = np.stack([pairs, pairs // side.width], axis=1)
    step = max(1, CHUNK_BYTES // (8 * int(np.prod(evaluator.shape))))
    found = np.empty(len(group))
    for start in range(0, len(group), step):
        chunk = units[start : start + step]
        results = empty((len(chunk), *evaluator.shape))
        evaluator.run(chunk, results)
        own = results[np.arange(len(chunk)), :, :, pairs[start : start + step] % side.width]
        found[start : start + step] = np.abs(_diagonal(own, group)).max(axis=1)
    return np.asarray(np.sqrt(found))


def _diagonal(blocks: Array, group: PairGroup) -> Array:
    """(pairs, functions): the integrals with equal bra and ket, of (pairs, contractions, all)."""
    many = group.contractions
    size = int(np.sqrt(blocks.shape[2] + 0.5))
    square = blocks.reshape(len(blocks), many, many, size, size)
    return np.asarray(np.einsum("nccaa->nca", square).reshape(len(blocks), -1))


def by_bound(group: PairGroup, found: Array) -> tuple[PairGroup, Array]:
    """The group sorted by falling bound, and the bounds in that order."""
    order = np.argsort(-found, kind="stable")
    return group.taken(order), found[order]
