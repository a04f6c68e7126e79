"""Records while NumPy shares some array's memory: only those that read it pass through Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="needs the native core")


def passes(run: Callable[[], object]) -> int:
    """How often a record asks Python."""
    count = 0

    def look(frame: Any, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_name == "passed_gate"

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_other_memory_that_is_shared_costs_nothing() -> None:
    a, other = fw.asarray(np.ones(5)), fw.asarray(np.ones(5))
    seen = other.view(np.ndarray)
    assert passes(lambda: (a + 1.0) * 2.0) == 0
    assert passes(lambda: (other + 1.0) * 2.0) == 0
    seen[0] = 3.0
    assert float((other + 1.0)[0]) == 4.0


def test_what_reads_shared_memory_is_complete() -> None:
    memory = np.ones(5)
    a = fw.asarray(memory, copy=False)
    b = a + 1.0
    memory[:] = 7.0
    assert np.array_equal(np.asarray(b), np.full(5, 2.0))


def test_noted_lines_are_noted_all_the_same() -> None:
    other = fw.asarray(np.ones(5))
    seen = other.view(np.ndarray)
    a = fw.asarray(np.ones(5))
    with fw.options(spans=True):
        assert passes(lambda: a + 1.0) == 1
    assert passes(lambda: a + 1.0) == 0
    del seen
