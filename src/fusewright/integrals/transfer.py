"""The steps from [e0| to (ab| as one matrix for each pair of shells:

    (x-B)^b = sum over k of C(b, k) (A-B)^(b-k) (x-A)^k

in each direction, and then solid harmonics.  Large classes are multiplied by it on both sides.
"""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np

from fusewright.integrals.classes import raised_side
from fusewright.integrals.harmonics import cartesian, spherical
from fusewright.integrals.pairs import PairGroup
from fusewright.ir.fused import Array


def transfers(group: PairGroup, harmonics: bool) -> Array:
    """(pairs, functions of both shells, functions e)."""
    la, lb = group.pattern[0], max(group.pattern[1], 0)
    raised = {e: place for place, e in enumerate(raised_side(la, lb))}
    first, second = cartesian(la), cartesian(lb)
    found = np.zeros((len(group), len(first), len(second), len(raised)))
    powers = group.apart[:, :, None] ** np.arange(lb + 1)
    for (m, a), (n, b) in product(enumerate(first), enumerate(second)):
        for k in product(*(range(each + 1) for each in b)):
            e = raised[a[0] + k[0], a[1] + k[1], a[2] + k[2]]
            weight = np.prod([comb(b[axis], k[axis]) for axis in range(3)])
            shifts = [powers[:, axis, b[axis] - k[axis]] for axis in range(3)]
            found[:, m, n, e] += weight * shifts[0] * shifts[1] * shifts[2]
    if harmonics:
        found = np.einsum("am,bn,pmne->pabe", spherical(la), spherical(lb), found, optimize=True)
    return np.ascontiguousarray(found.reshape(len(group), -1, len(raised)))


def transferred(sums: Array, units: Array, bra: Array, ket: Array, width: int) -> Array:
    """(units, contractions, integrals, lanes) of [e0|f0] (units, contractions, e f, lanes)."""
    many, contractions = sums.shape[:2]
    lanes = np.minimum(units[:, 1:] * width + np.arange(width), len(ket) - 1)
    square = sums.reshape(many, contractions, bra.shape[2], ket.shape[2], width)
    front = np.ascontiguousarray(square.transpose(0, 4, 1, 2, 3))
    half = bra[units[:, 0]][:, None, None] @ front
    whole = half @ ket[lanes].swapaxes(2, 3)[:, :, None]
    return np.asarray(whole.reshape(many, width, contractions, -1).transpose(0, 2, 3, 1))
