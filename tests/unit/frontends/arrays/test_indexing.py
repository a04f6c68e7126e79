"""Subscripts: NumPy's placement, aliasing and write rules."""

from __future__ import annotations

import collections
import itertools
import random
from array import array as Buffer
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.frontends.arrays as fa
import fusewright.numpy as fnp

I = np.array([[0, 2], [-1, 1]])  # noqa: E741
J = np.array([1, 0])
MASK = np.array([True, False, True])
KEYS: list[Any] = [
    0,
    -1,
    slice(None, None, -1),
    slice(3, 0, -2),
    (slice(None), 1),
    (Ellipsis, 1),
    (None, 0, Ellipsis, None),
    (0, 1, 2),
    (0, 1, 2, Ellipsis),
    (),
    Ellipsis,
    None,
    I,
    (I, 0),
    (0, I),
    (slice(None), I),
    (slice(None), I, 0),
    (I, slice(None), J),
    (0, slice(None), J),
    (slice(None), J, J),
    (slice(0, 2), None, J),
    (J, None, J),
    (I, J, slice(1, 3)),
    MASK,
    (MASK, J),
    (slice(None), slice(None), [0, 3]),
    (slice(None, None, -1), J, Ellipsis),
    (Ellipsis, J, slice(None)),
    [0, 2],
    ([0, 2],),
    np.int8(1),
    (np.int64(1), slice(None)),
    np.array(1),
    (J, 1, J),
    np.ones((3, 3), bool),
    (slice(None), np.eye(3, 4, dtype=bool)),
    [True, False, True],
    np.zeros(0, int),
    True,
]


def cube() -> Any:
    return np.arange(36).reshape(3, 3, 4)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reading(key: Any) -> None:
    want = cube()[key]
    got = fa.asarray(cube())[key]
    assert got.shape == want.shape
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reading_what_is_pending(key: Any) -> None:
    want = (cube().transpose(0, 1, 2) + 1)[key]
    assert (fa.asarray(cube()) + 1)[key].tolist() == want.tolist()


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("pending", [False, True])
def test_writing(key: Any, pending: bool) -> None:
    want, got = cube(), fa.asarray(cube())
    if pending:
        want, got = want + 1, got + 1
    want[key] = -5
    got[key] = -5
    assert got.tolist() == want.tolist()
    values = -np.arange(want[key].size).reshape(want[key].shape)
    if key is not True:
        want[key] = values
        got[key] = fa.asarray(values)
        assert got.tolist() == want.tolist()


@pytest.mark.parametrize("key", [key for key in KEYS if not isinstance(key, bool)], ids=str)
def test_writing_through_a_view(key: Any) -> None:
    want, got = np.arange(72).reshape(4, 3, 6), fa.asarray(np.arange(72).reshape(4, 3, 6))
    their_view, our_view = want.T[::2, :, 3::-1], got.T[::2, :, 3::-1]
    their_view, our_view = their_view.transpose(1, 0, 2), our_view.transpose(1, 0, 2)
    their_view[key] = -1
    our_view[key] = -1
    assert our_view.tolist() == their_view.tolist()
    assert got.tolist() == want.tolist()


def test_overlapping_updates() -> None:
    want, got = np.arange(6.0), fa.asarray(np.arange(6.0))
    for array in (want, got):
        array[1:] += array[:-1]
        array[::2] *= array[1::2]
        array[:-1] = array[1:]
        array[::-1][:3] -= array[:3]
    assert got.tolist() == want.tolist()


def test_repeated_indices_take_the_last_value() -> None:
    want, got = np.zeros(3), fa.asarray(np.zeros(3))
    for array in (want, got):
        array[[0, 0, 1]] = [1.0, 2.0, 3.0]
        array[[0, 0]] += 10.0
    assert got.tolist() == want.tolist()


def test_many_reshape_views_on_one_another() -> None:
    x = fa.asarray(np.arange(12.0))
    y = x
    for turn in range(3000):
        y = y.reshape((3, 4) if turn % 2 else (12,))
    assert (y.strides, y.shape) == ((32, 8), (3, 4))
    y[1, 2] = 50.0
    x[0] = 7.0
    assert (x.tolist()[6], y.tolist()[0]) == (50.0, [7.0, 1.0, 2.0, 3.0])


def test_reshape_views_share_in_both_directions() -> None:
    x = fa.asarray(np.arange(6))
    grid = x.reshape(2, 3)
    column = grid[:, 1]
    flat = grid.ravel()
    x[1] = 10
    assert column.tolist() == [10, 4]
    column[1] = 40
    assert x.tolist() == [0, 10, 2, 3, 40, 5]
    flat[5] = 50
    assert grid.tolist() == [[0, 10, 2], [3, 40, 50]]
    moved = grid.T.reshape(-1)
    moved[0] = 99
    assert int(x[0]) == 0
    halves = x[::2].reshape(3, 1)
    halves[2] = -1
    assert x.tolist() == [0, 10, 2, 3, -1, 50]


def test_flat() -> None:
    x = fa.asarray(np.arange(6).reshape(2, 3))
    x.T.flat[1] = 30
    x.flat[::5] = 7
    assert x.tolist() == [[7, 1, 2], [30, 4, 7]]
    assert [int(value) for value in x.T.flat] == [7, 30, 1, 4, 2, 7]


