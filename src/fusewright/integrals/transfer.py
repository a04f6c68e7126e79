"""From functions about one point to those of two shells, as one matrix for each pair:

    (x-A)^a (x-B)^b = sum over j, k of C(a, j) C(b, k) (M-A)^(a-j) (M-B)^(b-k) (x-M)^(j+k)

in each direction, and then solid harmonics.

M lies between A and B, where the products of Gaussians are.  With M = A, as in the horizontal
relation of smaller pairs, the powers of A-B cost (gg|gg) three digits.
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
    """(pairs, functions of both shells, functions about M)."""
    la, lb = group.pattern[0], max(group.pattern[1], 0)
    raised = {e: place for place, e in enumerate(raised_side(la, lb, True))}
    first, second = cartesian(la), cartesian(lb)
    found = np.zeros((len(group), len(first), len(second), len(raised)))
    lines = [_line(la, lb, group.centres()[:, k], group.apart[:, k]) for k in range(3)]
    for (m, a), (n, b) in product(enumerate(first), enumerate(second)):
        x, y, z = (lines[axis][a[axis], b[axis]] for axis in range(3))
        for e, place in raised.items():
            if e[0] in x and e[1] in y and e[2] in z:
                found[:, m, n, place] = x[e[0]] * y[e[1]] * z[e[2]]
    if harmonics:
        found = np.einsum("am,bn,pmne->pabe", spherical(la), spherical(lb), found, optimize=True)
    return np.ascontiguousarray(found.reshape(len(group), -1, len(raised)))


_Line = dict[tuple[int, int], dict[int, Array]]


def _line(la: int, lb: int, from_a: Array, apart: Array) -> _Line:
    """The coefficients of (x-M)^e by a, b and e; where M is A, only e = a is there."""
    from_b, found = from_a + apart, _Line()
    for a, b in product(range(la + 1), range(lb + 1)):
        powers: dict[int, Array] = {}
        for j, k in product(range(a + 1) if lb else (a,), range(b + 1)):
            term = comb(a, j) * comb(b, k) * from_a ** (a - j) * from_b ** (b - k)
            powers[j + k] = powers.get(j + k, 0.0) + term
        found[a, b] = powers
    return found
