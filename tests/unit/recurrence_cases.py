"""Recurrences from textbooks, each with rows of input and values found without our code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

import mpmath
import numpy as np

from fusewright.frontends.recurrences.demand import demanded
from fusewright.frontends.recurrences.families import Accumulate, Family, LinearMap
from fusewright.ir.recurrences.graph import AndOrGraph


@dataclass(frozen=True)
class Case:
    """Targets and families; `value` gives a target from exact inputs, by another formula."""

    targets: list[Any]
    families: list[Any]
    scalars: Any
    inputs: dict[str, Fraction]
    value: Callable[..., Any]
    error: float = 1e-40
    """Of values at 60 digits: larger where coefficients are rounded to float64."""

    def graph(self) -> AndOrGraph:
        return demanded(self.targets, self.families, self.scalars)


def number(rng: Any) -> Fraction:
    return Fraction(int(rng.integers(-40, 40)), 16) + Fraction(1, 7)


def clenshaw(n: int, rng: Any) -> Case:
    """A Chebyshev series: b_k = a_k + 2x b_(k+1) - b_(k+2), the sum a_0 + x b_1 - b_2."""

    def alternatives(k: int) -> Any:
        factor = ("x",) if k == 0 else (2, "x")
        return [[(1, "a", k), (factor, "b", k + 1), (-1, "b", k + 2)]]

    families = [
        Family("b", "k", alternatives, lambda k: 0.0 if k > n else None),
        Family("a", "k", lambda k: [], lambda k: f"a{k}"),
    ]
    inputs = {"x": number(rng) / 4, **{f"a{k}": number(rng) for k in range(n + 1)}}

    def value(x: Any, **a: Any) -> list[Any]:
        t = [mpmath.mpf(1), x]
        for _ in range(n):
            t.append(2 * x * t[-1] - t[-2])
        return [sum(a[f"a{k}"] * t[k] for k in range(n + 1))]

    return Case([("b", 0)], families, ["x"], inputs, value)


def hermite(n: int, rng: Any) -> Case:
    """McMurchie and Davidson's E(i, j, t): either function may be raised."""

    def alternatives(i: int, j: int, t: int) -> Any:
        lowered = [(x, at) for x, at, k in (("a", (i - 1, j), i), ("b", (i, j - 1), j)) if k]
        return [
            [("h", "E", (*at, t - 1)), (x, "E", (*at, t)), (t + 1, "E", (*at, t + 1))]
            for x, at in lowered
        ]

    def leaf(i: int, j: int, t: int) -> Any:
        return 0 if not 0 <= t <= i + j else "K" if i == j == 0 else None

    targets = [("E", (i, j, t)) for i in range(n) for j in range(2) for t in range(i + j + 1)]
    inputs = {each: number(rng) for each in "abhK"}

    def value(a: Any, b: Any, h: Any, K: Any) -> list[Any]:
        """(x + a)^i (x + b)^j in Hermite polynomials: x^k has moments in h."""
        found = []
        for _, (i, j, t) in targets:
            poly = [mpmath.mpf(0)] * (i + j + 1)
            for k in range(i + 1):
                for m in range(j + 1):
                    poly[k + m] += comb(i, k) * a ** (i - k) * comb(j, m) * b ** (j - m)
            # x^n = n! sum over k of h^(n-k) H_(n-2k) / (k! (n-2k)!), with h = 1/(2p)
            total = mpmath.mpf(0)
            for power, c in enumerate(poly):
                if power >= t and (power - t) % 2 == 0:
                    k = (power - t) // 2
                    many = mpmath.factorial(power) / mpmath.factorial(k) / mpmath.factorial(t)
                    total += c * many * h ** (power - k) / mpmath.mpf(2) ** k
            found.append(K * total)
        return found

    return Case(targets, [Family("E", list("ijt"), alternatives, leaf)], list("abh"), inputs, value)


