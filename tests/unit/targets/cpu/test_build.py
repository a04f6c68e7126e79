"""What a kernel is expected to cost, by which it is shared among threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.base.options import current
from fusewright.plan.plan import Kernel
from fusewright.runtime.trace import take
from fusewright.targets.cpu import build

N = 100


def nanoseconds(made: Any) -> float:
    """Predicted for one element of all kernels of a value."""
    _, plan = build.decide(take([made._node]), current())
    return sum(build.nanoseconds_of(step) for step in plan.steps if isinstance(step, Kernel))


@pytest.fixture
def field() -> Any:
    return fw.asarray(np.linspace(0.0, 1.0, N * N).reshape(N, N))


def test_an_element_is_in_one_piece_of_its_stage(field: Any) -> None:
    turned = fnp.roll(fnp.roll(field, 1, axis=0), -1, axis=1)
    assert nanoseconds(turned * 2.0) <= 1.5 * nanoseconds(field * 2.0)


def test_functions_cost_more_than_sums(field: Any) -> None:
    plain, special = nanoseconds(field + 1.0), nanoseconds(fnp.exp(field))
    assert special > 3.0 * plain


def test_narrow_elements_are_moved_faster(field: Any) -> None:
    narrow = fw.asarray(np.ones((N, N), np.float32))
    assert nanoseconds(narrow + narrow) < nanoseconds(field + field)
