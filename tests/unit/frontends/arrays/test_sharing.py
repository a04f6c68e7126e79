"""Memory at the border to NumPy: copied, adopted, shared, lent; laziness is never visible."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.frontends.arrays import creation, trace
from fusewright.ir.graph import LEAF


def is_pending(array: Any) -> bool:
    return bool(array._node.kind != LEAF)


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_asarray_copies() -> None:
    data = np.ones(3)
    x = fa.asarray(data)
    y = x + 1.0
    data[:] = 9.0
    assert x.tolist() == [1.0] * 3
    assert y.tolist() == [2.0] * 3


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "i2", "?", "c16"])
def test_longer_copies_begin_at_a_cache_line(dtype: str) -> None:
    straight = (np.arange(40 * 50) % 7).astype(dtype).reshape(40, 50)
    for n, given in enumerate((straight, np.asfortranarray(straight), straight[::2], straight.T)):
        copies = [fa.asarray(given) for _ in range(3)]
        for x in copies:
            assert x.shape == given.shape
            assert np.asarray(x).dtype == straight.dtype.newbyteorder("=")
            np.testing.assert_array_equal(np.asarray(x), given)
            if given.nbytes >= 4096:
                assert x._node.value[0].address % 64 == 0, n


def test_a_temporary_is_adopted_and_a_held_array_is_not() -> None:
    def memory_of(x: Any) -> int:
        return int(x._node.value[0].address)

    held = np.ones(1000)
    assert memory_of(fa.asarray(held)) != address(held)
    addresses: list[int] = []

    def made() -> Any:
        array = np.ones(1000)
        addresses.append(address(array))
        return array

    whole = fa.asarray(made())  # not inside an assert: pytest would hold the array
    part = fa.asarray(made()[:500])
    # Where a temporary looks like what a variable holds, both are copied.
    assert (memory_of(whole) == addresses[0]) == creation.SEES_VARIABLES
    assert creation.SEES_VARIABLES is (sys.version_info < (3, 14))
    assert memory_of(part) != addresses[1]


def test_read_only_memory_is_adopted() -> None:
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    assert fa.asarray(frozen)._node.value[0].address == address(frozen)
    writable = np.arange(4.0)
    window = writable[:]
    window.flags.writeable = False
    assert fa.asarray(window)._node.value[0].address != address(window)


def test_shared_memory_is_written_at_once() -> None:
    data = np.arange(6.0)
    x = fa.asarray(data, copy=False)
    x += 1.0
    assert data.tolist() == [1, 2, 3, 4, 5, 6]
    x[1::2] = 0.0
    assert data.tolist() == [1, 0, 3, 0, 5, 0]
    data[0] = 50.0
    assert float(x[0]) == 50.0
    y = x * 2.0
    assert not is_pending(y)
    x[...] = x[::-1]
    assert data.tolist() == [0, 5, 0, 3, 0, 50]


def test_strided_memory_is_shared_in_place() -> None:
    data = np.arange(12.0).reshape(3, 4)
    x = fa.asarray(data.T[::2, ::-1], copy=False)
    x[0] = -1.0
    assert data[:, 0].tolist() == [-1.0] * 3
    assert x.strides == data.T[::2, ::-1].strides
    view = x[:, 1:]
    data[0, 0] = 7.0
    assert float(view[0, -1]) == 7.0


def test_two_handles_on_one_memory() -> None:
    data = np.zeros(4)
    x, y = fa.asarray(data, copy=False), fa.asarray(data[1:], copy=False)
    x += 1.0
    y += 1.0
    assert x.tolist() == [1.0, 2.0, 2.0, 2.0]


def test_lazy_defers_until_the_block_ends() -> None:
    data = np.arange(3.0)
    x = fa.asarray(data, copy=False)
    before = x + 10.0
    with fa.lazy():
        reader = x + 100.0
        x *= 2.0
        x[0] = 5.0
        y = x + 1.0
        assert data.tolist() == [0.0, 1.0, 2.0]
        assert is_pending(y)
    assert data.tolist() == [5.0, 2.0, 4.0]
    assert reader.tolist() == [100.0, 101.0, 102.0]
    assert before.tolist() == [10.0, 11.0, 12.0]
    assert y.tolist() == [6.0, 3.0, 5.0]
    x += 1.0
    assert data.tolist() == [6.0, 3.0, 5.0]


def test_exported_memory_is_shared_both_ways_while_the_export_lives() -> None:
    x = fa.asarray(np.zeros(4)) + 1.0
    exported = x.view(np.ndarray)
    assert x.view(np.ndarray) is not exported
    x += 1.0
    assert exported.tolist() == [2.0] * 4
    exported[0] = 9.0
    assert float(x[0]) == 9.0
    part = exported[2:]
    del exported
    x[2:] = 5.0
    assert part.tolist() == [5.0, 5.0]
    del part
    gc.collect()
    x += 1.0
    assert is_pending(x)
    assert x.tolist() == [10.0, 3.0, 6.0, 6.0]


def test_export_protects_pending_readers_and_copies() -> None:
    x = fa.asarray(np.arange(3.0))
    reader, twin = x * 10.0, x.copy()
    exported = x.view(np.ndarray)
    exported[:] = -1.0
    assert reader.tolist() == [0.0, 10.0, 20.0]
    assert twin.tolist() == [0.0, 1.0, 2.0]
    assert x.tolist() == [-1.0] * 3


def test_a_copy_of_exported_memory_is_its_present_content() -> None:
    x = fa.asarray(np.arange(3.0))
    exported = x.view(np.ndarray)
    twin, element, other = x.copy(), x[1], fa.zeros(3)
    other[...] = x
    same_type = x.astype(float)
    exported[:] = 8.0
    assert twin.tolist() == other.tolist() == same_type.tolist() == [0.0, 1.0, 2.0]
    assert float(element) == 1.0


def test_exported_views_share_with_their_base() -> None:
    x = fa.asarray(np.arange(6.0)).reshape(2, 3)
    row = x[1].view(np.ndarray)
    row[:] = 0.0
    assert x.tolist() == [[0, 1, 2], [0, 0, 0]]
    turned = np.asarray(x.T)
    x[0, 2] = 7.0
    assert turned[2, 0] == 7.0
    flat = x.reshape(-1).view(np.ndarray)
    flat[5] = 4.0
    assert float(x[1, 2]) == 4.0


def test_views_made_before_an_export_see_it() -> None:
    x = fa.asarray(np.arange(4.0)) + 0.0
    view = x[1:]
    assert view.tolist() == [1.0, 2.0, 3.0]
    exported = x.view(np.ndarray)
    exported[1] = 9.0
    assert view.tolist() == [9.0, 2.0, 3.0]
    view[0] = 4.0
    assert exported[1] == 4.0


def test_dlpack_round_trip_shares() -> None:
    x = fa.asarray(np.arange(4.0))
    other = np.from_dlpack(x)
    x += 1.0
    assert other.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert x.__dlpack_device__() == (1, 0)


def test_complex_parts_are_writable_views() -> None:
    x = fa.asarray(np.array([1 + 2j, 3 + 4j]))
    x.real[0] = 9.0
    x.imag = [5.0, 6.0]
    assert x.tolist() == [9 + 5j, 3 + 6j]
    imaginary = x.imag
    x *= 2
    assert imaginary.tolist() == [10.0, 12.0]


def test_bytes_seen_as_another_type() -> None:
    theirs = np.arange(4, dtype="float32")
    ours = fa.asarray(theirs.copy())
    assert ours.view("int32").tolist() == theirs.view("int32").tolist()
    assert ours.view("float64").tolist() == theirs.view("float64").tolist()
    ours.view("uint8")[3] = 64
    theirs.view("uint8")[3] = 64
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_clones_are_independent(clone: Any) -> None:
    x = fa.asarray(np.arange(3)) + 1
    twin = clone(x)
    x += 1
    assert twin.tolist() == [1, 2, 3]
    total = clone(x.sum())
    assert type(total) is fa.Scalar
    assert total == 9


def test_loans_do_not_leak() -> None:
    before = trace.watched
    for _ in range(50):
        x = fa.asarray(np.ones(3))
        np.asarray(x)
    gc.collect()
    assert trace.watched == before


def test_a_flush_in_a_lazy_block_leaves_nothing_that_reads_shared_memory() -> None:
    """Whatever a loop's flush would leave alone: who looks later must not see later writes."""
    data = np.arange(6.0)
    x = fa.asarray(data, copy=False)
    for steps in range(60, 420, 7):
        data[:] = np.arange(6.0)
        y = fa.asarray(np.zeros(6))
        with fa.lazy():
            for k in range(steps):
                ahead = y + 1.0  # a flush comes here, and then the loop ends
                if k == steps - 1:
                    break
                here = x * 2.0 + k
                more = here * 3.0
                y = y * 0.5 + here + more
        data[:] = -5.0
        wanted = np.arange(6.0) * 2.0 + steps - 2
        assert np.array_equal(np.asarray(here), wanted), steps
        assert np.array_equal(np.asarray(more), wanted * 3.0), steps
        assert np.array_equal(np.asarray(ahead), np.asarray(y) + 1.0)
