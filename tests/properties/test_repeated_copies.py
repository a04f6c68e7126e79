"""A copy of a broadcast view has a place of its own for each element: writes to it, in every form,
change what they change in NumPy.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

COPIES: dict[str, Callable[[Any, int], Any]] = {
    "copy": lambda np, n: np.broadcast_to(np.array([2.0]), (n,)).copy(),
    "copy of a number": lambda np, n: np.broadcast_to(2.5, (n,)).copy(),
    "copy of one that waits": lambda np, n: np.broadcast_to((np.arange(3.0) * 2)[1:2], (n,)).copy(),
    "array": lambda np, n: np.array(np.broadcast_to(np.array([2.0]), (n,))),
    "astype": lambda np, n: np.broadcast_to(np.array([2.0]), (n,)).astype("f8"),
    "ascontiguousarray": lambda np, n: np.ascontiguousarray(
        np.broadcast_to(np.array([2.0]), (n,))
    ),
    "require": lambda np, n: np.require(np.broadcast_to(np.ones(1), (n,)), requirements="W"),
    "copy.copy": lambda np, n: copy.copy(np.broadcast_to(np.array([2.0]), (n,))),
    "copy.deepcopy": lambda np, n: copy.deepcopy(np.broadcast_to(np.array([2.0]), (n,))),
    "broadcast_arrays": lambda np, n: np.broadcast_arrays(np.arange(n), 2.0)[1].copy(),
    "meshgrid": lambda np, n: np.meshgrid(np.arange(n), np.ones(2), copy=False)[1][0].copy(),
    "rows": lambda np, n: np.broadcast_to(np.arange(10.0), (n // 10, 10)).copy().reshape(-1),
    "half": lambda np, n: np.broadcast_to(np.arange(n / 2), (2, n // 2)).copy().reshape(-1),
    "a row of them": lambda np, n: np.broadcast_to(np.ones((2, 1)), (2, n))[1].copy(),
    "as_strided": lambda np, n: np.array(np.lib.stride_tricks.as_strided(np.ones(9), (n,), (0,))),
}  # fmt: skip
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "element": lambda np, c: c.__setitem__(0, 9.0),
    "slice": lambda np, c: c.__setitem__(slice(0, 3), 9.0),
    "mask": lambda np, c: c.__setitem__(np.arange(len(c)) < 3, 9.0),
    "places": lambda np, c: c.__setitem__([0, 2], 9.0),
    "in place": lambda np, c: c.__iadd__(np.arange(len(c))),
    "part in place": lambda np, c: c[:3].__imul__(3.0),
    "out": lambda np, c: np.add(c, np.arange(len(c)), out=c),
    "out, where": lambda np, c: np.add(c, 1.0, out=c, where=np.arange(len(c)) < 3),
    "put": lambda np, c: np.put(c, [0], 9.0),
    "at": lambda np, c: np.add.at(c, [0, 0], 1.0),
    "copyto": lambda np, c: np.copyto(c[1:3], 7.0),
    "another shape": lambda np, c: c.reshape(-1, 10).__setitem__((0, 0), 9.0),
    "fill": lambda np, c: c[:5].fill(3.0),
    "flat": lambda np, c: c.flat.__setitem__(0, 9.0),
}


def outcome(module: Any, name: str, written: str, size: int, is_asked: bool) -> Any:
    made = COPIES[name](module, size)
    part = made[1:]
    if is_asked:
        made.sum()
    WRITES[written](module, made)
    return np.array(np.asarray(made)), np.array(np.asarray(part))


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("small", [0, 512])
def test_writes_change_what_they_change_in_numpy(name: str, small: int) -> None:
    for written, size, is_asked in itertools.product(WRITES, (20, 1000), (False, True)):
        want = outcome(np, name, written, size, is_asked)
        with fw.options(small=small):
            found = outcome(fnp, name, written, size, is_asked)
        for one, other in zip(want, found, strict=True):
            np.testing.assert_array_equal(other, one, f"{name}, {written}, {size} elements")


def test_the_copied_view_stays() -> None:
    """What was repeated is not changed by a write to the copy."""
    for small in (0, 512):
        with fw.options(small=small):
            row = fnp.arange(1000.0)
            rows = fnp.broadcast_to(row, (3, 1000))
            copied = rows.copy()
            copied[0, 0] = 9.0
            assert float(row[0]) == float(rows[2, 0]) == float(copied[1, 0]) == 0.0
            assert float(copied[0, 0]) == 9.0
