"""Every way out of an array's memory, with callees that write, keep a reference, and resize."""

from __future__ import annotations

import array
import ctypes
import gc
import hashlib
import io
import pickle
import struct
import wave
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.frontends.arrays import trace
from fusewright.frontends.arrays.protocols import HAS_BUFFERS
from fusewright.ir.graph import LEAF

needs_buffers = pytest.mark.skipif(not HAS_BUFFERS, reason="classes of Python have no buffers")
N = 1000

MADE: dict[str, Callable[[], Any]] = {
    "leaf": lambda: fa.asarray(np.arange(1.0 * N)),
    "pending": lambda: fa.asarray(np.arange(1.0 * N)) * 2.0 + 1.0,
    "view": lambda: (fa.asarray(np.arange(4.0 * N)) + 1.0)[3 : 3 + N],
    "strided": lambda: fa.asarray(np.arange(3.0 * N))[::3],
    "turned": lambda: fa.asarray(np.arange(1.0 * N)).reshape(20, -1).T,
    "integers": lambda: fa.asarray(np.arange(N)),
    "small": lambda: fa.asarray(np.arange(3.0)),
    "complex": lambda: fa.asarray(np.arange(N) + 1j),
    "bool": lambda: fa.asarray(np.arange(N) % 3 == 0),
    "picked": lambda: (lambda x: x[x > 7])(fa.asarray(np.arange(1.0 * N))),
    "nothing": lambda: fa.zeros(0),
    "single": lambda: fa.asarray(np.array(2.5)),
}
"""Arrays of every kind that has memory of its own, or another's."""


class Through:
    """Answers one protocol for an array, and only that one."""

    def __init__(self, x: Any, name: str) -> None:
        self.x = x
        setattr(type(self), name, property(lambda self: getattr(self.x, name)))


def only(x: Any, name: str) -> Any:
    return type("Only", (Through,), {})(x, name)


READ = {
    "asarray": np.asarray,
    "asanyarray": np.asanyarray,
    "copy=None": lambda x: np.array(x, copy=None),
    "copy=False": lambda x: np.asarray(x, copy=False),
    "dtype": lambda x: np.asarray(x, dtype=x.dtype),
    "ndmin": lambda x: np.array(x, copy=None, ndmin=x.ndim),
    "__array__": lambda x: x.__array__(),
    "__array__ with a dtype": lambda x: x.__array__(x.dtype),
    "another's __array__": lambda x: np.asarray(only(x, "__array__")),
    "memoryview": lambda x: np.asarray(memoryview(x)),
}
"""Ways to convert an array, as NumPy's C code and others do."""
WRITE = {
    "view": lambda x: x.view(np.ndarray),
    "data": lambda x: np.asarray(x.data),
    "dlpack": np.from_dlpack,
    "__array_interface__": lambda x: np.asarray(only(x, "__array_interface__")),
    "__array_struct__": lambda x: np.asarray(only(x, "__array_struct__")),
}
"""Ways to share it, for reading and for writing."""
COPIES = {
    "array": np.array,
    "copy=True": lambda x: np.asarray(x, copy=True),
    "another dtype": lambda x: np.asarray(x, dtype="complex128" if x.dtype != "c16" else "c8"),
    "__array__(copy)": lambda x: x.__array__(copy=True),
    "bytes": lambda x: np.frombuffer(bytes(x) or b"\0" * 8, "u1").copy(),
    "pickle": lambda x: np.array(pickle.loads(pickle.dumps(x))),
}


BUFFERED = ("memoryview", "bytes", "__array_interface__", "__array_struct__")


