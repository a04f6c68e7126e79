"""Random PyKokkos work units: compiled code gives the bits of the `Debug` space, whose work units
run as plain Python.

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random ones; without it a fixed small set runs.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st
from tests.kernel_runs import module_of
from tests.properties.chance import examples
from tests.properties.random_units import SIZE, Writer

import fusewright as fw
import fusewright.bridges.pykokkos as pk

CASES = examples(25)
ran: list[bool] = []


def arguments(seed: int) -> dict[str, Any]:
    """Fresh views of the same numbers."""
    rng = np.random.default_rng(seed)

    def view(dtype: Any, values: Any) -> Any:
        found = pk.View([SIZE], dtype)
        found[:] = values
        return found

    def points() -> Any:
        return rng.standard_normal(SIZE) + 1j * rng.standard_normal(SIZE)

    return {
        "a": view(pk.double, rng.standard_normal(SIZE)),
        "x": view(pk.int32, rng.integers(0, 50, SIZE)),
        "w": view(pk.complex128, points()),
        "read": view(pk.double, rng.standard_normal(SIZE)),
        "table": view(pk.int32, rng.integers(0, SIZE, SIZE)),
        "points": view(pk.complex128, points()),
        "s": float(rng.standard_normal()), "c": pk.complex128(*rng.standard_normal(2)),
    }  # fmt: skip


def outcome(module: Any, space: Any, seed: int) -> list[Any]:
    """What the views hold after two launches, and what the reduction gives."""
    kwargs = arguments(seed)
    policy = pk.RangePolicy(space, 0, SIZE)
    pk.parallel_for(policy, module.unit, **kwargs)
    pk.parallel_for(policy, module.unit, **kwargs)
    first = pk.parallel_reduce(policy, module.total, **kwargs)
    again = pk.parallel_reduce(policy, module.total, **kwargs)
    views = [np.array(np.asarray(kwargs[name])) for name in "axw"]
    return [*views, np.asarray(float(first)), np.asarray(float(again))]


@CASES
@given(seed=st.integers(0, 2**30), statements=st.integers(1, 8))
def test_random_work_units(seed: int, statements: int, tmp_path_factory: Any) -> None:
    source = Writer(random.Random(seed).randint, statements).source()
    note(source)
    folder = tmp_path_factory.mktemp("units")
    module = module_of(source, folder / f"random_unit_{len(ran)}.py")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            wanted = outcome(module, pk.Debug, seed)
        except (ArithmeticError, ValueError, RuntimeWarning):
            ran.append(False)
            return
    ran.append(True)
    for threads in (1, 2):
        with fw.options(threads=threads):
            found = outcome(module, pk.OpenMP, seed)
        for got, want in zip(found, wanted, strict=True):
            assert np.array_equal(got, want, equal_nan=True)


def test_most_random_units_ran() -> None:
    assert sum(ran) > len(ran) / 3
