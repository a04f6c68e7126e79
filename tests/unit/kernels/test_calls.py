"""Calling kernels: aliases, layouts, fw arrays, captured names, methods of the cache."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, remembered

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.base import errors

FACTOR = 2.0


@fw.kernel
def shift(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i] + 1


@fw.kernel
def twice(x, y, z):
    for i in range(x.shape[0]):
        y[i] = 2 * x[i]
        z[i] = y[i] + x[i]


@fw.kernel
def scaled(x):
    for i in range(x.shape[0]):
        x[i] *= FACTOR


@fw.kernel
def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return s


@fw.kernel
def c_division(a, q, r, n):
    for i in range(a.shape[0]):
        q[i] = a[i] // n
        r[i] = a[i] % n


VIEWS: dict[str, Any] = {
    "the same": lambda b: (b[:20], b[:20]),
    "one ahead": lambda b: (b[:20], b[1:21]),
    "one behind": lambda b: (b[1:21], b[:20]),
    "far ahead": lambda b: (b[:20], b[7:27]),
    "apart": lambda b: (b[:20], b[20:]),
    "interleaved": lambda b: (b[0::2], b[1::2]),
    "reversed": lambda b: (b[:20], b[19::-1]),
    "one element": lambda b: (np.broadcast_to(b[:1], 20), b[:20]),
    "other stride": lambda b: (b[:20], b[::2]),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("kernel", [shift, twice])
def test_aliases(name: str, kernel: Any) -> None:
    base = np.arange(40.0)
    found, wanted = base.copy(), base.copy()
    rest = (np.zeros(20),) if kernel is twice else ()
    kernel(*VIEWS[name](found), *rest)
    kernel.__wrapped__(*VIEWS[name](wanted), *rest)
    assert found.tolist() == wanted.tolist()


def test_three_aliases() -> None:
    found, wanted = np.arange(40.0), np.arange(40.0)
    for function, base in ((twice, found), (twice.__wrapped__, wanted)):
        function(base[:20], base[1:21], base[2:22])
    assert found.tolist() == wanted.tolist()


def test_zero_stride_target() -> None:
    found = np.zeros(1)
    shift(np.arange(5.0), np.lib.stride_tricks.as_strided(found, (5,), (0,)))
    assert found.tolist() == [5.0]


def test_arrays_of_ours() -> None:
    x = fnp.arange(10.0)
    y = x * 2  # pending
    z = y + 1
    before = np.asarray(y + 0).tolist()
    shift(x, y)
    assert np.asarray(y).tolist() == [i + 1.0 for i in range(10)]
    assert np.asarray(z).tolist() == [b + 1 for b in before]
    scaled(x[2:5])
    assert np.asarray(x).tolist() == [0, 1, 4, 6, 8, 5, 6, 7, 8, 9]
    assert total(y + 1) == 65.0


def test_a_lazy_scalar_is_a_number() -> None:
    @fw.kernel
    def fill(x, value):
        for i in range(x.shape[0]):
            x[i] = value

    x = np.zeros(3)
    fill(x, fnp.arange(4.0).sum())
    assert x.tolist() == [6.0] * 3


def test_dlpack() -> None:
    class Tensor:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __dlpack__(self, **kwargs: Any) -> Any:
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    x = np.ones(4)
    scaled(Tensor(x))
    assert x.tolist() == [2.0] * 4


def test_a_captured_number_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones(2)
    scaled(x)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    scaled(x)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    scaled(x)
    assert x.tolist() == [20.0] * 2
    assert len(next(iter(scaled.specialisations.values()))) == 2


def test_a_closure() -> None:
    def make(k: Any) -> Any:
        @fw.kernel
        def add(x):
            x[0] += k

        return add

    x = np.zeros(1)
    make(1)(x)
    make(2.5)(x)
    assert x.tolist() == [3.5]


def test_captured_arrays_are_arguments() -> None:
    table = np.arange(3.0)

    @fw.kernel
    def look(x):
        for i in range(3):
            x[i] += table[i]

    x = np.zeros(3)
    look(x)
    table[:] = 10
    look(x)
    assert x.tolist() == [10, 11, 12]


def test_c_integers() -> None:
    a = np.arange(-7, 8)
    for n in (3, -3):
        q, r = np.zeros(15, int), np.zeros(15, int)
        fw.kernel(c_division.__wrapped__, integers="c")(a, q, r, n)
        assert q.tolist() == [int(k / n) for k in a.tolist()]
        assert r.tolist() == [k - int(k / n) * n for k in a.tolist()]


def test_numbers_are_no_part_of_the_key() -> None:
    @fw.kernel
    def put(x, value, n):
        for i in range(n):
            x[i] = value

    for n in range(5):
        put(np.zeros(n + 3), float(n), n)
    assert [len(found) for found in put.specialisations.values()] == [1]


def test_quick_calls_see_what_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    found, wanted = np.arange(40.0), np.arange(40.0)
    quick = fw.kernel(shift.__wrapped__)
    for low in (20, 20, 1, 0, 20, 1):
        quick(found[:20], found[low : low + 20])
        quick.__wrapped__(wanted[:20], wanted[low : low + 20])
    assert found.tolist() == wanted.tolist()
    x = np.ones(2)
    for factor in (2.0, 2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        scaled(x)
    assert x.tolist() == [12.0] * 2
    frozen = np.ones(20)
    frozen.flags.writeable = False
    with pytest.raises(errors.KernelError, match="`y` is written to"):
        quick(np.ones(20), frozen)


def test_quick_calls_return_and_refuse() -> None:
    kernel = fw.kernel(total.__wrapped__)
    results = [kernel(np.full(4, float(k))) for k in range(5)]
    assert results == [0.0, 4.0, 8.0, 12.0, 16.0]
    assert {type(result) for result in results} == {np.float64}
    assert kernel.stats.calls == 5

    @fw.kernel
    def put(x, value):
        x[0] = value

    x = np.zeros(1, int)
    for value in (1, 2, 2**63 - 1):
        put(x, value)
        assert x[0] == value
    with pytest.raises(errors.OverflowIntError):
        put(x, 2**63)


def test_settings_have_quick_calls_of_their_own() -> None:
    quick = fw.kernel(shift.__wrapped__)
    x, y = np.arange(8.0), np.zeros(8)
    for _ in range(3):
        for fuse in (True, False):
            with fw.options(fuse=fuse):
                quick(x, y)
    known = [options for options, _ in remembered(quick)]
    assert [options.fuse for options in known] == ([] if native is None else [True, False])
    assert quick.stats.calls == 6
    assert y.tolist() == (x + 1).tolist()


def test_static_values_are_seen_by_quick_calls() -> None:
    @fw.kernel
    def unrolled(x, n):
        for i in fw.static(range(fw.static(n))):
            x[i] += 1

    x = np.zeros(4)
    for n in (1, 1, 2, 4):
        unrolled(x, n)
    assert x.tolist() == [4, 2, 1, 1]


def test_a_name_without_place_is_refused_again() -> None:
    @fw.kernel
    def named(x, *, k):
        x[0] = k

    named(np.zeros(1), k=1)
    with pytest.raises(errors.ArgumentError):
        named(np.zeros(1), 1)  # type: ignore[misc]


SOURCE = """
import fusewright as fw

