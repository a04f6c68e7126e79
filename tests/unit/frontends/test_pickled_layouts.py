"""A pickle keeps the order of the dims, and whether the array may be written, as NumPy's does in
each version of the protocol.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import fusewright.numpy as ours

VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "whole": lambda np, a: a,
    "turned": lambda np, a: a.T,
    "swapped": lambda np, a: a.swapaxes(0, 1),
    "moved": lambda np, a: np.moveaxis(a, 0, -1),
    "computed": lambda np, a: a.swapaxes(0, 1) * 2,
    "steps": lambda np, a: a[::2],
    "turned, steps": lambda np, a: a.T[::2],
    "turned, reversed": lambda np, a: a.T[::-1],
    "repeated": lambda np, a: np.broadcast_to(a[:1], a.shape),
    "a row": lambda np, a: a[2:3],
    "locked": lambda np, a: a.setflags(write=False) or a,
    "locked, steps": lambda np, a: a.setflags(write=False) or a[::2],
}


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("name", VIEWS)
def test_as_numpys(name: str, protocol: int) -> None:
    told = []
    for np in (numpy, ours):
        array = VIEWS[name](np, np.arange(7200.0).reshape(8, 90, 10))
        back = pickle.loads(pickle.dumps(array, protocol))
        told.append((back.strides, back.flags.writeable, back.tolist() == array.tolist()))
    assert told[0] == told[1]
