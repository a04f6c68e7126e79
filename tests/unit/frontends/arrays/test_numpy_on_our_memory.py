"""What NumPy does at once on our memory: writes that convert, functions that write into an operand,
results that become ours, and calls whose kind NumPy has agreed to before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native

VALUES: list[Any] = [
    True, 3, 2.75, np.float32(1.5), np.int64(7), np.bool_(True), (1.0, 2, 3),
    [np.float64(4), 5, True], np.array([1, 2, 3], np.int16), np.array(2.5),
    np.array([[9.5], [8.5]]),
]  # fmt: skip
KEYS: list[Any] = [
    (2,), (slice(None), 1), (slice(1, 3),), (..., slice(None, None, -1)),
    (slice(2, 4), slice(None)),
]  # fmt: skip
TYPES = ["f8", "f4", "i8", "u1", "?", "c16"]


def outcome(write: Callable[[], None], array: Any) -> Any:
    """What an array holds after a write, or the kinds of errors it ended with."""
    try:
        write()
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        return [kind for kind in (TypeError, ValueError, IndexError) if isinstance(error, kind)]
    return np.asarray(array).tolist()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_writes_convert_as_numpy_does(dtype: str, key: Any) -> None:
    for value in VALUES:
        want = np.ones((40, 30)).astype(dtype)[:5, :3]
        got = fw.asarray(np.ones((5, 3)).astype(dtype))
        for _ in range(2):
            expected = outcome(lambda want=want, value=value: want.__setitem__(key, value), want)
            found = outcome(lambda got=got, value=value: got.__setitem__(key, value), got)
            assert found == expected, value


@pytest.mark.parametrize("target", TYPES[:-1])
@pytest.mark.parametrize("source", TYPES[:-1])
def test_our_values_are_converted_without_a_warning(source: str, target: str) -> None:
    values = np.array([0.0, 1.0, 200.0, 3.5]).astype(source)
    want, got = np.zeros((20, 4), target), fw.asarray(np.zeros((20, 4), target))
    row = fw.asarray(values)
    for i in range(20):
        want[i], got[i] = values, row
    np.testing.assert_array_equal(np.asarray(got), want)
    with np.errstate(all="raise"):
        fw.asarray(np.zeros((20, 4), "f4"))[3] = fw.asarray(np.full(4, 1e300))


def test_a_write_leaves_what_others_hold() -> None:
    a = fw.asarray(np.arange(2000.0))
    copy, later = a.copy(), a + 1
    a[3:6] = [7, 8, np.float64(9)]
    a[10] = True
    assert copy[3:6].tolist() == [3, 4, 5]
    assert later[10] == 11
    assert a[3:6].tolist() == [7, 8, 9]
    assert a[10] == 1


def test_a_part_written_to_another() -> None:
    want, got = np.arange(30), fw.asarray(np.arange(30))
    for array in (want, got):
        array[1:] = array[:-1] * 1.0
        array[2:10] = array[0:1]
    np.testing.assert_array_equal(np.asarray(got), want)


WRITERS: list[Callable[[Any, Any], Any]] = [
    lambda xp, a: xp.add.at(a, [1, 1, 3], 2),
    lambda xp, a: xp.add.at(a, xp.asarray([0, 5]), xp.asarray([1, 2])),
    lambda xp, a: xp.negative.at(a, [2]),
    lambda xp, a: xp.put(a, [0, 2], [-1, -2]),
    lambda xp, a: xp.putmask(a, a > 5, 0),
    lambda xp, a: xp.place(a, a > 5, [1, 2]),
    lambda xp, a: xp.copyto(a, a[::-1]),
    lambda xp, a: xp.copyto(a, 3, where=a < 4),
    lambda xp, a: a.sort(),
    lambda xp, a: a.partition(4),
    lambda xp, a: a.fill(2),
    lambda xp, a: a[1:].fill(7),
    lambda xp, a: a.put([1], 9),
    lambda xp, a: xp.add.at(a, [99999], 2),
    lambda xp, a: xp.add.at(a, [1], "x"),
    lambda xp, a: xp.copyto(a, 1.5),
]


@pytest.mark.parametrize("number", range(len(WRITERS)))
@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_functions_that_write(number: int, dtype: str) -> None:
    write = WRITERS[number]
    values = np.random.default_rng(number).permutation(3000).astype(dtype)
    want, got = values.copy(), fw.asarray(values)
    held = got.copy()
    for _ in range(3):
        expected = outcome(lambda: write(np, want), want)
        assert outcome(lambda: write(fnp, got), got) == expected
    np.testing.assert_array_equal(np.asarray(held), values)


def test_results_keep_their_memory_and_are_ours_alone() -> None:
    a = fw.asarray(np.arange(3000.0))
    float(a.sum())  # the pool is there
    for _ in range(20):
        joined: Any = fnp.concatenate((a, a))
    joined[0] = 5.0
    assert a[0] == 0
    assert joined.base is None
    assert joined.flags.owndata
    again = joined.copy()
    joined += 1
    assert again[0] == 5
    assert joined[1] == 2


def test_calls_of_a_known_kind() -> None:
    a = fw.asarray(np.linspace(-1, 1, 2000))
    plain = np.asarray(a)
    for low in (0.25, -0.5, 0.0, 0.125):
        np.testing.assert_array_equal(np.asarray(fnp.clip(a, low, 0.75)), np.clip(plain, low, 0.75))
    for _ in range(4):
        with pytest.raises((TypeError, ValueError)):
            fnp.clip(a, "x", 0.75)
        with pytest.raises(ValueError):
            fnp.clip(a, [0.0, 1.0, 2.0], 0.75)
        out = fnp.zeros(2000)
        assert fnp.clip(a, 0.0, 0.5, out) is out
        np.testing.assert_array_equal(np.asarray(out), np.clip(plain, 0.0, 0.5))
        assert fnp.sum(a, axis=0, dtype=np.float32).dtype == np.float32
        assert fnp.clip(fnp.arange(2000), 0.5, 3).dtype == np.float64
        assert fnp.clip(fnp.arange(2000), 1, 3).dtype == np.int64
        assert fnp.einsum("i,i->", a, a).shape == ()


@pytest.mark.skipif(native is None, reason="the core iterates")
def test_iteration_sees_writes() -> None:
    for xp in (np, fnp):
        a = xp.arange(3000.0) + 0
        seen = []
        for value in a:
            if value == 1:
                a[2] = -7
            seen.append(value)
            if len(seen) == 4:
                break
        assert seen == [0, 1, -7, 3]
        assert all(type(value) is np.float64 for value in seen)
        assert len(list(a)) == 3000
        assert [row.shape for row in a.reshape(3, 1000)] == [(1000,)] * 3
