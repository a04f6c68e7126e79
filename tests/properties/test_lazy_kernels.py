"""Any sequence of kernel calls, array statements, writes, fills and reads gives the bits that
CPython and NumPy give, fused or not, on every target.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.properties.chance import examples
from tests.properties.lazy_kernels import VECTORS, program, run

CASES = examples(30)
SETTINGS: tuple[dict[str, object], ...] = (
    {},
    {"fuse": False},
    {"target": "reference"},
    {"check": True},
)


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Programs choose their target themselves."""
    with installed("driver"):
        yield


@CASES
@given(st.integers(0, 1 << 40))
def test_sequences(seed: int) -> None:
    statements = program(random.Random(seed).randint, 12)
    wanted = run(statements, "plain", {})
    for options in SETTINGS:
        assert run(statements, "lazy", options) == wanted, options
    assert run(statements, "blocks", {}) == wanted


@pytest.mark.parametrize("seed", range(8))
def test_long_sequences(seed: int) -> None:
    statements = program(random.Random(seed).randint, 150)
    assert run(statements, "lazy", {}) == run(statements, "plain", {})


def test_programs_do_both() -> None:
    for seed in range(8):
        run(program(random.Random(seed).randint, 150), "lazy", {})
    assert sum(kernel.stats.raised for kernel in VECTORS) > 50
    assert sum(kernel.stats.deferred for kernel in VECTORS) > 5