@fw.kernel
def f(x):
    x[0] = {}
"""


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("edited", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["edited"] = module
    spec.loader.exec_module(module)
    return module


def test_an_edited_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "edited.py"
    path.write_text(SOURCE.format(1))
    old = load(path).f
    path.write_text(SOURCE.format("22  # longer"))
    x = np.zeros(1)
    with pytest.raises(errors.UnsupportedError, match="has changed since it was loaded"):
        old(x)
    load(path).f(x)
    assert x.tolist() == [22]


def test_a_fresh_process_finds_the_code_on_disk() -> None:
    x = np.ones(3)
    scaled(x)
    found = next(iter(scaled.specialisations.values()))[0]
    again = fw.kernel(scaled.__wrapped__)
    again(x)
    assert_same(x, np.full(3, 4.0), "two calls")
    codes = [c for f in again.specialisations.values() for s in f for c in s.compiled.values()]
    assert len(codes) == len(found.compiled) == 1


def test_the_kernel_keeps_its_name_and_text() -> None:
    assert total.__name__ == "total"
    assert repr(total) == "<fw.kernel total>"
    assert total.__wrapped__(np.ones(3)) == 3.0


def test_keywords_and_defaults() -> None:
    @fw.kernel
    def fill(x, value=3.0, *, start=0):
        for i in range(start, x.shape[0]):
            x[i] = value

    x = np.zeros(3)
    fill(x, start=1)
    fill(value=9, x=x[:1])
    assert x.tolist() == [9, 3, 3]
