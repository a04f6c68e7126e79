"""Boys functions against mpmath: relative 1e-14 for all T in [0, 1e4], m up to 24."""

from __future__ import annotations

from array import array
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

import fusewright as fw
from fusewright.base.options import current
from fusewright.codegen.recurrences import boys
from fusewright.codegen.recurrences.columns import KERNEL
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, Vectors
from fusewright.integrals.evaluate import aligned, empty
from fusewright.targets.cpu.features import UnsupportedCPU, select
from fusewright.targets.executable import Written
from fusewright.targets.target import target

BOUND = 1e-14


@cache
def arguments() -> np.ndarray:
    rng = np.random.default_rng(0)
    edge = boys.LARGE
    borders = np.linspace(0, edge, boys.REGIONS + 1)
    points = [
        [0.0, 5e-324, 1e-310, 2.2e-308, 1e-300, 1e-17, 1e-8, 1e-3, 1e4],
        [edge, np.nextafter(edge, 0)],
        rng.uniform(0, edge, 60), rng.uniform(edge - 0.1, edge + 0.1, 15),
        *(border * (1 + np.arange(-2, 3) * 2.0**-52) for border in borders[1:-1]),
        10 ** rng.uniform(1.5, 4, 26),
    ]  # fmt: skip
    return np.concatenate(points)


def value(m: int, t: float) -> Any:
    """F_m(T) = M(m + 1/2, m + 3/2, -T) / (2m + 1)."""
    x, half = mpmath.mpf(t), mpmath.mpf(1) / 2
    if x < 60:
        return mpmath.exp(-x) * mpmath.hyp1f1(1, m + 3 * half, x) / (2 * m + 1)
    return mpmath.gammainc(m + half, 0, x) / (2 * x ** (m + half))


@cache
def meant() -> np.ndarray:
    with mpmath.workdps(40):
        return np.array([[value(m, t) for t in arguments()] for m in range(boys.MOST + 1)])


def evaluate(highest: int, t: np.ndarray) -> np.ndarray:
    def write(lanes: int) -> tuple[None, str]:
        text = Vectors(lanes)
        words = [text.word("%args", place, "ptr") for place in range(2)]
        with text.loop("%lo", "%hi") as unit:
            argument = text.load(text.at(words[0], unit, text.bytes))
            out = text.at(words[1], unit, text.bytes * (highest + 1))
            for m, found in enumerate(boys.boys(text, argument, highest)):
                text.store(found, out, m)
        return None, text.function("kernel", KERNEL, private=False) + ATTRIBUTES

    home = target("cpu")
    code = home.compile(Written(("test of boys", highest), write), current())
    lanes = home.features(current().features).vector_bytes // 8
    units = -(-len(t) // lanes)
    padded, out = np.ones(units * lanes), empty((units, highest + 1, lanes))
    padded[: len(t)] = t
    given = aligned(padded)
    words = array("q", [given.ctypes.data, out.ctypes.data])
    home.launch(code, words, units, units)
    return out.transpose(1, 0, 2).reshape(highest + 1, -1)[:, : len(t)]


@pytest.mark.parametrize("highest", range(boys.MOST + 1))
def test_machine_code(highest: int) -> None:
    found = evaluate(highest, arguments())
    expected = meant()[: highest + 1]
    error = np.abs((found - expected) / expected).astype(float)
    assert error.max() <= BOUND


@pytest.mark.parametrize("highest", [0, 1, 6, boys.MOST])
def test_bits_depend_on_no_width(highest: int) -> None:
    try:
        select("avx512")
    except UnsupportedCPU:
        pytest.skip("this processor has no avx512")
    found = []
    for features in ("avx2", "avx512"):
        with fw.options(features=features):
            found.append(evaluate(highest, arguments()).tobytes())
    assert found[0] == found[1]
