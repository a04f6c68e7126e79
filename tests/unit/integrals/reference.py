"""Integrals by McMurchie and Davidson's formulas in mpmath: nothing is shared with the package."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import mpmath

DIGITS = 50
Exponents = tuple[int, int, int]


class Gaussian(NamedTuple):
    """(x-A)^i (y-A)^j (z-A)^k exp(-e |r-A|^2)."""

    exponent: float
    centre: tuple[float, float, float]
    powers: Exponents


def boys(highest: int, t: Any) -> list[Any]:
    half = mpmath.mpf(1) / 2
    if t > 200:
        return [mpmath.gammainc(m + half, 0, t) / (2 * t ** (m + half)) for m in range(highest + 1)]
    top = mpmath.exp(-t) * mpmath.hyp1f1(1, highest + 3 * half, t) / (2 * highest + 1)
    values = [top]
    for m in reversed(range(highest)):
        values.append((2 * t * values[-1] + mpmath.exp(-t)) / (2 * m + 1))
    return values[::-1]


class _Pair:
    def __init__(self, one: Gaussian, two: Gaussian) -> None:
        self.a, self.b = mpmath.mpf(one.exponent), mpmath.mpf(two.exponent)
        self.p = self.a + self.b
        A, B = ([mpmath.mpf(x) for x in each.centre] for each in (one, two))
        self.P = [(self.a * x + self.b * y) / self.p for x, y in zip(A, B, strict=True)]
        self.lines = [
            self.line(i, j, x, y, k)
            for k, (i, j, x, y) in enumerate(zip(one.powers, two.powers, A, B, strict=True))
        ]

    def line(self, i: int, j: int, x: Any, y: Any, axis: int) -> list[Any]:
        """E_t of x_A^i x_B^j."""
        center = self.P[axis]
        rows = [mpmath.exp(-self.a * self.b / self.p * (x - y) ** 2)]
        for shift in [center - x] * i + [center - y] * j:
            wide = [mpmath.mpf(0), *rows, mpmath.mpf(0), mpmath.mpf(0)]
            rows = [
                wide[t] / (2 * self.p) + shift * wide[t + 1] + (t + 1) * wide[t + 2]
                for t in range(len(rows) + 1)
            ]
        return rows

    def terms(self) -> list[tuple[Exponents, Any]]:
        ranges = [range(len(line)) for line in self.lines]
        return [(t, mpmath.fprod(self.lines[k][t[k]] for k in range(3))) for t in product(*ranges)]


def repulsion(functions: Sequence[Gaussian], parts: Sequence[tuple[float, float]]) -> Any:
    """(ab|cd) of the operator sum of weight * erf(w r)/r, where w = inf is 1/r."""
    with mpmath.workdps(DIGITS):
        bra, ket = _Pair(*functions[:2]), _Pair(*functions[2:])
        p, q = bra.p, ket.p
        rho = p * q / (p + q)
        apart = [x - y for x, y in zip(bra.P, ket.P, strict=True)]
        highest = sum(sum(f.powers) for f in functions)
        total = mpmath.mpf(0)
        for weight, w in parts:
            s = (
                mpmath.mpf(1)
                if w == mpmath.inf
                else mpmath.mpf(w) ** 2 / (mpmath.mpf(w) ** 2 + rho)
            )
            total += weight * mpmath.sqrt(s) * _sum(bra, ket, rho * s, apart, highest)
        return 2 * mpmath.pi ** mpmath.mpf("2.5") / (p * q * mpmath.sqrt(p + q)) * total


def _sum(bra: _Pair, ket: _Pair, rho: Any, apart: list[Any], highest: int) -> Any:
    values = boys(highest, rho * mpmath.fsum(x * x for x in apart))

    @cache
    def hermite(t: Exponents, n: int) -> Any:
        if t == (0, 0, 0):
            return (-2 * rho) ** n * values[n]
        axis = next(k for k in range(3) if t[k])
        low = tuple(v - (k == axis) for k, v in enumerate(t))
        found = apart[axis] * hermite(low, n + 1)
        if low[axis]:
            lower = tuple(v - (k == axis) for k, v in enumerate(low))
            found += low[axis] * hermite(lower, n + 1)
        return found

    right = ket.terms()
    return mpmath.fsum(
        e * f * (-1) ** sum(u) * hermite(tuple(x + y for x, y in zip(t, u, strict=True)), 0)
        for t, e in bra.terms()
        for u, f in right
    )
