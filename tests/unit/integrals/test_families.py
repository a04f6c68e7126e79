"""Electron-repulsion integrals as families: their values, and what planning does to them."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

from fusewright.frontends.recurrences.demand import demanded
from fusewright.integrals.families import SCALARS, THREE_CENTRE, TWO_CENTRE, repulsion
from fusewright.integrals.harmonics import cartesian, spherical
from fusewright.ir.recurrences.graph import AndOrGraph
from fusewright.ir.recurrences.interpret import exact
from fusewright.plan.recurrences.plan import Listed, plan

DIGITS = 40


def graph(letters: str, harmonics: bool = False, contracted: bool = False) -> AndOrGraph:
    wanted = repulsion(*("spdfg".index(c) for c in letters), harmonics, contracted)
    return demanded(wanted.targets, wanted.families, SCALARS)


@cache
def listed(letters: str, harmonics: bool, effort: int) -> Listed:
    return plan(graph(letters, harmonics), effort).outer


class Quartet:
    """Four primitive functions and their integrals by McMurchie and Davidson's formulas."""

    def __init__(self, seed: int, zero: str = "") -> None:
        rng = np.random.default_rng(seed)
        a, b, c, d = (mpmath.mpf(x) for x in rng.uniform(0.2, 3.0, 4))
        A, B, C, D = (np.array([mpmath.mpf(x) for x in row]) for row in rng.standard_normal((4, 3)))
        if "d" in zero:
            d, D = mpmath.mpf(0), C
        if "b" in zero:
            b, B = mpmath.mpf(0), A
        self.p, self.q = a + b, c + d
        P, Q = (a * A + b * B) / self.p, (c * C + d * D) / self.q
        p, q = self.p, self.q
        self.rho = rho = p * q / (p + q)
        self.PQ, self.PA, self.PB, self.QC, self.QD = P - Q, P - A, P - B, Q - C, Q - D
        overlap = mpmath.exp(-a * b / p * sum((A - B) ** 2) - c * d / q * sum((C - D) ** 2))
        self.prefactor = 2 * mpmath.pi ** mpmath.mpf("2.5") / (p * q * mpmath.sqrt(p + q)) * overlap
        self.T = rho * sum(self.PQ**2)
        vectors = {"PA": self.PA, "WP": -rho / p * self.PQ, "QC": self.QC, "WQ": rho / q * self.PQ,
                   "AB": A - B, "CD": C - D}  # fmt: skip
        self.rows = {f"{n}{x}": v[i] for n, v in vectors.items() for i, x in enumerate("xyz")}
        self.rows |= {"h2p": 1 / (2 * p), "h2q": 1 / (2 * q), "h2pq": 1 / (2 * (p + q)),
                      "r2p": -rho / (2 * p * p), "r2q": -rho / (2 * q * q)}  # fmt: skip
        self.rows |= {f"F{m}": self.prefactor * self.boys(m) for m in range(17)}
        self.known: dict[Any, Any] = {}

    def boys(self, m: int) -> Any:
        return mpmath.hyp1f1(m + 0.5, m + 1.5, -self.T) / (2 * m + 1)

    def hermite(self, one: Any, two: Any, p: Any, i: int, j: int, t: int) -> Any:
        """The coefficient of Hermite function t in (x - A)^i (x - B)^j."""
        if not 0 <= t <= i + j:
            return mpmath.mpf(0)
        if i + j == 0:
            return mpmath.mpf(1)
        i, j, x = (i - 1, j, one) if i else (i, j - 1, two)
        before, same, after = (self.hermite(one, two, p, i, j, s) for s in (t - 1, t, t + 1))
        return before / (2 * p) + x * same + (t + 1) * after

    def coulomb(self, t: tuple[int, ...], n: int = 0) -> Any:
        """R^n_tuv."""
        if (t, n) not in self.known:
            if min(t) < 0:
                return mpmath.mpf(0)
            if t == (0, 0, 0):
                return (-2 * self.rho) ** n * self.boys(n)
            axis = next(i for i in range(3) if t[i])
            low = tuple(x - (i == axis) for i, x in enumerate(t))
            lower = tuple(x - (i == axis) for i, x in enumerate(low))
            value = self.PQ[axis] * self.coulomb(low, n + 1)
            if low[axis]:
                value += low[axis] * self.coulomb(lower, n + 1)
            self.known[t, n] = value
        return self.known[t, n]

    def cartesian(self, a: Any, b: Any, c: Any, d: Any) -> Any:
        bra = [[self.hermite(self.PA[x], self.PB[x], self.p, a[x], b[x], t)
                for t in range(a[x] + b[x] + 1)] for x in range(3)]  # fmt: skip
        ket = [[self.hermite(self.QC[x], self.QD[x], self.q, c[x], d[x], t)
                for t in range(c[x] + d[x] + 1)] for x in range(3)]  # fmt: skip
        total = mpmath.mpf(0)
        for t in product(*(range(len(each)) for each in bra)):
            for u in product(*(range(len(each)) for each in ket)):
                weight = math.prod((bra[x][t[x]] * ket[x][u[x]] for x in range(3)), start=1)
                total += (
                    weight * (-1) ** sum(u) * self.coulomb(tuple(map(sum, zip(t, u, strict=True))))
                )
        return self.prefactor * total


