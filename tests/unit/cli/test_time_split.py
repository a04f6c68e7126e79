"""What happens once in a process (modules are loaded, kernels translated) is told apart, and all
parts of a program's time add up, whether its code is compiled or comes from the disk.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from time import perf_counter

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.cli import overview
from fusewright.cli.summary import summarise
from fusewright.runtime import once
from fusewright.runtime.profile import Flush, Profile, listen
from fusewright.targets.cpu import portions

RECORDED = None if native is None else 0.0
NAMES = [each.name for each in overview.shares_of(summarise(Profile(recording=RECORDED)), 1.0)]
SLOW = "import time\ntime.sleep(0.02)\n"
PROGRAM = """
import numpy as np
x = np.linspace(0.0, 1.0, 300_000)
for k in range(3):
    x = np.sqrt(x * x + k) - np.sin(x)
    print(float(x.mean()), float(np.sort(x)[3]))
"""


@pytest.mark.parametrize("seed", range(30))
def test_the_parts_add_up(seed: int) -> None:
    chance = Random(seed)
    inside = chance.random()
    found = replace(
        summarise(Profile([Flush("float()", None, 0.0, chance.random())])),
        recording=chance.random(), telling=chance.random(), loading=inside + chance.random(),
        loading_inside=inside, translating=chance.random(),
    )  # fmt: skip
    for whole in (0.0, chance.random(), 10.0):
        parts = overview.shares_of(found, whole)
        assert sum(part.seconds for part in parts) == pytest.approx(whole)
        assert all(part.seconds >= 0.0 for part in parts)


def test_modules_that_load_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each second of loading is counted once, only while somebody listens, and no trace is left."""
    monkeypatch.setattr(once, "LOADED", frozenset({"slow_outside", "slow_inside"}))
    (tmp_path / "slow_outside.py").write_text(f"import slow_inside\n{SLOW}")
    (tmp_path / "slow_inside.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    before = list(sys.meta_path)
    with listen() as profile:
        began = perf_counter()
        module = importlib.import_module("slow_outside")
        whole, rest = perf_counter() - began, once.elapsed(began)
    loading = [each.seconds for each in profile.once if each.what == "loading"]
    assert len(loading) == 2 and min(loading) >= 0.02
    assert sum(loading) <= whole
    assert rest <= whole - sum(loading) + 1e-3
    assert sys.meta_path == before
    assert "exec_module" not in vars(module.__loader__)
    importlib.reload(module)
    assert len(profile.once) == 2


def test_what_is_loaded_for_those_who_listen_is_no_loading() -> None:
    with listen() as profile, once.noted("telling"), once.noted("loading"):
        pass
    assert [each.what for each in profile.once] == ["telling", "telling"]


@pytest.mark.skipif(native is None, reason="the native core counts what recording takes")
def test_loading_is_no_recording() -> None:
    def records() -> None:
        with once.noted("loading"):
            time.sleep(0.02)

    with listen() as profile:
        began = perf_counter()
        native.as_recording(records, (), {})
        whole = perf_counter() - began
    (loading,) = profile.once
    assert profile.recording is not None
    assert 0.0 <= profile.recording <= whole - loading.seconds


@pytest.mark.skipif(native is None, reason="the native core counts what recording takes")
def test_a_kernels_first_call() -> None:
    """It is translated once; translation is neither recording nor a part of the evaluation."""

    @fw.kernel
    def scaled(a):
        for i in range(a.shape[0]):
            a[i] = a[i] * 1.5 + 0.25

    with listen() as profile:
        began = perf_counter()
        scaled(np.ones(1000))
        scaled(np.ones(1000))
        whole = perf_counter() - began
    (translating,) = (each for each in profile.once if each.what == "translating")
    first, second = profile.flushes
    assert translating.start + translating.seconds <= first.start
    assert profile.recording is not None
    assert profile.recording + translating.seconds + first.seconds + second.seconds <= whole


@pytest.mark.skipif(native is None, reason="the native core counts what recording takes")
def test_planning_what_is_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that would hold too much is planned in vain first: that is planning, also where an
    operation that is recorded asks for the values; it was recording, and advice followed from it.
    """
    answers = [True]

    def is_hungry(*_: object) -> bool:
        time.sleep(0.02)
        return bool(answers) and answers.pop()

    monkeypatch.setattr(portions, "is_hungry", is_hungry)
    with listen() as profile:
        began = perf_counter()
        x = fnp.linspace(0.0, 1.0, 70_001)
        native.as_recording(fw.evaluate, ([x * k + fnp.cumsum(x - k) for k in range(5)],), {})
        whole = perf_counter() - began
    (planning,) = (each for each in profile.once if each.what == "planning")
    assert planning.seconds >= 0.02 and len(profile.flushes) == 2
    shares = {part.name: part.seconds for part in overview.shares_of(summarise(profile), whole)}
    assert shares["planning and starting kernels"] >= planning.seconds
    assert profile.recording is not None
    assert profile.recording + planning.seconds + sum(f.seconds for f in profile.flushes) <= whole


def test_a_cold_and_a_warm_run(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    settings = {**os.environ, "FUSEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}
    for origin in ("compiled", "disk"):
        done = subprocess.run(
            [sys.executable, "-m", "fusewright", "explain", "--full", "p.py"],
            capture_output=True, text=True, cwd=tmp_path, env=settings, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = re.findall(r"^ +(\d+)% (.*), [\d.]+ (?:[mu]?s)$", done.stdout, re.MULTILINE)
        assert [name for _, name in found] == NAMES
        assert 96 <= sum(int(share) for share, _ in found) <= 104
        assert f"code from: {origin}" in done.stdout
