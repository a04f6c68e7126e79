"""Small work is interpreted until compiling it pays, and nobody can tell by the values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed

import fusewright as fw
from fusewright import driver
from fusewright._core import native
from fusewright.base.options import current
from fusewright.runtime import background
from fusewright.runtime.profile import listen
from fusewright.targets.cpu.due import LATER, NOW, is_due

Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def evaluator() -> Iterator[None]:
    with installed("interpreted"):
        yield


def arrays(extent: int = 57) -> list[Any]:
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((2, extent, 3))
    return [x, y + 4, rng.integers(-9, 9, (extent, 3)), (x > 0)]


def patched(x: Any, y: Any, n: Any, m: Any) -> Any:
    z = x * 2
    z[1:-1, 1] = y[2:, 0] + z[:-2, 2]
    return z, z.copy()


def asked_in_turn(x: Any, y: Any, n: Any, m: Any) -> Any:
    a = x * y + n
    b = a[::-1] * 2
    some = float(b[3, 1]) + int(a.astype("i4").max())  # needs a and b, and does not store them
    b[1:-1] += a[:-2]
    return a, b, some + a, b - a[:, :1]


def temporaries(x: Any, y: Any, n: Any, m: Any) -> Any:
    z = (x + y) * 2 - n / (y + 1)
    w = z + z[::-1]  # z ends here, but is read in two orders
    a = x + 1
    a[0] = 5
    a[1:3] = a[2:4] * 2
    a[:, 1] = a[:, 0] + a[:, 2]
    half = (a * 3)[::2] - 1
    return w * w, a, half, (x * 3).astype("f4") + 1, -(x * m)


PROGRAMS: dict[str, Program] = {
    "asked in turn": asked_in_turn,
    "temporaries": temporaries,
    "exact": lambda x, y, n, m: (x * y + n / 3, np.sqrt(y) - abs(n), -x, (x < n) ^ m),
    "elementary": lambda x, y, n, m: (np.exp(x) * np.sin(y), np.log(y) ** x, np.hypot(x, n)),
    "sums": lambda x, y, n, m: (x.sum(0), (x * y).mean(1), n.sum(), n.prod(axis=1), x.std()),
    "extremes": lambda x, y, n, m: (x.max(0), n.min(), m.any(1), m.all(), x.argmax(0)),
    "scans": lambda x, y, n, m: (x.cumsum(0), n.cumsum(1), np.diff(y, axis=0)),
    "narrow": lambda x, y, n, m: (x.astype("f4") * n.astype("i2"), n.astype("u1") // 3, n % 4),
    "casts": lambda x, y, n, m: (x.astype("i4"), y.astype("u1"), m.astype("f8"), (x * 9) // 1),
    "complex": lambda x, y, n, m: ((x + 1j * y) * (2 - 1j), abs(x + 1j * y)),
    "complex choices": lambda x, y, n, m: (
        np.where(m, x + 1j * y, 2 - 1j),
        (x + 1j * y).astype("c8"),
        x.astype("c16"),
    ),
    "half": lambda x, y, n, m: (x.astype("f2") * 3 + y.astype("f2"),),
    "moves": lambda x, y, n, m: (x.T[::-1], np.roll(x, 2), np.pad(n, 1), x[n[:, 0] % 5], x[m]),
    "joined": lambda x, y, n, m: (np.concatenate([x, y * 2]), np.stack([x, y])[1], np.tile(n, 2)),
    "patches": patched,
    "library": lambda x, y, n, m: (x.T @ y + 1, np.linalg.norm(x, axis=0), np.sort(y, 0)[::2]),
    "where": lambda x, y, n, m: (np.where(m, x, n), np.where(m, 1.5, y), np.clip(x, -1, 0.5)),
    "several": lambda x, y, n, m: np.linalg.qr(x.T @ y),
    "numbers": lambda x, y, n, m: (x[3, 1] * 2.0 + y.sum(), (x.mean() - y.mean()) / n.max()),
}


def _values(program: Program, rounds: int = 1) -> list[Any]:
    """What a program gives the last time."""
    ours = [fw.asarray(array) for array in arrays()]
    for _ in range(rounds):
        found = [np.array(value) for value in program(*ours)]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_interpreted_values_have_the_bits_of_compiled_ones(name: str) -> None:
    with np.errstate(all="ignore"):
        first, later = _values(PROGRAMS[name]), _values(PROGRAMS[name], 40)
        with fw.options(interpret=False):
            compiled = _values(PROGRAMS[name])
        theirs = [np.asarray(value) for value in PROGRAMS[name](*arrays())]
    for values in (first, later):
        for ours, want, plain in zip(values, compiled, theirs, strict=True):
            assert ours.dtype == want.dtype == plain.dtype
            assert ours.shape == want.shape == plain.shape
            assert ours.tobytes() == want.tobytes()


def _step(x: Any) -> Any:
    return fw.evaluate(x * 1.25 - abs(x))


def test_what_comes_again_is_compiled_beside_the_program_and_what_does_not_is_not() -> None:
    driver.cache_clear()
    x = fw.asarray(np.linspace(0, 1, 3000))
    want = np.array(_step(x))
    assert driver.cached() == 0
    for _ in range(12_000):
        _step(x)
    background.wait()
    _step(x)
    assert driver.cached() == 1
    assert np.array(_step(x)).tobytes() == want.tobytes()


def test_one_run_that_takes_longer_than_compiling_is_compiled_at_once() -> None:
    driver.cache_clear()
    x = y = fw.asarray(np.linspace(0, 1, 1 << 22))
    for _ in range(30):
        y = y * 1.25 - x
    fw.evaluate(y)
    assert driver.cached() == 1


def test_code_on_disk_is_used_long_before_compiling_would_pay(tmp_path: Path) -> None:
    x = fw.asarray(np.linspace(0, 1, 3001))
    with fw.options(cache_dir=str(tmp_path)):
        with fw.options(interpret=False):
            _step(x)
        driver.cache_clear()
        for _ in range(200):
            _step(x)
        assert driver.cached() == 1


def test_regions_are_written_in_place() -> None:
    x = fw.asarray(np.arange(1000.0))
    fw.evaluate(x)
    x[5:10] = x[15:20] * 2.0
    want = np.arange(1000.0)
    want[5:10] = want[15:20] * 2.0
    assert np.array(x).tobytes() == want.tobytes()


def test_who_listens_sees_kernels() -> None:
    x = fw.asarray(np.linspace(0, 1, 300))
    with listen() as profile:
        _step(x)
    assert len(profile.kernels) == 1


def test_a_value_computed_twice_is_kept() -> None:
    x = fw.asarray(np.linspace(0, 1, 300))
    y = x * 3.0
    for _ in range(2):
        fw.evaluate(y + 1.0)
    fw.evaluate(y - 1.0)
    assert not y._node.args


@pytest.mark.skipif(native is None, reason="the core runs operations one by one")
def test_a_value_is_computed_once_for_several_requests() -> None:
    x = fw.asarray(np.linspace(0, 1, 5000))
    value = x * 2 + 1
    assert int((value * value).astype("i8").max()) == 9
    before = native.allocations()
    assert np.asarray(value)[-1] == 3.0
    assert native.allocations() == before


def test_what_was_due_in_an_earlier_process_is_due_at_once(tmp_path: Path) -> None:
    """A program that always ends before its code is there would never get it."""
    with fw.options(cache_dir=str(tmp_path)):
        options, key = current(), ("a structure",)
        assert not is_due(key, options, due=0)
        assert not is_due(key, options, due=LATER)  # a third of what compiling costs: not yet
        assert is_due(key, options, due=0)  # what a later process asks first
        assert is_due(key, options, due=NOW)
        assert not is_due(("another",), options, due=0)


@pytest.mark.skipif(native is None, reason="the core runs operations one by one")
@pytest.mark.parametrize("size", [57, 5000])
def test_many_results_do_not_wait_for_a_compiler(size: int) -> None:
    """A flush of hundreds of values was compiled as one, in front of the program: 4 seconds."""
    x, before = fw.asarray(np.linspace(0, 1, size)), len(driver.runners)
    found = [x * k + k for k in range(300)]
    fw.evaluate(*found)
    assert len(driver.runners) == before
    for k, value in enumerate(found):
        np.testing.assert_array_equal(np.asarray(value), np.linspace(0, 1, size) * k + k)
