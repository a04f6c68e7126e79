"""Boys functions F_0(T) ... F_L(T) as LLVM text; F_m(T) = integral of t^2m exp(-T t^2) over [0, 1].

Up to T = 36, F_L by a polynomial in each of eight regions and the others by
F_m = (2T F_{m+1} + exp(-T)) / (2m+1), which is stable downwards for all T.  Beyond,
F_0 = sqrt(pi/T)/2 (erfc(6) is 2e-17) and upwards F_{m+1} = ((2m+1) F_m - exp(-T)) / 2T, which is
stable there for the m that are needed.

A table of Taylor polynomials in memory, which is gathered from, takes 1.2 to 1.7 times as long with
AVX-512 and 0.9 to 1.1 times with AVX2, L = 0 to 24 (measured).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.fused import Array
from fusewright.rules.decompose.exponential import exp_of_negative

LARGE = 36.0
"""From here up the asymptotic formula holds to 2e-17."""
MOST = 24
"""The highest m of any class: four g shells and their derivatives need 20."""
REGIONS, DEGREE = 8, 16
"""Of the polynomials: their error is below 4e-15 of F_L for every L."""
_FLAT = 700.0
"""exp(-T) of a larger T is not seen beside F_m(T), m <= 24."""


def _series(m: int, points: Array) -> Array:
    """F_m = exp(-T) sum of (2T)^k / ((2m+1)(2m+3)...(2m+2k+1)), all terms positive."""
    term = np.ones_like(points) / (2 * m + 1)
    total, k = term.copy(), 0
    while np.any(term > total * np.finfo(np.longdouble).eps):
        k += 1
        term = term * (2 * points) / (2 * m + 2 * k + 1)
        total += term
    return np.exp(-points) * total


def boys(text: Vectors, t: str, highest: int) -> list[str]:
    """The registers of F_0 ... F_highest of a vector `t`.

    F_L, or exp(T) F_L where that varies less, is one polynomial in each region.  A coefficient is
    chosen from a register that has those of all regions.
    """
    near = text.minimum(t, LARGE)
    decay = ""
    if highest:  # F_0 alone needs no exponential function
        decay = text.applied(exp_of_negative, text.neg(text.minimum(t, _FLAT)))
    width = LARGE / REGIONS
    region = text.eighth(text.mul(near, text.number(1 / width)))  # of `LARGE`: none is needed
    numbers, grown = polynomials(highest)
    middle = text.looked_up([(k + 0.5) * width for k in range(REGIONS)], region)
    u = text.mul(text.sub(near, middle), text.number(2 / width))
    square = text.mul(u, u)
    halves = []
    for parity in (0, 1):  # two chains: half the latency of Horner's rule
        places = range(parity, DEGREE + 1, 2)
        total = ""
        for place in reversed(places):
            value = text.looked_up(numbers[:, place].tolist(), region)
            total = text.fma(total, square, value) if total else value
        halves.append(total)
    top = text.fma(halves[1], u, halves[0])
    if grown:
        is_grown = text.compare("olt", near, text.number(grown * width))
        top = text.mul(top, text.select(is_grown, decay, text.number(1.0)))
    small = _downward(text, near, top, decay, highest)
    is_large = text.compare("oge", t, text.number(LARGE))
    with text.when(text.any(is_large)) as (before, last):
        large = _upward(text, text.maximum(t, LARGE), decay, highest)
        mixed = [text.select(is_large, a, b) for a, b in zip(large, small, strict=True)]
    return [
        text.line(f"phi {text.kind} [ {old}, %{before} ], [ {new}, %{last} ]")
        for old, new in zip(small, mixed, strict=True)
    ]


@cache
def polynomials(highest: int) -> tuple[Array, int]:
    """Coefficients (regions, degree + 1) by powers of u in [-1, 1], which interpolate at the zeros
    of a Chebyshev polynomial; in how many regions, the first ones, they are those of
    exp(T) F_highest.
    """
    many = DEGREE + 1
    places = np.arange(many, dtype=np.longdouble)
    nodes = np.cos((2 * places + 1) * (np.arccos(np.longdouble(-1)) / (2 * many)))
    found: list[Array] = []
    first, is_grown = 0, True
    for region in range(REGIONS):
        width = np.longdouble(LARGE) / REGIONS
        points = (region + (nodes + 1) / 2) * width
        plain = _series(highest, points)
        grown = plain * np.exp(points)
        is_grown &= bool(grown.max() / grown.min() < plain.max() / plain.min())
        first = region + 1 if is_grown else first
        found.append(_interpolated(nodes, grown if is_grown else plain))
    return np.array(found, np.float64), first


def _interpolated(nodes: Array, values: Array) -> Array:
    """A polynomial's coefficients by rising power, from Newton's divided differences."""
    differences = values.copy()
    for order in range(1, len(nodes)):
        step = differences[order:] - differences[order - 1 : -1]
        differences[order:] = step / (nodes[order:] - nodes[:-order])
    found = np.zeros_like(values)
    for place in reversed(range(len(nodes))):
        scaled = nodes[place] * found
        found[1:] = found[:-1].copy()
        found[0] = differences[place]
        found -= scaled
    return found


def _downward(text: Vectors, t: str, top: str, decay: str, highest: int) -> list[str]:
    twice, values = text.add(t, t), [top]
    for m in reversed(range(highest)):
        inner = text.fma(twice, values[-1], decay)
        values.append(text.mul(inner, text.number(1 / (2 * m + 1))) if m else inner)
    return values[::-1]


def _upward(text: Vectors, t: str, decay: str, highest: int) -> list[str]:
    inverse = text.div(text.number(1.0), t)
    half = text.mul(inverse, text.number(0.5))
    root = text.sqrt(text.mul(inverse, text.number(np.pi / 4)))
    values, minus = [root], text.neg(decay) if highest else ""
    for m in range(highest):
        inner = text.fma(values[-1], text.number(2 * m + 1), minus)
        values.append(text.mul(inner, half))
    return values