def legendre(n: int, rng: Any) -> Case:
    """P_l^m with x = cos, s = sin: by degree, by order, or both."""

    def alternatives(l: int, m: int) -> Any:  # noqa: E741
        found = []
        if m:
            found.append([(1, "P", (l - 2, m)), ((-(2 * l - 1), "s"), "P", (l - 1, m - 1))])
        if l > m:
            found.append([
                (((2 * l - 1) / (l - m), "x"), "P", (l - 1, m)),
                (-(l + m - 1) / (l - m), "P", (l - 2, m)),
            ])  # fmt: skip
        return found

    def leaf(l: int, m: int) -> Any:  # noqa: E741
        return 0.0 if m > l else 1.0 if l == 0 else None

    cosine = Fraction(3, 5) if rng.integers(2) else Fraction(-5, 13)
    sine = Fraction(4, 5) if cosine == Fraction(3, 5) else Fraction(12, 13)
    targets = [("P", (l, m)) for l in range(n) for m in range(l + 1)]  # noqa: E741

    def value(x: Any, s: Any) -> list[Any]:
        """(-s)^m times the derivative of order m of (x^2 - 1)^l / (2^l l!)."""
        found = []
        for _, (l, m) in targets:  # noqa: E741
            total = mpmath.mpf(0)
            for k in range(l + 1):
                power = 2 * k - l - m
                if power >= 0:
                    c = (-1) ** (l - k) * comb(l, k) * mpmath.factorial(2 * k)
                    total += c / mpmath.factorial(power) * x**power
            found.append((-s) ** m * total / mpmath.mpf(2) ** l / mpmath.factorial(l))
        return found

    families = [Family("P", ("l", "m"), alternatives, leaf)]
    return Case(targets, families, ["x", "s"], {"x": cosine, "s": sine}, value, error=1e-12)


def wigner(n: int, rng: Any) -> Case:
    """d^j_(m' m): from j - 1/2 in two ways.  The index has 2j, 2m', 2m."""

    def alternatives(j: int, k: int, m: int) -> Any:
        found = []
        if m > -j:
            found.append([
                (((j + k) / (j + m)) ** 0.5, "c", (j - 1, k - 1, m - 1)),
                (((j - k) / (j + m)) ** 0.5, "s", (j - 1, k + 1, m - 1)),
            ])  # fmt: skip
        if m < j:
            found.append([
                (((j - k) / (j - m)) ** 0.5, "c", (j - 1, k + 1, m + 1)),
                (-(((j + k) / (j - m)) ** 0.5), "s", (j - 1, k - 1, m + 1)),
            ])  # fmt: skip
        return [[((f, x), "d", at) for f, x, at in alternative] for alternative in found]

    def leaf(j: int, k: int, m: int) -> Any:
        return 0.0 if max(abs(k), abs(m)) > j else 1.0 if j == 0 else None

    sides = range(-n, n + 1, 2)
    targets = [("d", (n, k, m)) for k in sides for m in sides]
    inputs = {"c": Fraction(4, 5), "s": Fraction(3, 5) * (1 if rng.integers(2) else -1)}

    def value(c: Any, s: Any) -> list[Any]:
        """Wigner's sum."""
        found = []
        for _, (j, k, m) in targets:
            a, b, u, v = (j + k) // 2, (j - k) // 2, (j + m) // 2, (j - m) // 2
            norm = mpmath.sqrt(mpmath.fprod(map(mpmath.factorial, (a, b, u, v))))
            total, shift = mpmath.mpf(0), (k - m) // 2
            for r in range(max(0, -shift), min(u, b) + 1):
                below = mpmath.fprod(map(mpmath.factorial, (u - r, r, shift + r, b - r)))
                powers = c ** (j - shift - 2 * r) * s ** (shift + 2 * r)
                total += (-1) ** (shift + r) * powers / below
            found.append(norm * total)
        return found

    families = [Family("d", ("j", "k", "m"), alternatives, leaf)]
    return Case(targets, families, ["c", "s"], inputs, value, error=1e-13)


def taylor(n: int, rng: Any) -> Case:
    """The coefficients of p(x + h), by Horner's rule again and again."""

    def alternatives(k: int, i: int) -> Any:
        return [[(1, "b", (k - 1, i)), ("h", "b", (k, i + 1))]]

    def leaf(k: int, i: int) -> Any:
        return f"c{i}" if k < 0 else f"c{n}" if i == n else None

    inputs = {"h": number(rng), **{f"c{i}": number(rng) for i in range(n + 1)}}

    def value(h: Any, **c: Any) -> list[Any]:
        return [
            sum(c[f"c{i}"] * comb(i, k) * h ** (i - k) for i in range(k, n + 1))
            for k in range(n + 1)
        ]

    families = [Family("b", ("k", "i"), alternatives, leaf)]
    return Case([("b", (k, k)) for k in range(n + 1)], families, ["h"], inputs, value)


@cache
def exponents(n: int) -> list[tuple[int, int, int]]:
    return [(x, y, n - x - y) for x in range(n, -1, -1) for y in range(n - x, -1, -1)]