def buffered(way: str) -> None:
    if way in BUFFERED and not HAS_BUFFERS:
        pytest.skip("classes of Python have no buffers")


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("way", READ)
def test_what_a_conversion_gives_is_seen_and_cannot_be_written(way: str, kind: str) -> None:
    buffered(way)
    x = MADE[kind]()
    want = x.copy().view(np.ndarray)
    got = READ[way](x)
    np.testing.assert_array_equal(got, want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert not got.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        got[...] = 1
    with pytest.raises(ValueError):
        got.flags.writeable = True
    if x.ndim and x.size:
        x[0] = 0
        np.testing.assert_array_equal(got[0], np.zeros_like(got[0]))  # who keeps it sees our writes


@pytest.mark.parametrize("kind", [kind for kind in MADE if kind != "nothing"])
@pytest.mark.parametrize("way", WRITE)
def test_what_is_shared_is_written_by_both(way: str, kind: str) -> None:
    buffered(way)
    x = MADE[kind]()
    got = WRITE[way](x)
    assert got.flags.writeable
    got[...] = 1
    np.testing.assert_array_equal(x.copy().view(np.ndarray), np.ones(x.shape, x.dtype))
    x[...] = 0
    np.testing.assert_array_equal(got, np.zeros(x.shape, x.dtype))
    x += x.dtype.type(1)
    np.testing.assert_array_equal(got, np.ones(x.shape, x.dtype))


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("way", COPIES)
def test_copies_are_theirs(way: str, kind: str) -> None:
    buffered(way)
    x = MADE[kind]()
    before = x.copy().view(np.ndarray)
    got = COPIES[way](x)
    got[...] = 1
    np.testing.assert_array_equal(x.view(np.ndarray), before)


@pytest.mark.parametrize("way", [*READ, *WRITE])
def test_nobody_can_resize_what_is_ours(way: str) -> None:
    buffered(way)
    x = fa.asarray(np.arange(1.0 * N)) + 1.0
    got = (READ | WRITE)[way](x)
    with pytest.raises(ValueError):
        got.resize(4 * N, refcheck=False)
    assert float(x[N - 1]) == N


@pytest.mark.parametrize("way", [*READ, *WRITE])
def test_loans_end_with_what_holds_them(way: str) -> None:
    buffered(way)
    gc.collect()
    before = trace.watched
    x = fa.asarray(np.arange(1.0 * N)) + 1.0
    got = (READ | WRITE)[way](x)
    del got
    gc.collect()
    pinned = way in ("__array_interface__", "__array_struct__")
    assert (trace.watched == before) is not pinned
    x += 1.0
    assert (x._node.kind != LEAF) is not pinned
    del x
    gc.collect()
    assert trace.watched == before


@needs_buffers
def test_an_address_holds_as_long_as_its_array() -> None:
    for way in ("interface", "ctypes"):
        x = fa.asarray(np.arange(1.0 * N)) + 1.0
        interface = x.__array_interface__
        address = interface["data"][0] if way == "interface" else x.ctypes.data
        assert interface["typestr"] == np.dtype(float).str
        for _ in range(3):
            x += 1.0
            x[0] = 7.0
            part = x[5:]
            assert part.ctypes.data == address + 40
            seen = (ctypes.c_double * N).from_address(address)
            assert (seen[0], seen[N - 1]) == (7.0, float(x[N - 1]))
            assert x.__array_interface__ == interface


@needs_buffers
def test_python_and_its_library_take_buffers(tmp_path: Path) -> None:
    theirs = (np.arange(N) % 251).astype("u1")
    x = fa.asarray(theirs) + np.uint8(0)
    plain = theirs.tobytes()
    assert bytes(x) == bytearray(x) == memoryview(x).tobytes() == plain
    assert hashlib.sha256(x).digest() == hashlib.sha256(plain).digest()
    assert zlib.crc32(x) == zlib.crc32(plain) and zlib.decompress(zlib.compress(x)) == plain
    assert array.array("B", x).tobytes() == plain
    assert struct.unpack_from("4B", x) == tuple(plain[:4])
    assert b"".join([x, x]) == plain * 2
    with open(tmp_path / "file", "wb") as file:
        assert file.write(x) == N
    with wave.open(str(tmp_path / "sound.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(x)
    with wave.open(str(tmp_path / "sound.wav"), "rb") as sound:
        assert sound.readframes(N) == plain
    zeros = fa.zeros(N, "u1")
    with open(tmp_path / "file", "rb") as file:
        assert file.readinto(zeros.data) == N
    assert bytes(zeros) == plain
    assert io.BytesIO(plain).readinto(zeros) == N


@needs_buffers
def test_requests_for_buffers_are_answered_as_by_numpy() -> None:
    theirs = np.arange(12.0).reshape(3, 4)
    ours = fa.asarray(theirs)
    for part in ((slice(None),), (slice(None), slice(1, 3)), (1,), (slice(None), 2)):
        mine, view = memoryview(ours[part]), memoryview(theirs[part])
        assert (mine.format, mine.shape, mine.strides) == (view.format, view.shape, view.strides)
        assert mine.tolist() == view.tolist()
        assert mine.readonly
    with pytest.raises(ValueError, match="contiguous"):
        hashlib.sha256(ours[:, 1])
    frozen = fa.asarray(theirs)
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(bytes(96)).readinto(frozen)
    number = ours.sum()
    assert bytes(number) == bytes(np.float64(66.0)) and memoryview(number).readonly


def test_compiled_callees_that_write_into_their_copy() -> None:
    lapack = pytest.importorskip("scipy.linalg.lapack")
    off, main, right = np.ones(N - 1), np.full(N, 4.0), np.arange(1.0 * N)
    ours = [fa.asarray(each) + 0.0 for each in (off, main, off, right)]
    want = lapack.dgtsv(off, main, off, right)
    got = lapack.dgtsv(*ours)
    for mine, theirs in zip(got[:4], want[:4], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip(ours, (off, main, off, right), strict=True):
        np.testing.assert_array_equal(mine.view(np.ndarray), theirs)


def test_memory_asked_for_again_stays_where_it_is() -> None:
    """What the view itself remembers of its value is no other holder: nothing is copied."""
    x = fa.asarray(np.arange(4.0 * N).reshape(4, N)) + 1.0
    row = x[2]
    first = np.asarray(row).ctypes.data
    for _ in range(3):
        assert np.asarray(row).ctypes.data == first
