"""Loops that fuse for some parameters only do what CPython does for all of them, bit for bit.

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random kernels; without it a fixed small set runs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.kernel_runs import assert_same, loaded, outcome, small_work_on_threads
from tests.kernel_runs import settings as ways
from tests.properties.chance import examples
from tests.properties.random_guards import VALUES, Writer, arguments

import fusewright as fw

CASES = examples(12)
taken: list[tuple[int, int]] = []


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Kernels choose their target themselves."""
    with installed("driver"):
        yield


@CASES
@given(seed=st.integers(0, 2**30), loops=st.integers(2, 4))
def test_random_guards(seed: int, loops: int, tmp_path_factory: Any) -> None:
    source = Writer(random.Random(seed).randint, loops).source()
    note(source)
    kernel = loaded(source, tmp_path_factory.mktemp("guards") / f"random_guards_{seed}.py")
    arrays = arguments(seed)
    wanted = {values: outcome(kernel.__wrapped__, (*arrays, *values)) for values in VALUES}
    for chosen in ways():
        if chosen.get("target") == "reference":
            continue
        with fw.options(**chosen), small_work_on_threads():
            for values in VALUES:
                found = outcome(kernel, (*arrays, *values))
                assert_same(list(found[1]), list(wanted[values][1]), f"{values} under {chosen}")
    taken.extend(code.taken for code in kernel.explain().codes if code.guard)


def test_both_forms_ran() -> None:
    assert sum(fused > 0 and apart > 0 for fused, apart in taken) > 3
