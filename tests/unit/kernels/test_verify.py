"""`fw.options(verify=True)`: what was fused runs a second time unfused, and the bits are compared;
a wrong proof, planted here, is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import small_work_on_threads

import fusewright as fw
import fusewright.numpy as ours
from fusewright import driver
from fusewright.base.errors import InternalError
from fusewright.frontends.arrays import trace
from fusewright.plan import lags
from fusewright.plan.loops.fuse import fusing as loops
from fusewright.targets.cpu import loops as compiled

N = 5000


@pytest.fixture(autouse=True)
def no_code_from_before(tmp_path: Path) -> Iterator[None]:
    """Wrong code is neither found nor left behind."""
    compiled.kept_codes.clear()
    driver.cache_clear()
    with fw.options(cache_dir=str(tmp_path), interpret=False, background=False):
        yield
    trace.pending.clear()  # values that cannot be computed
    compiled.kept_codes.clear()
    driver.cache_clear()


def smooth(a: Any, b: Any, c: Any) -> None:
    """A kernel that is array statements."""
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    for i in range(1, a.shape[0] - 1):
        c[i] = b[i - 1] + b[i + 1]


def running(a: Any, b: Any, c: Any) -> None:
    """A kernel that is not: a value goes from one iteration to the next."""
    s = 0.0
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    for i in range(1, a.shape[0] - 1):
        c[i] = b[i - 1] + b[i + 1]
    for i in range(a.shape[0]):
        s += c[i]
        a[i] = s


def data() -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=N) for _ in range(3)]


def wanted(function: Any, times: int) -> list[Any]:
    own = data()
    for _ in range(times):
        function(*own)
    return own


@pytest.mark.parametrize("function", [smooth, running])
@pytest.mark.parametrize("times", [1, 3])
def test_right_programs_pass(function: Any, times: int) -> None:
    kernel, lazy = fw.kernel(function), [fw.asarray(x) for x in data()]
    with fw.options(verify=True), small_work_on_threads():
        for _ in range(times):
            kernel(*lazy)
        found = [np.asarray(x) for x in lazy]
    assert kernel.stats.raised == (times if function is smooth else 0)
    for x, y in zip(found, wanted(function, times), strict=True):
        assert x.tobytes() == y.tobytes()


def too_much(verdict: Any) -> Any:
    """All that two loops have in common is said to be met in one iteration."""
    return replace(verdict, level="same", fused=verdict.matched, complete=True)


def test_a_wrong_proof_of_loops_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = loops.compare
    monkeypatch.setattr(loops, "compare", lambda a, b, facts: too_much(right(a, b, facts)))
    with fw.options(verify=True), pytest.raises(InternalError, match="loops differ in b2 of ker"):
        fw.kernel(smooth)(*data())


@pytest.mark.parametrize("calls", [1, 2])
def test_a_wrong_proof_in_pending_calls_is_found(
    calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = loops.compare
    monkeypatch.setattr(loops, "compare", lambda a, b, facts: too_much(right(a, b, facts)))
    kernel, lazy = fw.kernel(running), [fw.asarray(x) for x in data()]
    with fw.options(verify=True):
        for _ in range(calls):
            kernel(*lazy)
        assert kernel.stats.deferred == calls
        with pytest.raises(InternalError, match="loops differ"):
            np.asarray(lazy[0])


def test_a_wrong_proof_of_array_statements_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's loops are statements; the planner of arrays is told that every read is at the
    reader's own index.
    """
    monkeypatch.setattr(lags, "distances", lambda stage, slot, dim: {0})
    kernel = fw.kernel(rows)
    a, b, c = (fw.asarray(np.full((count, 300), 1.5)) for count in (301, 301, 300))
    with fw.options(verify=True):
        kernel(a, b, c)
        assert kernel.stats.raised == 1
        with pytest.raises(InternalError, match="array statements differ"):
            fw.evaluate(b, c)


def rows(a: Any, b: Any, c: Any) -> None:
    """Both loops are whole arrays; the second reads what the first has computed a row later."""
    for i, j in fw.ndrange(a.shape[0], a.shape[1]):
        b[i, j] = np.exp(a[i, j] + i * 0.01)
    for i, j in fw.ndrange(c.shape[0], c.shape[1]):
        c[i, j] = b[i + 1, j] * 2.0 + b[i, j]


def test_library_steps_run_once() -> None:
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(40, 40))
    with fw.options(verify=True):
        a = fw.asarray(matrix)
        b = ours.linalg.solve(a * 2.0 + 1.0, a + 3.0) + 1.0
        found = np.asarray(ours.sort(b, axis=0) * 2.0)
    right = np.sort(np.linalg.solve(matrix * 2.0 + 1.0, matrix + 3.0) + 1.0, axis=0) * 2.0
    np.testing.assert_allclose(found, right, rtol=1e-9)
