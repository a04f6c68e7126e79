"""Boys functions F_0(T) ... F_L(T) as LLVM text; F_m(T) = integral of t^2m exp(-T t^2) over [0, 1].

Up to T = 36, F_L by a Taylor polynomial around the nearest point of a table and the others by
F_m = (2T F_{m+1} + exp(-T)) / (2m+1), which is stable downwards for all T.  Beyond,
F_0 = sqrt(pi/T)/2 (erfc(6) is 2e-17) and upwards F_{m+1} = ((2m+1) F_m - exp(-T)) / 2T, which is
stable there for the m that are needed.

The second method has no table: F_L by a polynomial in each of a few regions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.fused import Array
from fusewright.rules.decompose.exponential import exp_of_negative

LARGE = 36.0
"""From here up the asymptotic formula holds to 2e-17."""
STEPS = 16
"""Points of the table in a unit of T: the remainder of the Taylor polynomial is below 1e-16."""
TERMS = 8
Method = Callable[[Vectors, str, int, str], list[str]]
"""From the lines, a register with T, L, a pointer to the table: the registers of F_0 ... F_L."""
MOST = 24
"""The highest m of any class: four g shells and their derivatives need 20."""
MOST_POLYNOMIALS = 8
"""The highest L for which polynomials are faster than the table."""
REGIONS, DEGREE = 4, 22
"""Of the polynomials: their error is below 4e-15 of F_L for every L."""
_FLAT = 700.0
"""exp(-T) of a larger T is not seen beside F_m(T), m <= 24."""


@cache
def table(highest: int) -> Array:
    """Rows of `TERMS` Taylor coefficients of F_highest in (point - T), one for each point."""
    points = np.arange(int(LARGE * STEPS) + 2, dtype=np.longdouble) / STEPS
    values = _series(highest + TERMS - 1, points)
    rows = [values]
    for m in range(highest + TERMS - 2, highest - 1, -1):
        rows.append((2 * points * rows[-1] + np.exp(-points)) / (2 * m + 1))
    scale = np.longdouble(1)
    for k, row in enumerate(reversed(rows)):
        scale = scale / max(k, 1)
        rows[len(rows) - 1 - k] = row * scale
    found = np.array(rows[::-1]).T.astype(np.float64)
    found.flags.writeable = False
    return np.ascontiguousarray(found)


def _series(m: int, points: Array) -> Array:
    """F_m = exp(-T) sum of (2T)^k / ((2m+1)(2m+3)...(2m+2k+1)), all terms positive."""
    term = np.ones_like(points) / (2 * m + 1)
    total, k = term.copy(), 0
    while np.any(term > total * np.finfo(np.longdouble).eps):
        k += 1
        term = term * (2 * points) / (2 * m + 2 * k + 1)
        total += term
    return np.exp(-points) * total


def fastest(highest: int) -> Method:
    """The faster one: without a table up to L = 8 (AVX-512: 1.2 against 2.9 ns for F_0, 7.6 against
    11 for F_0 to F_2, 23 against 24 at 8), with it beyond.
    """
    return by_polynomials if highest <= MOST_POLYNOMIALS else by_table


def boys(highest: int, t: Array) -> Array:
    """F_0 ... F_highest of an array by NumPy, (highest + 1, ...): what the code below computes, but
    for the last places.
    """
    t = np.asarray(t, np.float64)
    near = np.minimum(t, LARGE)
    point = np.rint(near * STEPS)
    step = point / STEPS - near
    rows = table(highest)[point.astype(np.int64)]
    top = np.zeros_like(near)
    for k in reversed(range(TERMS)):
        top = top * step + rows[..., k]
    small, decay = [top], np.exp(-np.minimum(t, _FLAT))
    for m in reversed(range(highest)):
        small.append((2 * near * small[-1] + decay) / (2 * m + 1))
    far = np.maximum(t, LARGE)
    large = [np.sqrt(np.pi / far) / 2]
    for m in range(highest):
        large.append(((2 * m + 1) * large[-1] - decay) / (2 * far))
    return np.where(t >= LARGE, np.array(large), np.array(small[::-1]))


def by_table(text: Vectors, t: str, highest: int, rows: str) -> list[str]:
    """The registers of F_0 ... F_highest of a vector `t`; `rows` points at `table(highest)`."""
    near = text.minimum(t, LARGE)
    top = _taylor(text, near, rows)
    decay = ""
    if highest:  # F_0 alone needs no exponential function
        decay = text.applied(exp_of_negative, text.neg(text.minimum(t, _FLAT)))
    return _completed(text, t, near, top, decay, highest)


def _completed(text: Vectors, t: str, near: str, top: str, decay: str, highest: int) -> list[str]:
    """All orders from the highest one's value below `LARGE`."""
    small = _downward(text, near, top, decay, highest)
    is_large = text.compare("oge", t, text.number(LARGE))
    with text.when(text.any(is_large)) as (before, last):
        large = _upward(text, text.maximum(t, LARGE), decay, highest)
        mixed = [text.select(is_large, a, b) for a, b in zip(large, small, strict=True)]
    return [
        text.line(f"phi {text.kind} [ {old}, %{before} ], [ {new}, %{last} ]")
        for old, new in zip(small, mixed, strict=True)
    ]


