"""Known traps of fusing loops, by their numbers: what CPython gives, to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import loaded, same_as_cpython, short_strips
from tests.unit.kernels import trap_kernels as traps
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals, whole = numbers.reals, numbers.whole


@dataclass
class State:
    x: Any


SPECIAL = np.array([0.0, -0.0, np.nan, 1.0, -1.0, np.inf, -np.inf, -0.0] * 5)
CASES: dict[str, tuple[Any, ...]] = {
    "89 contraction": (traps.contraction, reals(50), reals(50), reals(50)),
    "90 float16 between": (traps.narrow_between, reals(50), np.zeros(50, np.float16), reals(50)),
    "90 int8 between": (traps.narrow_between, whole(9), np.zeros(9), np.zeros(9, np.float32)),
    "91 order of sums": (traps.order_of_sums, reals(50), reals(50)),
    "92 nan and signed zeros": (traps.extremes, SPECIAL, SPECIAL[::-1], SPECIAL[::-1]),
    "93 return in a loop": (traps.returning, np.arange(12), whole(12)),
    "93 return in order": (traps.returning_in_order, np.arange(12), np.arange(12)),
    "93 return in inner loop": (traps.leaving_two_loops, np.ones((4, 9), int), np.arange(9)),
    "94 scalar between": (traps.scalar_between, reals(20), reals(20)),
    "96 negative stride": (traps.reversed_view, reals(30)[::-1], reals(60)[::-2]),
    "97 rebound name": (traps.rebound, reals(20), reals(20), reals(20)),
    "98 effects": (traps.with_effects, whole(3), whole(3)),
    "99 variable after": (traps.variable_after, whole(9), whole(9), 9),
    "99 variable after none": (traps.variable_after, whole(9), whole(9), 0),
    "100 bound redefined": (traps.bound_redefined, whole(9), whole(9), 9),
    "101 division by zero, wide shift": (traps.undefined_later, whole(9), whole(9), 70),
    "102 bound used inside": (traps.bound_used_inside, np.arange(50.0), np.array([41]), 2.5),
    "102 bound stored": (traps.bound_stored, np.arange(50.0), np.array([41]), 2.5),
    "102 outer index as bound": (traps.outer_index_as_bound, np.ones((9, 12)), np.ones(9)),
    "102 one iteration acts": (traps.one_iteration_acts, np.arange(9), np.arange(9)),
    "103 more than 2**31 iterations": (traps.large_ranges, whole(9), 1 << 20),
}


@pytest.mark.parametrize("name", CASES)
def test_trap(name: str) -> None:
    kernel, *arguments = CASES[name]
    same_as_cpython(kernel, *arguments)
    with short_strips():
        same_as_cpython(fw.kernel(kernel.__wrapped__), *arguments)


def both(kernel: Any, make: Any) -> None:
    """Kernel and function leave the same in arrays that share memory."""
    for threads in (1, 2):
        left, right = make(), make()
        with fw.options(threads=threads):
            kernel(*left)
        kernel.__wrapped__(*right)
        for x, y in zip(left, right, strict=True):
            a, b = (value.x if isinstance(value, State) else value for value in (x, y))
            assert a.tobytes() == b.tobytes()


def test_trap_95_one_array_as_member_and_argument() -> None:
    def make() -> tuple[Any, ...]:
        a = np.arange(20.0)
        return State(a), a, np.arange(20.0) * 3

    both(traps.twice_the_same, make)


def test_trap_96_reversed_view_of_the_same_array() -> None:
    def make() -> tuple[Any, ...]:
        a = np.arange(20.0)
        return a, a[::-1]

    both(traps.reversed_view, make)


def test_trap_102_long_chain(tmp_path: Path) -> None:
    kernel = loaded(traps.chain(60), tmp_path / "chain.py")
    same_as_cpython(kernel, reals(30), reals(30))


def test_trap_104_other_type_over_the_same_bytes() -> None:
    def make() -> tuple[Any, ...]:
        a = np.zeros(20)
        return a, a.view(np.int64)

    both(traps.other_type, make)
