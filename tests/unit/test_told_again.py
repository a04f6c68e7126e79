"""Library steps are told and refused at the hundredth call as at the first: what the core has
learnt of a call's form hides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as ours
from fusewright.base.errors import StrictError
from fusewright.runtime import profile

MATRIX = np.random.default_rng(0).random((64, 64)) + np.eye(64)
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": lambda m, v: m @ v,
    "matvec": lambda m, v: ours.matvec(m, v),
    "vecmat": lambda m, v: ours.vecmat(v, m),
    "linalg.matmul": lambda m, v: ours.linalg.matmul(m, m),
    "dot": lambda m, v: ours.dot(m, v),
    "tensordot": lambda m, v: ours.tensordot(m, m, 1),
    "inner": lambda m, v: ours.inner(m, m),
    "sort": lambda m, v: ours.sort(v),
    "unique": lambda m, v: ours.unique(v),
    "inv": lambda m, v: ours.linalg.inv(m),
    "solve": lambda m, v: ours.linalg.solve(m, v),
    "fft": lambda m, v: ours.fft.fft(v),
}


def _told(call: Callable[[], Any]) -> list[str]:
    with profile.listen() as heard:
        fw.evaluate(call())
    return [step.name for step in heard.opaque]


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_what_was_called_often_is_told_and_refused(name: str, interpret: bool) -> None:
    with fw.options(interpret=interpret):
        _look(name)


def _look(name: str) -> None:
    m, v = fw.asarray(MATRIX), fw.asarray(MATRIX[0].copy())

    def call() -> Any:
        return CALLS[name](m, v)

    first = _told(call)
    for _ in range(100):
        fw.evaluate(call())
    assert _told(call) == first
    assert first
    with fw.options(strict="all"), pytest.raises(StrictError):
        fw.evaluate(call())
