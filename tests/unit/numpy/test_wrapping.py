"""What NumPy's own classes make of an array of ours lies in its memory, as with NumPy's array:
masked arrays, matrices, iterators; and functions that write over what they read do it in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import fusewright.numpy as ours

N = 1500
WRAPPED: dict[str, Callable[[Any, Any], Any]] = {
    "masked_array": lambda np, b: np.ma.masked_array(b, b > 2),
    "MaskedArray": lambda np, b: np.ma.MaskedArray(b),
    "subclass": lambda np, b: type("Sub", (np.ma.MaskedArray,), {})(b),
    "ma.array": lambda np, b: np.ma.array(b, mask=b > 2),
    "ma.array of a part": lambda np, b: np.ma.array(b[::2], copy=False),
    "ma.asarray": lambda np, b: np.ma.asarray(b),
    "ma.asanyarray": lambda np, b: np.ma.asanyarray(b),
    "masked_where": lambda np, b: np.ma.masked_where(b > 2, b, copy=False),
    "masked_where, copied": lambda np, b: np.ma.masked_where(b > 2, b),
    "masked_invalid": lambda np, b: np.ma.masked_invalid(b, copy=False),
    "masked_greater": lambda np, b: np.ma.masked_greater(b, 2, copy=False),
    "masked_values": lambda np, b: np.ma.masked_values(b, 2.0, copy=False),
    "its mask": lambda np, b: np.ma.masked_array(np.zeros(N), mask=b > 2),
    "matrix": lambda np, b: np.matrix(b, copy=False),
    "asmatrix": lambda np, b: np.asmatrix(b),
    "asmatrix, turned": lambda np, b: np.asmatrix(b).T,
}
JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "concatenate": lambda np, b: np.concatenate((b[1:], b[:1]), out=b),
    "concatenate rows": lambda np, b: np.concatenate(
        (b.reshape(2, -1)[1:], b.reshape(2, -1)[:1]), out=b.reshape(2, -1)
    ),
    "concatenate columns": lambda np, b: np.concatenate(
        (b.reshape(-1, 2)[:, 1:], b.reshape(-1, 2)[:, :1]), axis=1, out=b.reshape(-1, 2)
    ),
    "concatenate, flat": lambda np, b: np.concatenate((b[1:], b[:1]), axis=None, out=b),
    "stack": lambda np, b: np.stack((b[1::2], b[::2]), out=b.reshape(2, -1)),
    "stack, last": lambda np, b: np.stack((b[: N // 2], b[N // 2 :]), -1, out=b.reshape(-1, 2)),
}


def numbers(np: Any) -> Any:
    return np.arange(N) % 5 * 1.0


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_written_into_a_wrapper_is_in_the_array(name: str) -> None:
    told = []
    for np in (numpy, ours):
        base = numbers(np)
        wrapper = WRAPPED[name](np, base)
        wrapper += 1
        wrapper[:2] = 7
        base[5] = 40
        told.append((type(wrapper).__name__, str(wrapper.sum()), str(wrapper[:9]), base.tolist()))
    assert told[0] == told[1]


@pytest.mark.parametrize("name", JOINED)
def test_a_part_under_the_result_is_read_in_its_turn(name: str) -> None:
    told = []
    for np in (numpy, ours):
        base = numbers(np)
        JOINED[name](np, base)
        told.append(base.tolist())
    assert told[0] == told[1]


def test_the_iterator_walks_compares_and_starts_again() -> None:
    told: list[Any] = []
    for np in (numpy, ours):
        base = numbers(np).reshape(50, 30).T
        flat = base.flat
        found = [next(flat), next(flat), flat.index, flat.coords]
        base[0, 2] = 50
        found += [next(flat), flat[3], flat.index, len(list(flat)), flat.index]
        masks = (flat > 2, flat <= 2, flat == 3, flat != 3, flat < base.reshape(-1), flat <= 1)
        found += [int(mask.sum()) for mask in masks]
        flat[flat > 3] = 0
        told.append([*found, base.tolist()])
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "statement",
    [
        "b.flat = b.T",
        "b.flat[:] = b.T",
        "b.flat[3:] = b[::-1]",
        "b.T.flat = b",
        "b[::2].flat = b[1::2]",
    ],
)
def test_elements_under_the_iterator_are_read_in_their_turn(statement: str) -> None:
    told = []
    for np in (numpy, ours):
        b = np.arange(1600.0).reshape(40, 40)
        exec(statement, {"b": b})
        told.append(b.tolist())
    assert told[0] == told[1]
