"""Loops whose turns repeat: written as a loop in the kernel and left early, they give the bits of
the turns one by one, for any mask, shape, type, vector width and number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.properties.chance import examples
from tests.properties.test_contracts import FEATURES, assert_same_bits

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import trace

CASES = examples(40)


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """The compiler only: these are its contracts."""
    with installed("driver"):
        yield


Turn = Callable[[Any, dict[str, Any], int], None]
"""One turn of a loop: (namespace, variables, number of the turn)."""


def _escape(np: Any, v: dict[str, Any], n: int) -> None:
    inside = abs(v["z"]) < 2.0
    v["n"][inside] = n
    v["z"][inside] = v["z"][inside] ** 2 + v["c"][inside]


def _alive(np: Any, v: dict[str, Any], n: int) -> None:
    v["z"][v["m"]] = v["z"][v["m"]] ** 2 + v["c"][v["m"]]
    v["m"] &= v["z"].real ** 2 + v["z"].imag ** 2 < 4.0
    v["n"] += v["m"]


def _outside(np: Any, v: dict[str, Any], n: int) -> None:
    out = abs(v["z"]) > 1.5
    v["z"] = np.where(out, v["z"], v["z"] * v["z"] + v["c"])
    v["n"] = np.where(out, v["n"], v["n"] + 1)


def _changing_limit(np: Any, v: dict[str, Any], n: int) -> None:
    inside = abs(v["z"]) <= 0.5 + 0.25 * n
    v["z"][inside] = v["z"][inside] * (1.0 + 0.01 * n) + 0.1
    v["n"][inside] += 1


def _root(np: Any, v: dict[str, Any], n: int) -> None:
    open_ = abs(v["x"] * v["x"] - v["a"]) > 1e-9
    v["x"][open_] = 0.5 * (v["x"][open_] + v["a"][open_] / v["x"][open_])
    v["n"][open_] = n


def _newton(np: Any, v: dict[str, Any], n: int) -> None:
    v["x"] = v["x"] - (v["x"] * v["x"] - v["a"]) / (2.0 * v["x"] + 0.125 * n)


def _two(np: Any, v: dict[str, Any], n: int) -> None:
    far = np.sqrt(v["x"] * v["x"] + v["y"] * v["y"]) >= 3.0
    v["x"] = np.where(far, v["x"], v["x"] * 1.0625 - v["y"] * 0.125)
    v["y"] = np.where(far, v["y"], v["y"] + v["x"] * 0.25)


def _whole(np: Any, v: dict[str, Any], n: int) -> None:
    odd = v["k"] % 2 == 1
    v["k"] = np.where(odd, 3 * v["k"] + 1, v["k"] // 2)
    v["n"][v["k"] != 1] += 1


TURNS: dict[str, Turn] = {
    "escape": _escape, "alive": _alive, "outside": _outside, "changing limit": _changing_limit,
    "root": _root, "newton": _newton, "two": _two, "whole": _whole,
}  # fmt: skip
EXACT = {"root", "newton", "two", "whole"}
"""Those with arithmetic only: NumPy's bits."""


@dataclass(frozen=True)
class Case:
    """`dtype` is that of the floats; a loop may be followed by `after` turns of another one."""

    turn: str
    turns: int
    shape: tuple[int, ...]
    dtype: str
    seed: int
    special: bool
    after: str


cases = st.builds(
    Case,
    st.sampled_from(sorted(TURNS)),
    st.integers(1, 23),
    st.sampled_from([(1,), (7,), (33,), (64,), (5, 17), (31, 33), (3, 2, 70), (9000,)]),
    st.sampled_from(["float64", "float64", "float32"]),
    st.integers(0, 2**16),
    st.booleans(),
    st.sampled_from(["", "", *sorted(TURNS)]),
)


def variables(case: Case) -> dict[str, Any]:
    rng = np.random.default_rng(case.seed)
    real = rng.standard_normal((4, *case.shape)).astype(case.dtype)
    made = {
        "z": real[0] + 1j * real[1], "c": 0.5 * (real[2] + 1j * real[3]), "x": abs(real[0]) + 0.5,
        "a": abs(real[1]) + 0.25, "y": real[2].copy(), "n": np.zeros(case.shape, "int64"),
        "k": rng.integers(1, 40, case.shape), "m": rng.random(case.shape) < 0.7,
    }  # fmt: skip
    if case.special:
        for name in ("z", "c", "x", "y"):
            flat = made[name].reshape(-1)
            places = rng.integers(0, flat.size, 3)
            flat[places] = [np.inf, np.nan, -0.0]
            if name == "z":
                flat[places[:2]] += np.array([1j * np.nan, 1e-200j])
    return {name: value.astype(value.dtype) for name, value in made.items()}


def run(np: Any, case: Case, v: dict[str, Any]) -> list[Any]:
    for n in range(case.turns):
        TURNS[case.turn](np, v, n)
    for n in range(6 if case.after else 0):
        TURNS[case.after](np, v, n)
    v["n"][v["n"] == case.turns - 1] = 0
    return list(v.values())


def outcome(case: Case, **options: Any) -> list[Any]:
    with fw.options(**options), np.errstate(all="ignore"):
        values = run(fnp, case, {k: fw.asarray(x) for k, x in variables(case).items()})
        fw.evaluate(*values)
        return [np.asarray(value) for value in values]


def bits(values: list[Any]) -> list[Any]:
    """Complex arrays as pairs of floats."""
    return [v.view(f"f{v.dtype.itemsize // 2}") if v.dtype.kind == "c" else v for v in values]


@CASES
@given(cases)
def test_a_loop_of_turns_changes_no_bit(case: Case) -> None:
    want = bits(outcome(case, fuse=False))
    for features in FEATURES:
        assert_same_bits(bits(outcome(case, features=features)), want)
    assert_same_bits(bits(outcome(case, threads=1)), want)


@CASES
@given(cases)
def test_a_loop_of_turns_means_what_it_means_in_numpy(case: Case) -> None:
    with np.errstate(all="ignore"):
        want = run(np, case, variables(case))
    got = outcome(case)
    if {case.turn, case.after or case.turn} <= EXACT:
        assert_same_bits(bits(got), bits(want))
        return
    rtol = 1e-6 if case.dtype == "float64" else 0.5
    for ours, theirs in zip(bits(got), bits(want), strict=True):
        wrong = ~np.isclose(ours, theirs, rtol=rtol, atol=rtol, equal_nan=True)
        # chaos: an ulp grows by a factor of four in a turn
        assert wrong.mean() <= 0.02 or case.dtype == "float32"


def _kernels(name: str, turns: int) -> str:
    """The code for all turns at once, whenever a program would compute them."""
    case = Case(name, turns, (129,), "float64", 3, False, "")
    trace.hold(1)
    try:
        values = run(fnp, case, {k: fw.asarray(x) for k, x in variables(case).items()})
    finally:
        trace.hold(-1)
    return str(fw.show(values, "llvm"))


@pytest.mark.parametrize("name", TURNS)
def test_turns_are_found(name: str) -> None:
    """Code does not grow with the number of turns."""
    assert _kernels(name, 12).count("\n") == _kernels(name, 22).count("\n")


@pytest.mark.parametrize("name", ["escape", "alive", "outside", "root", "two"])
def test_a_standstill_is_found(name: str) -> None:
    """Masked turns are left early: the code asks whether any lane still changes."""
    assert "vector.reduce.or" in _kernels(name, 15).split("define private")[0]
