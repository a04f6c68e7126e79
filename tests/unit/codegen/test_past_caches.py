"""Stores past the caches: of large arrays that nothing else in the loop uses, where all that are
written have whole vectors at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.machine import record as machine

N = 300


def two(a: Any, b: Any, c: Any) -> None:
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + a[i + 1]
        c[i] = a[i] * 2


def read_again(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] + 1
    for i in range(1, a.shape[0]):
        c[i] = b[i - 1] * a[i]


def updated(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        b[i] += a[i]
        c[i] = c[i] * a[i]


@pytest.fixture
def all_large() -> Iterator[None]:
    with machine.using(machine.current()._replace(past=0)):
        yield


def text_of(kernel: Any) -> str:
    (found,) = next(iter(kernel.specialisations.values()))
    (code,) = found.compiled.values()
    text: str = code.signature.text
    return text


def arrays(offsets: tuple[int, ...], dtype: str) -> list[Any]:
    """Arrays that begin so many elements after a line, in larger ones."""
    found = []
    for number, offset in enumerate(offsets):
        raw = np.full(N + 128, 77, dtype)
        first = -(raw.ctypes.data // raw.itemsize) % (64 // raw.itemsize) + offset
        found.append(raw[first : first + N])
        found[-1][:] = np.arange(N) % 13 + number
    return found


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("features", ["avx2", "auto"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("offsets", [(0, 0, 0), (1, 3, 3), (0, 2, 5), (0, 1, 0)])
def test_the_same_bits(offsets: tuple[int, ...], dtype: str, features: str) -> None:
    for function in (two, read_again, updated):
        ours, wanted = arrays(offsets, dtype), arrays(offsets, dtype)
        with fw.options(features=features):
            fw.kernel(function)(*ours)
        function(*wanted)
        for a, b in zip(ours, wanted, strict=True):
            assert a.tobytes() == b.tobytes()
            start = (a.ctypes.data - a.base.ctypes.data) // a.itemsize
            assert np.all(a.base[:start] == 77)
            assert np.all(a.base[start + N :] == 77)


@pytest.mark.usefixtures("all_large")
def test_which_stores() -> None:
    for function, count in ((two, 2), (read_again, 1), (updated, 0)):
        kernel = fw.kernel(function)
        kernel(*arrays((0, 0, 0), "float64"))
        text = text_of(kernel)
        assert text.count("!nontemporal") == count, function.__name__
        assert ("sfence()" in text) is bool(count)


def test_small_arrays_stay_in_the_caches() -> None:
    kernel = fw.kernel(two)
    kernel(*arrays((0, 0, 0), "float64"))
    assert "!nontemporal" not in text_of(kernel)


@pytest.mark.usefixtures("all_large")
def test_trees_of_arrays_that_pass_the_caches_are_well_formed() -> None:
    """They need no anchor: where a result of ours begins is known."""
    with fw.options(debug=True, interpret=False):
        x = fw.asarray(np.ones((32, 48))) * 2.0
        found = x.sum(axis=0)
        (kernel,) = fw.explain(x, found).kernels
        assert "past the caches" in kernel.loops
        fw.evaluate(x, found)
    assert (np.asarray(found) == 64.0).all()