def by_polynomials(text: Vectors, t: str, highest: int, rows: str = "") -> list[str]:
    """The same without a table in memory, and so without gathers: F_L, or exp(T) F_L where that
    varies less, is one polynomial in each of a few regions, whose coefficients are selected.
    """
    near = text.minimum(t, LARGE)
    decay = text.applied(exp_of_negative, text.neg(text.minimum(t, _FLAT)))
    width = LARGE / REGIONS
    masks = [text.compare("oge", near, text.number(k * width)) for k in range(1, REGIONS)]
    numbers, scaled = polynomials(highest)

    def chosen(values: Sequence[float]) -> str:
        found = text.number(values[0])
        for mask, value in zip(masks, values[1:], strict=True):
            found = text.select(mask, text.number(value), found)
        return found

    middle = chosen([(k + 0.5) * width for k in range(REGIONS)])
    u = text.mul(text.sub(near, middle), text.number(2 / width))
    square = text.mul(u, u)
    halves = []
    for parity in (0, 1):  # two chains: half the latency of Horner's rule
        places = range(parity, DEGREE + 1, 2)
        total = ""
        for place in reversed(places):
            value = chosen(numbers[:, place].tolist())
            total = text.fma(total, square, value) if total else value
        halves.append(total)
    top = text.fma(halves[1], u, halves[0])
    one = text.number(1.0)
    factors = [decay if each else one for each in scaled]
    factor = factors[0]
    for mask, value in zip(masks, factors[1:], strict=True):
        factor = text.select(mask, value, factor)
    return _completed(text, t, near, text.mul(top, factor), decay, highest)


@cache
def polynomials(highest: int) -> tuple[Array, tuple[bool, ...]]:
    """Coefficients (regions, degree + 1) by powers of u in [-1, 1], which interpolate at the zeros
    of a Chebyshev polynomial; whether each region's are those of exp(T) F_highest.
    """
    many = DEGREE + 1
    places = np.arange(many, dtype=np.longdouble)
    nodes = np.cos((2 * places + 1) * (np.arccos(np.longdouble(-1)) / (2 * many)))
    found, scaled = [], []
    for region in range(REGIONS):
        width = np.longdouble(LARGE) / REGIONS
        points = (region + (nodes + 1) / 2) * width
        plain = _series(highest, points)
        grown = plain * np.exp(points)
        scaled.append(bool(grown.max() / grown.min() < plain.max() / plain.min()))
        found.append(_interpolated(nodes, grown if scaled[-1] else plain))
    return np.array(found, np.float64), tuple(scaled)


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


def _taylor(text: Vectors, t: str, rows: str) -> str:
    point = text.intrinsic("roundeven", text.mul(t, text.number(STEPS)))
    step = text.sub(text.mul(point, text.number(1 / STEPS)), t)
    index = text.line(f"fptosi {text.kind} {point} to <{text.lanes} x i32>")
    shift = f"splat (i32 {TERMS.bit_length() - 1})"
    first = text.line(f"shl <{text.lanes} x i32> {index}, {shift}")
    total = ""
    for k in reversed(range(TERMS)):
        place = text.line(f"add <{text.lanes} x i32> {first}, splat (i32 {k})")
        value = text.gather(rows, place)
        total = text.fma(total, step, value) if total else value
    return total


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