def evaluated(found: Listed, quartet: Quartet) -> list[Any]:
    straight = found.straight
    rows = ([quartet.rows[n] for n in names] for names in (straight.scalars, straight.leaves))
    return exact(straight, *rows, DIGITS)


@pytest.mark.parametrize("letters", ["ssss", "psss", "spsp", "pppp", "dsps", "sdsd", "fspp"])
def test_the_values_are_those_of_another_formula(letters: str) -> None:
    shells = [cartesian("spdfg".index(c)) for c in letters]
    with mpmath.workdps(DIGITS):
        quartet = Quartet(len(letters) + ord(letters[0]))
        expected = [quartet.cartesian(*at) for at in product(*shells)]
        got = evaluated(listed(letters, False, 3000), quartet)
        scale = max(map(abs, expected))
        assert max(abs(a - b) for a, b in zip(got, expected, strict=True)) < 1e-35 * scale


@pytest.mark.parametrize("letters", ["dsds", "pdps"])
def test_solid_harmonics_wherever_they_are_applied(letters: str) -> None:
    ls = ["spdfg".index(c) for c in letters]
    with mpmath.workdps(DIGITS):
        quartet = Quartet(3)
        whole = np.array(evaluated(listed(letters, False, 0), quartet), object)
        whole = whole.reshape([len(cartesian(n)) for n in ls])
        for axis, n in enumerate(ls):
            matrix = np.array([[mpmath.mpf(x) for x in row] for row in spherical(n).tolist()])
            whole = np.moveaxis(np.tensordot(matrix, whole, (1, axis)), 0, axis)
        got = evaluated(listed(letters, True, 3000), quartet)
        # The product of two matrices is folded in float64.
        assert max(abs(a - b) for a, b in zip(got, whole.ravel(), strict=True)) < 1e-15


@pytest.mark.parametrize("l", range(6))
def test_solid_harmonics_are_orthonormal_and_harmonic(l: int) -> None:  # noqa: E741
    def moment(x: int, y: int, z: int) -> float:
        """The integral of x^i y^j z^k over the unit sphere."""
        if x % 2 or y % 2 or z % 2:
            return 0.0
        odd = math.prod(math.prod(range(n - 1, 0, -2)) for n in (x, y, z))
        return 4 * math.pi * odd / math.prod(range(x + y + z + 1, 0, -2))

    columns = cartesian(l)
    gram = [[moment(*(a + b for a, b in zip(u, v, strict=True))) for v in columns] for u in columns]
    matrix = spherical(l)
    norm = matrix @ np.array(gram) @ matrix.T
    unit = 4 * math.pi / (2 * l + 1) if l < 2 else 1.0
    np.testing.assert_allclose(norm, unit * np.eye(2 * l + 1), atol=1e-13)
    for row in matrix:
        laplacian: dict[Any, float] = {}
        for exponents, value in zip(columns, row, strict=True):
            for axis in range(3):
                n = exponents[axis]
                if n > 1:
                    at = tuple(e - 2 * (i == axis) for i, e in enumerate(exponents))
                    laplacian[at] = laplacian.get(at, 0.0) + n * (n - 1) * value
        assert max(map(abs, laplacian.values()), default=0.0) < 1e-12


