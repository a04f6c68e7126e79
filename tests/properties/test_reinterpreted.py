"""Copies of turned and strided arrays read and written as another element type: bytes as NumPy's,
whether a copy shares its array's memory for the time being or not.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

TURNED: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "reversed": lambda a: a[::-1],
    "both": lambda a: a[::-1, ::-1],
    "strided": lambda a: a[::2, 1::3],
    "transposed": lambda a: a.T,
    "column": lambda a: a[:, 3],
    "backward row": lambda a: a[2, ::-1],
    "shown again": lambda a: a[1:2].repeat(2, 0)[:, ::-1],
}
COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "ravel": lambda xp, v: v.ravel(),
    "flatten": lambda xp, v: v.flatten(),
    "reshape": lambda xp, v: v.reshape(-1),
    "copy": lambda xp, v: v.copy(),
    "contiguous": lambda xp, v: xp.ascontiguousarray(v),
    "sum": lambda xp, v: v + 0,
}
TYPES = ("i1", "i2", "f4", "i8")


def run(xp: Any, turned: str, copy: str, width: int) -> list[Any]:
    seen: list[Any] = []
    for kind, first in itertools.product(TYPES, ("i4", "f8")):
        a = xp.asarray(np.arange(6 * width, dtype=first).reshape(6, width))
        copied = COPIES[copy](xp, TURNED[turned](a))
        try:
            bytes_ = copied.view(kind)
        except ValueError:
            seen.append("ValueError")
            continue
        other = copied.ravel().view("u1")
        other[3:5] = 7
        xp.minimum(bytes_, 3, out=bytes_, casting="unsafe")
        if bytes_.ndim == 1:
            bytes_[1:3] += 1
        seen += [np.asarray(each).tobytes() for each in (bytes_, copied, other, a)]
    return seen


@pytest.mark.parametrize("small", [0, 512])
@pytest.mark.parametrize("width", [8, 400])
@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("turned", TURNED)
def test_bytes_are_numpys(turned: str, copy: str, width: int, small: int) -> None:
    with fw.options(small=small), np.errstate(all="ignore"):
        assert run(fnp, turned, copy, width) == run(np, turned, copy, width)
