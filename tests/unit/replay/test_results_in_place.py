"""Results that are regions or views of something: the positions in them are arguments of the code,
which the core reads at each replay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp


def _written(x: Any) -> Any:
    y = x * 2
    y[37:4000] = 1.5
    return y


def _moved(x: Any) -> tuple[Any, Any]:
    y = x * 2
    y[37:4000] = y[40:4003] + 1
    return y[11:], y


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rolled": lambda x: fnp.roll(x, 77),
    "two rolled": lambda x: (fnp.roll(x, 77), fnp.roll(x, -1234)),
    "part": lambda x: (x * 2)[55:],
    "written": _written,
    "moved": _moved,
    "joined": lambda x: fnp.concatenate([x * 2, x[100:]]),
    "backwards": lambda x: (x + 1)[::-3],
    "turned": lambda x: (x.reshape(100, 100) * 2).T[13:],
    "padded": lambda x: fnp.pad(x, 50),
    "taken": lambda x: x[np.arange(500) * 7],
    "kept": lambda x: fnp.where(x > 50, x, 0.0)[20:-20],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_replayed_results(name: str) -> None:
    function = FUNCTIONS[name]
    replayed = fw.jit(function)
    for turn in range(6):
        given = [fw.asarray(np.arange(10_000.0) + turn) for _ in range(2)]
        ours, theirs = replayed(given[0]), function(given[1])
        pairs = zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]
        for a, b in pairs:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