def multipoles(n: int, rng: Any) -> Case:
    """Moments about two centres from those about one; a direction may be moved before another."""

    def alternatives(a: Any, b: Any) -> Any:
        found = []
        for axis in (axis for axis in range(3) if b[axis]):
            unit = np.eye(3, dtype=int)[axis]
            low = tuple((np.array(b) - unit).tolist())
            high = tuple((np.array(a) + unit).tolist())
            found.append([(1, "M", (high, low)), ("xyz"[axis], "M", (a, low))])
        return found

    def leaf(a: Any, b: Any) -> Any:
        return "m" + "".join(map(str, a)) if b == (0, 0, 0) else None

    first = exponents(1)
    targets = [("M", (a, b)) for a in first for b in exponents(n)]
    rows = {"m" + "".join(map(str, a)): number(rng) for k in range(n + 2) for a in exponents(k)}
    inputs = {**{axis: number(rng) for axis in "xyz"}, **rows}

    def value(x: Any, y: Any, z: Any, **m: Any) -> list[Any]:
        found = []
        for _, (a, b) in targets:
            total = mpmath.mpf(0)
            for i in range(b[0] + 1):
                for j in range(b[1] + 1):
                    for k in range(b[2] + 1):
                        c = comb(b[0], i) * comb(b[1], j) * comb(b[2], k)
                        shift = x ** (b[0] - i) * y ** (b[1] - j) * z ** (b[2] - k)
                        total += c * shift * m[f"m{a[0] + i}{a[1] + j}{a[2] + k}"]
            found.append(total)
        return found

    return Case(targets, [Family("M", list("ab"), alternatives, leaf)], list("xyz"), inputs, value)


def mapped(n: int, rng: Any) -> Case:
    """A random linear map before or after the translation of a pair of indices."""
    matrix = rng.integers(-3, 4, (3, n + 1)) / 4.0

    def alternatives(k: int, c: Any) -> Any:
        return [[("h", "L", (k - 1, c)), (2.0, "L", (k - 1, c))]]

    def early(k: int, r: int) -> Any:
        return [[("h", "R", (k - 1, r)), (2.0, "R", (k - 1, r))]]

    leaves = Family("F", "c", lambda c: [], lambda c: f"f{c}")
    families = [
        leaves,
        Family("L", list("kc"), lambda k, c: alternatives(k, c) if k else [[(1, "F", c)]]),
        LinearMap("late", "L", matrix, 1),
        LinearMap("first", "F", matrix, 0),
        Family("R", list("kr"), lambda k, r: early(k, r) if k else [[(1, "first", r)]]),
        Family("T", list("kr"), lambda k, r: [[(1, "late", (k, r))], [(1, "same", (k, r))]]),
        LinearMap("same", "R", np.eye(3), 1),
    ]
    inputs = {"h": number(rng), **{f"f{c}": number(rng) for c in range(n + 1)}}

    def value(h: Any, **f: Any) -> list[Any]:
        rows = [
            sum(mpmath.mpf(x) * f.get(f"f{c}", 0) for c, x in enumerate(row))
            for row in matrix.tolist()
        ]
        return [(h + 2) ** 2 * row for row in rows]

    return Case([("T", (2, r)) for r in range(3)], families, ["h"], inputs, value)


CASES: dict[str, Callable[[int, Any], Case]] = {
    "clenshaw": clenshaw, "hermite": hermite, "legendre": legendre, "wigner": wigner,
    "taylor": taylor, "multipoles": multipoles, "mapped": mapped,
}  # fmt: skip


def precise(case: Case) -> dict[str, Any]:
    """The inputs as mpmath numbers."""
    return {name: mpmath.mpf(v.numerator) / v.denominator for name, v in case.inputs.items()}


def plain(case: Case, target: Any, inputs: dict[str, Any], pick: Callable[[int], int]) -> Any:
    """The value of a target by plain recursion, with one alternative picked for each value."""
    by_name = {family.name: family for family in case.families}
    known: dict[Any, Any] = {}

    def coefficient(given: Any) -> Any:
        parts = given if isinstance(given, tuple) else (given,)
        return mpmath.fprod(inputs[p] if isinstance(p, str) else mpmath.mpf(p) for p in parts)

    def value(name: str, index: Any) -> Any:
        index = index if isinstance(index, tuple) else (index,)
        if (name, index) not in known:
            known[name, index] = compute(by_name[name], index)
        return known[name, index]

    def compute(family: Any, index: Any) -> Any:
        if isinstance(family, LinearMap):
            row = family.matrix[index[family.axis]].tolist()
            at = [(*index[: family.axis], c, *index[family.axis + 1 :]) for c in family.columns]
            pairs = zip(row, at, strict=True)
            return mpmath.fsum(mpmath.mpf(x) * value(family.of, i) for x, i in pairs)
        assert not isinstance(family, Accumulate)
        leaf = family.leaf(*index)
        if leaf is not None:
            return inputs[leaf] if isinstance(leaf, str) else mpmath.mpf(leaf)
        choices = list(family.alternatives(*index))
        return mpmath.fsum(coefficient(c) * value(f, i) for c, f, i in choices[pick(len(choices))])

    return value(*target)
