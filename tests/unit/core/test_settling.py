"""Whoever asks for values is told once that they are known, whatever computing them took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.frontends.arrays import trace

pytestmark = pytest.mark.skipif(native is None, reason="the native core is not in use")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The length of the list each time that Python is told of an evaluation."""
    lengths: list[int] = []
    usual = trace._settle

    def settle() -> None:
        lengths.append(len(trace.pending))
        usual()

    monkeypatch.setattr(trace, "_settle", settle)
    trace._tell_core()
    native.set_armed(True)  # as in a loop
    yield lengths
    monkeypatch.undo()
    trace._tell_core()
    trace._forget_loop()


def waves(x: Any, library: Any, many: int) -> Any:
    """Functions that are run alone, one after the other, where there is no compiled code."""
    for k in range(1, many):
        x = library.sin(k * x) + library.cos(x / k)
    return x


@pytest.mark.parametrize("size", [20, 700])
def test_a_request_of_many_operations_is_told_once(told: list[int], size: int) -> None:
    given = np.linspace(0.0, 1.0, size + np.random.default_rng().integers(100))
    with fw.options(interpret=True, background=True):
        np.asarray(waves(fw.asarray(given), fnp, 2))  # the core knows the functions from here on
        found = waves(fw.asarray(given), fnp, 6)
        del told[:]
        computed = np.asarray(found)
    assert len(told) == 1
    assert np.allclose(computed, waves(given, np, 6), rtol=1e-13)
