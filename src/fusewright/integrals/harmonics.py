"""Cartesian Gaussians as real solid harmonics, in libcint's order and normalisation."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from fusewright.ir.fused import Array

Exponents = tuple[int, int, int]
"""The powers of x, y and z."""
_Polynomial = dict[Exponents, float]


@cache
def cartesian(l: int) -> tuple[Exponents, ...]:  # noqa: E741 (the quantum number's name)
    """The (l + 1)(l + 2)/2 Cartesian components: xx, xy, xz, yy, yz, zz."""
    return tuple((x, y, l - x - y) for x in range(l, -1, -1) for y in range(l - x, -1, -1))


@cache
def spherical(l: int) -> Array:  # noqa: E741
    """The matrix (2l + 1, (l + 1)(l + 2)/2) of real solid harmonics, rows m = -l ... l.

    From d on a row has the norm 1 over the unit sphere; s and p are the Cartesian components
    themselves (x, y, z), whose factors 1/sqrt(4 pi) and sqrt(3/(4 pi)) belong to the radial part.
    That is what libcint does.  Source: Schlegel and Frisch, IJQC 54, 83 (1995), eq. 15, here as
    Pi_lm(z, r) times the real or the imaginary part of (x + iy)^m.
    """
    columns = cartesian(l)
    if l < 2:
        return np.eye(len(columns))
    matrix = np.zeros((2 * l + 1, len(columns)))
    for row, m in enumerate(range(-l, l + 1)):
        for exponents, coefficient in _solid(l, m).items():
            matrix[row, columns.index(exponents)] = coefficient
    matrix.flags.writeable = False
    return matrix


def _solid(l: int, m: int) -> _Polynomial:  # noqa: E741
    size = abs(m)
    double = 1 if m == 0 else 2
    ratio = double * math.factorial(l - size) / math.factorial(l + size)
    norm = math.sqrt((2 * l + 1) / (4 * math.pi) * ratio)
    found: _Polynomial = {}
    for (x, y), angular in _angular(size, m < 0).items():
        for (x2, y2, z), axial in _axial(l, size).items():
            key = (x + x2, y + y2, z)
            found[key] = found.get(key, 0.0) + norm * angular * axial
    return {key: value for key, value in found.items() if value}


def _angular(m: int, imaginary: bool) -> dict[tuple[int, int], int]:
    """The real or the imaginary part of (x + iy)^m."""
    signs = (0, 1, 0, -1) if imaginary else (1, 0, -1, 0)
    return {(m - k, k): signs[k % 4] * math.comb(m, k) for k in range(m + 1) if signs[k % 4]}


def _axial(l: int, m: int) -> _Polynomial:  # noqa: E741
    """The sum over k of (-1)^k 2^-l C(l, k) C(2l-2k, l) (l-2k)!/(l-2k-m)! r^2k z^(l-2k-m)."""
    found: _Polynomial = {}
    for k in range((l - m) // 2 + 1):
        number = (-1) ** k * math.comb(l, k) * math.comb(2 * l - 2 * k, l)
        factor = number * math.perm(l - 2 * k, m) / 2**l
        for a in range(k + 1):
            for b in range(k - a + 1):
                c = k - a - b
                many = (
                    math.factorial(k) // math.factorial(a) // math.factorial(b) // math.factorial(c)
                )
                key = (2 * a, 2 * b, 2 * c + l - 2 * k - m)
                found[key] = found.get(key, 0.0) + factor * many
    return found
