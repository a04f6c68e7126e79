"""What `explain` prints first: where the time went, the dearest steps, what to try."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.cli import overview
from fusewright.cli.explain import SCREEN
from fusewright.cli.summary import Summary, summarise
from fusewright.plan.loops.plan import OF_FLOATS
from fusewright.runtime.explanation import Explanation
from fusewright.runtime.listening import COMPILES_LESS
from fusewright.runtime.profile import (
    Decision,
    Flush,
    KernelRecord,
    OpaqueRecord,
    Operation,
    Profile,
    listen,
)

Run = Callable[..., tuple[int, str, str]]
PLAIN = "a library step"
LONG = """
import numpy as np
x = np.linspace(0, 1, 200_000)
for k in range(30):
    y = np.sin(x * k) + np.cos(x) ** 2 - k
    z = np.where(y > 0, y, -y) * np.exp(-x)
    print(float(z.sum()), float(np.fft.rfft(y).real.max()), float(np.sort(z)[3]))
a = np.outer(x[:600], x[:600])
b = a - a.mean(axis=0)
c = (b * b).sum(axis=1) / (1 + np.abs(a).max(axis=0))
d = np.cumsum(c) @ c
print(float(d), float(np.median(x)), float(np.percentile(c, 30)))
"""


RECORDS = """
import numpy as np
a = b = np.ones(2_000)
for k in range(1_500):
    a = np.minimum(a + b * 0.5, 3.0) - b[::1]
print(a.sum())
"""
COUNTS = """
import numpy as np
print(np.ones(20_000).sum(), sum(k % 7 for k in range(2_000_000)))
"""
SORTS = """
import numpy as np
x = np.linspace(0, 1, 3_000_000)
for k in range(3):
    x = np.sort(1.0 - x)