def test_masked_writes_stay_lazy() -> None:
    x = fa.asarray(np.arange(6.0)) - 2.0
    x[x < 0] = 0.0
    y = x.reshape(2, 3)
    y[y[:, 0] > 0.5] = -1.0
    assert x.tolist() == [0.0, 0.0, 0.0, -1.0, -1.0, -1.0]


def test_masked_arithmetic() -> None:
    want, got = np.arange(6.0), fa.asarray(np.arange(6.0))
    for array in (want, got):
        array[array > 2] *= 2.0
        array[array > 5] = array[array > 5] - 1.0
    assert got.tolist() == want.tolist()


def test_attributes_match() -> None:
    theirs = np.arange(24.0).reshape(2, 3, 4)
    ours = fa.asarray(theirs)
    pairs = [
        (theirs, ours),
        (theirs[:, ::2].T, ours[:, ::2].T),
        (theirs[..., None], ours[..., None]),
    ]
    for want, got in pairs:
        for name in ("shape", "strides", "ndim", "size", "nbytes", "itemsize", "dtype"):
            assert getattr(got, name) == getattr(want, name), name
        assert got.flags.c_contiguous == want.flags.c_contiguous
        assert got.flags["F_CONTIGUOUS"] == want.flags["F_CONTIGUOUS"]
    assert ours.base is None
    assert ours[0].T.base is ours
    assert len(ours) == 2
    assert 5.0 in ours
    assert 99.0 not in ours


KINDS: tuple[Any, ...] = (
    0, slice(None), slice(2, None, -1), None, Ellipsis, J, I, [True, False, True], [],
    True, np.False_, np.array(True), np.eye(3, dtype=bool),
)  # fmt: skip
"""One subscript of each kind."""


def result(array: Any, key: Any, value: Any) -> Any:
    """What a subscript reads, or what the array is after it has been written; or the error."""
    try:
        if value is None:
            found = array[key]
        else:
            array[key] += value
            found = array
    except Exception as error:  # noqa: BLE001
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return np.asarray(found).shape, np.asarray(found).tolist()


def test_subscripts_of_all_kinds_together() -> None:
    """An ellipsis that stands for no dim parts index arrays, a boolean scalar makes a dim."""
    triples = random.Random(5).sample(list(itertools.product(KINDS, repeat=3)), 300)
    for key in (*itertools.product(KINDS, repeat=2), *triples):
        for shape, value in (((3,), None), ((3, 3), None), ((3, 3, 2), None), ((3, 3), 7)):
            base = np.arange(np.prod(shape)).reshape(shape)
            want = result(base.copy(), key, value)
            assert result(fa.asarray(base.copy()), key, value) == want, (shape, key, value)


SUBSCRIPTS = {
    "bytearray": bytearray(b"\1\2"),
    "empty bytearray": bytearray(),
    "memoryview": memoryview(Buffer("q", [1, 2, 3])),
    "array.array": Buffer("l", [3, 1]),
    "array.array of floats": Buffer("d", [3, 1]),
    "deque": collections.deque([1, 2]),
    "namedtuple": collections.namedtuple("Place", "i j")(1, 0),
    "user's list": collections.UserList([2, 1]),
    "set": {1, 2},
    "dict": {1: 2},
    "keys": {1: 1}.keys(),
    "text": "ab",
    "bytes": b"\1\2",
    "float": 1.5,
    "object": object(),
    "beyond": 10**30,
}


def subscripted(module: Any, shape: tuple[int, ...], key: Any) -> list[Any]:
    x = module.asarray(np.arange(1800).reshape(shape).copy())
    found: list[Any] = []
    for use in (
        lambda: np.asarray(x[key]).tolist(),
        lambda: np.asarray(x[:5][key]).tolist(),
        lambda: x.__setitem__(key, 7),
        lambda: x[1:].__setitem__(key, 9),
    ):
        try:
            found.append(use())
        except Exception as error:  # noqa: BLE001
            found.append(next(k for k in type(error).__mro__ if k.__module__ == "builtins"))
    return [*found, np.asarray(x).tolist()]


@pytest.mark.parametrize("name", SUBSCRIPTS)
@pytest.mark.parametrize("shape", [(1800,), (900, 2)])
def test_subscripts_of_any_class_are_numpys(name: str, shape: tuple[int, ...]) -> None:
    """What is neither an integer nor a slice is an index array, if NumPy makes one of it."""
    assert subscripted(fw, shape, SUBSCRIPTS[name]) == subscripted(np, shape, SUBSCRIPTS[name])


BEYOND = """
x.swapaxes(0, big)
x.transpose(0, big, 1)
x.transpose((0, 1, big))
np.transpose(x, (big, 0, 1))
np.moveaxis(x, big, 0)
np.broadcast_to(x, (big, 30, 10, 3))
np.broadcast_to(x, (2**60, 30, 10, 3))
np.broadcast_to(x, (2**40, 30, 10, 3)).shape
x.sum(axis=(0, big))
x.reshape(big, -1)
np.flip(x, big)
np.roll(x, 1, axis=big)
""".strip().splitlines()


@pytest.mark.parametrize("expression", BEYOND)
def test_integers_that_no_axis_and_no_extent_can_be(expression: str) -> None:
    found = []
    for module, x in ((np, np.ones((30, 10, 3))), (fnp, fw.asarray(np.ones((30, 10, 3))))):
        try:
            found.append(eval(expression, {"np": module, "x": x, "big": 10**30}))
        except Exception as error:  # noqa: BLE001
            found.append(next(k for k in type(error).__mro__ if k.__module__ == "builtins"))
    assert found[0] == found[1]
