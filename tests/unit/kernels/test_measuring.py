"""Where fused and apart are predicted to be close, calls are timed, and the faster form is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import remembered

import fusewright as fw
from fusewright.base.words import seconds
from fusewright.kernels import measuring
from fusewright.targets.cpu import loops


def close(a: Any, b: Any, c: Any, d: Any) -> None:
    """Two loops that share nothing: fusing saves a launch."""
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    for i in range(a.shape[0]):
        d[i] = c[i] + 1.0


def clear(a: Any, b: Any, c: Any, d: Any) -> None:
    """Loops that hand on all they compute."""
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    for i in range(a.shape[0]):
        c[i] = b[i] + a[i]
    for i in range(a.shape[0]):
        d[i] = c[i] * b[i]


SIZE = 1 << 16
CALLS = 2 * measuring.ROUNDS * measuring.CALLS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path) -> Iterator[None]:
    """What other runs have measured is not known."""
    loops.kept_codes.clear()
    with fw.options(cache_dir=str(tmp_path)):
        yield


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """A clock that says how long each form takes, whatever it took."""
    seconds = {"fused": 1.0, "apart": 1.0}
    now = [0.0]
    run = loops.CompiledLoops.run

    def timed(self: Any, *given: Any) -> None:
        run(self, *given)
        now[0] += seconds["fused" if self.settings.fuse else "apart"]

    monkeypatch.setattr(loops.CompiledLoops, "run", timed)
    monkeypatch.setattr(measuring, "perf_counter", lambda: now[0])
    return seconds


def arrays(size: int = SIZE) -> list[Any]:
    return [np.random.default_rng(k).normal(size=size) for k in range(4)]


def called(kernel: Any, count: int, size: int = SIZE) -> None:
    """Call a kernel, and look at what every call gives."""
    for _ in range(count):
        own, wanted = arrays(size), arrays(size)
        kernel(*own)
        wanted[1][:] = wanted[0] * 2.0
        wanted[3][:] = wanted[2] + 1.0
        assert all(x.tobytes() == y.tobytes() for x, y in zip(own, wanted, strict=True))


@pytest.mark.parametrize("faster", ["fused", "apart"])
def test_the_faster_form_is_kept_and_remembered(faster: str, slow: dict[str, float]) -> None:
    slow[faster] = 0.5
    kernel = fw.kernel(close)
    called(kernel, CALLS - 1)
    assert not remembered(kernel)
    assert "being measured for arrays of 2 MiB" in str(kernel.explain())
    called(kernel, 2)
    ((_, code),) = remembered(kernel)
    assert code.settings.fuse == (faster == "fused")
    fused, apart = (0.5, 1.0) if faster == "fused" else (1.0, 0.5)
    text = f"fused {seconds(fused)}, apart {seconds(apart)}: runs {faster}"
    assert text in str(kernel.explain())
    again = fw.kernel(close)  # another process would find the same on disk
    called(again, 1)
    assert text in str(again.explain())
    assert remembered(again)


def test_each_class_of_sizes_is_measured_apart(slow: dict[str, float]) -> None:
    kernel = fw.kernel(close)
    slow["apart"] = 0.5
    called(kernel, CALLS)
    slow["apart"] = 2.0
    called(kernel, CALLS, SIZE // 4)
    measured = dict(kernel.explain().codes[0].measured)
    assert measured == {1 << 21: (1.0, 0.5), 1 << 19: (1.0, 2.0)}


@pytest.mark.parametrize(
    ("function", "size", "chosen"),
    [(clear, SIZE, {}), (close, 100, {}), (close, SIZE, {"measure": False}),
     (close, SIZE, {"fuse": False}), (close, SIZE, {"reassociate": True})],
)  # fmt: skip
def test_what_is_not_measured(function: Any, size: int, chosen: dict[str, Any]) -> None:
    kernel = fw.kernel(function)
    with fw.options(**chosen):
        kernel(*arrays(size))
    assert remembered(kernel)
    assert not kernel.explain().codes[0].measured


def test_a_kernel_that_is_told_to_fuse_does() -> None:
    kernel = fw.kernel(close, fuse=True)
    kernel(*arrays())
    assert remembered(kernel)
    assert kernel.stats.fused == 1


def test_pending_calls_are_measured_too(slow: dict[str, float]) -> None:
    def running(a: Any, b: Any, c: Any, d: Any) -> None:
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * 0.5
        for i in range(1, a.shape[0]):
            d[i] = d[i - 1] + c[i]

    slow["apart"] = 0.5
    kernel = fw.kernel(running)
    own = arrays()
    lazy = [fw.asarray(x) for x in own]
    for _ in range(CALLS):
        kernel(*lazy)
        fw.evaluate(*lazy)
        running(*own)
    assert all(np.asarray(x).tobytes() == y.tobytes() for x, y in zip(lazy, own, strict=True))
    assert dict(kernel.explain().codes[0].measured) == {1 << 21: (1.0, 0.5)}