print(x[3])
"""


def kernel(seconds: float, compiled: float = 0.0, moved: int = 10) -> KernelRecord:
    place = ("p.py", 3, 4, 3, 9)
    return KernelRecord(
        name="k", start=0.0, seconds=seconds, threads=1, bytes_read=moved, bytes_written=0,
        bytes_unfused=moved, operations=(Operation("add", "float64", (3,), "memory", place, ""),),
        decisions=(), origin="compiled", compile_seconds=compiled, llvm="",
    )  # fmt: skip


def summary(flush_seconds: float, *steps: KernelRecord | OpaqueRecord) -> Summary:
    return summarise(Profile([Flush("float()", None, 0.0, flush_seconds, list(steps))]))


@pytest.mark.parametrize("whole", [0.0, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("flush", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("steps", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("recording", [None, 0.2, 9.0])
def test_the_parts_add_up(
    whole: float, flush: float, steps: float, recording: float | None
) -> None:
    library = OpaqueRecord("sort", "numpy", 0.0, steps / 2, "it sorts", None)
    found = replace(summary(flush, kernel(steps), library), recording=recording, telling=steps / 10)
    parts = overview.shares_of(found, whole)
    assert sum(part.seconds for part in parts) == pytest.approx(whole)
    assert all(part.seconds >= 0 for part in parts)


def shares(text: str) -> dict[str, int]:
    found = re.findall(r"^ +(\d+)% (.*), [\d.]+ [mu]?s$", text, re.MULTILINE)
    return {name: int(share) for share, name in found}


@pytest.mark.skipif(native is None, reason="the native core counts what recording takes")
@pytest.mark.parametrize(
    ("program", "most", "least"),
    [
        (RECORDS, "recording operations", overview.OWN),
        (COUNTS, overview.OWN, "recording operations"),
        (SORTS, "library steps", "recording operations"),
    ],
)
def test_recording_is_told_apart(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, most: str, least: str
) -> None:
    """Of what is not compiling and planning, which a busy machine makes long, most is named.

    The shares are of wall time, so a machine that is busy for one run is given four more.
    """
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text(program)
    run("--explain", "p.py")
    tried = []
    for _ in range(5):
        code, _, err = run("--explain", "p.py")
        assert code == 0
        found = shares(err)
        assert 97 <= sum(found.values()) <= 103
        if found[most] > 4 * found[least]:
            return
        tried.append(found)
    pytest.fail(f"{most} is not told apart from {least}: {tried}")


@pytest.mark.skipif(native is None, reason="the native core counts what recording takes")
def test_what_a_call_of_ours_waits_for_is_no_recording() -> None:
    """`float()` waits for a kernel, `np.sort` for NumPy: neither is counted twice."""
    x = fw.asarray(np.linspace(0.0, 1.0, 2_000_000))
    with listen() as profile:
        began = perf_counter()
        float((np.sin(x) * np.cos(x)).sum())
        float(fnp.sort(x * 2.0)[3])
        whole = perf_counter() - began
    steps = sum(flush.seconds for flush in profile.flushes)
    assert profile.recording is not None and len(profile.flushes) >= 2
    assert 0.0 < profile.recording <= whole - steps
    with listen() as nothing:
        sum(range(10_000))
    assert nothing.recording == 0.0


@pytest.mark.parametrize(
    ("found", "whole", "wanted"),
    [
        (summary(0.9, kernel(0.1, 0.7)), 1.0, "run it again"),
        (summary(0.1, kernel(0.1)), 1.0, "@fw.kernel"),
        (summary(0.9, kernel(0.9)), 1.0, "little was fused"),
        (summary(1.0, OpaqueRecord("sort", "numpy", 0.0, 0.9, "it sorts", None)), 1.0, "it sorts"),
        (summary(1.0, OpaqueRecord("sort", "numpy", 0.0, 0.9, PLAIN, None)), 1.0, "less often"),
    ],
)
def test_advice_follows_from_the_figures(found: Summary, whole: float, wanted: str) -> None:
    lines = list(overview.lines_of(found, whole))
    advice = lines[lines.index("what to try:") + 1 :]
    assert len(advice) <= overview.MOST_ADVICE
    assert any(wanted in line for line in advice)


def test_a_program_that_is_fine_gets_no_advice() -> None:
    found = summary(0.5, kernel(0.2))
    assert "what to try:" not in list(overview.lines_of(found, 1.0))


def test_one_screen(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text(LONG)
    code, _, err = run("--explain", "p.py")
    assert code == 0
    lines = err.splitlines()
    assert len(lines) <= SCREEN
    assert lines[0].startswith("where the time went, of ")
    found = shares(err)
    assert len(found) == 8 and 97 <= sum(found.values()) <= 103
    assert re.search(r"^  [KL]\d+ (kernel|library step) .* at p.py:\d+", err, re.MULTILINE)
    assert re.fullmatch(r"--full prints what (each of the \d+|the) kernels? ran, .*", lines[-1])


def test_all_of_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text(LONG)
    _, _, err = run("--full", "p.py")
    assert len(err.splitlines()) > 2 * SCREEN
    assert "flush 1:" in err and "lives in" in err and "--full" not in err


def test_advice_is_about_what_takes_time() -> None:
    """A fusion that was declined is worth advice where its kernels take a part of the time."""
    line = ("p.py", 3, 1, 9)
    why = "their first dims are not known to have the same extent"
    step = KernelRecord(
        "k_1", 0.0, 0.02, 1, 8, 8, 16, (Operation("add", "float64", (9,), "memory", line),),
        (Decision(False, "add and sum", why, line),), "memory", 0.0, "", "",
    )  # fmt: skip
    summary = summarise(Profile([Flush("print", line, 0.0, 0.03, [step])], recording=0.0))
    for whole, told in ((0.1, True), (10.0, False)):
        assert ("FW403" in "".join(overview.lines_of(summary, whole))) == told


def test_sums_of_floats_in_order() -> None:
    line = ("p.py", 8, 4, 9)
    loop = Operation("for i in range(n)", "", (), "in order", line, f"it reduces `s`: {OF_FLOATS}")
    step = replace(kernel(0.8), kind="loops", operations=(loop,))
    advice = overview.advice_of(summary(0.8, step), 1.0)
    assert any("the loop at p.py:8 takes its floats in order" in each for each in advice)
    assert not any(
        "takes its floats" in each for each in overview.advice_of(summary(0.8, step), 9.0)
    )


@pytest.mark.parametrize("origin", ["compiled", "disk", "memory"])
@pytest.mark.parametrize("kind", ["arrays", "loops"])
@pytest.mark.parametrize("interpret", [True, False])
def test_it_says_where_another_run_compiles_less(
    origin: Literal["compiled", "disk", "memory"],
    kind: Literal["arrays", "loops"],
    interpret: bool,
) -> None:
    """Who listens has new work of arrays compiled at once; code on disk, kernels of loops, and
    what `interpret=False` compiles anyway are the same in every run.
    """
    step = replace(kernel(0.1, 0.2), origin=origin, kind=kind)
    found = summary(0.3, step)
    explained = Explanation((Flush("float()", None, 0.0, 0.3, [step]),), True)
    less = origin == "compiled" and kind == "arrays" and interpret
    with fw.options(interpret=interpret):
        first = "\n".join(overview.lines_of(found, 1.0))
        assert (COMPILES_LESS in first) is less
        assert (COMPILES_LESS in str(explained)) is less
        assert COMPILES_LESS not in str(replace(explained, ran=False))


@pytest.mark.skipif(native is None, reason="the native core counts what recording takes")
@pytest.mark.parametrize(
    ("program", "recorded"),
    [("x = np.ones(10_000) * 2", True), ("x = np.ones(10) * 2", False), ("", False)],
)
def test_a_program_that_asks_for_nothing_hears_why(
    run: Run, tmp_path: Path, program: str, recorded: bool
) -> None:
    (tmp_path / "p.py").write_text(f"import numpy as np\n{program}\n")
    with fw.options(small=512):
        _, _, err = run("--explain", str(tmp_path / "p.py"))
    said = " ".join(err.split())
    assert "Nothing was evaluated" in said
    assert (overview.STILL_PENDING in said) is recorded