def test_the_order_of_solid_harmonics_is_libcints() -> None:
    """d: xy, yz, z^2, xz, x^2 - y^2; a positive coefficient of the first of them."""
    names = ["xx", "xy", "xz", "yy", "yz", "zz"]
    leading = [names[int(np.argmax(np.abs(row)))] for row in spherical(2)]
    assert leading == ["xy", "yz", "zz", "xz", "xx"]
    assert all(row[np.argmax(np.abs(row))] > 0 for row in spherical(2))
    assert spherical(2)[2][5] == pytest.approx(0.630783130505040)
    np.testing.assert_array_equal(spherical(1), np.eye(3))


@pytest.mark.parametrize(("zeros", "which"), [(THREE_CENTRE, "d"), (TWO_CENTRE, "bd")])
def test_three_and_two_centres_are_zeros_of_four(zeros: Any, which: str) -> None:
    letters = "dsps"
    wanted = repulsion(2, 0, 1, 0, contracted=False)
    scalars = {**dict.fromkeys(SCALARS), **zeros}
    found = plan(demanded(wanted.targets, wanted.families, scalars), 3000).outer
    full = listed(letters, False, 3000)
    assert len(found.straight.statements) < len(full.straight.statements)
    assert found.chosen.flops < 0.8 * full.chosen.flops
    with mpmath.workdps(DIGITS):
        quartet = Quartet(8, which)
        expected = evaluated(full, quartet)
        got = evaluated(found, quartet)
        assert max(abs(a - b) for a, b in zip(got, expected, strict=True)) < 1e-35


PEAKS = {
    "pppp": (87, 42, 0), "dsds": (58, 21, 0), "fsfs": (218, 61, 0), "dpdp": (316, 142, 0),
    "dddd": (1584, 634, 0),
}  # fmt: skip
"""Cartesian: values live at once by level, at least; and as planned without a search, at most."""


@pytest.mark.parametrize("letters", PEAKS)
def test_values_live_at_once(letters: str) -> None:
    before, after, effort = PEAKS[letters]
    found = listed(letters, False, effort)
    assert found.textbook().peak >= before
    assert found.pressure.peak <= after
    assert found.straight.results and len(set(found.straight.results)) == len(
        found.straight.results
    )


def test_values_live_at_once_after_a_sum() -> None:
    """Sums are in memory: the second list takes them when it needs them."""
    both = plan(graph("pppp", contracted=True), 0)
    assert both.inner is not None
    assert (both.inner.pressure.peak, both.outer.pressure.peak) <= (22, 21)
    assert both.inner.textbook().peak > 50 and both.outer.textbook().peak > 80


def test_a_search_lowers_the_peak_further() -> None:
    assert listed("dsds", False, 150_000).pressure.peak <= 20
    assert listed("fsfs", False, 60_000).pressure.peak <= 60


def test_solid_harmonics_early_where_that_lowers_the_peak() -> None:
    found = listed("dpdp", True, 10_000)
    assert found.placement == "BA"
    assert found.tried[found.chosen.rule, "BA"] < found.tried[found.chosen.rule, "LA"]


def test_the_sum_over_primitives_stands_between_two_lists() -> None:
    both = plan(graph("dpdp", harmonics=True, contracted=True), 5000)
    inner, outer = both.phases.inner, both.phases.outer
    assert inner is not None and both.phases.axis == "primitives"
    assert not any(name[:2] in ("AB", "CD") for name in inner.scalars)
    assert all(name[:2] in ("AB", "CD") for name in outer.scalars)
    # [e0|f0], 2 <= e, f <= 3
    assert len(inner.results) == (6 + 10) ** 2 == len(outer.leaves)
    assert len(outer.results) == 15**2
