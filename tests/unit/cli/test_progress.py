"""A bar while something takes long: on a terminal only, after a while only."""

from __future__ import annotations

import io
import linecache
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.base import progress
from fusewright.cli import console, run
from fusewright.runtime.kept import Kept
from fusewright.targets.cpu import finishing
from fusewright.targets.cpu import loops as _loops


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "patience", "shown"),
    [(Terminal(), 0.0, True), (Terminal(), 60.0, False), (io.StringIO(), 0.0, False)],
    ids=["long", "short", "no terminal"],
)
def test_a_bar(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float, shown: bool
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "PATIENCE", patience)
    with console.progress("measuring", 2) as done:
        for _ in range(2):
            time.sleep(0.2)
            done()
    assert ("measuring" in stream.getvalue()) == shown


def generate_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kernel takes 50 ms more."""

    def slowly(kernel: Any, **code: Any) -> Any:
        time.sleep(0.05)
        return replace(kernel, **code)

    monkeypatch.setattr(finishing, "replace", slowly)


@pytest.mark.parametrize("beside", [False, True], ids=["waiting", "in a thread beside"])
def test_a_bar_while_many_kernels_compile(
    monkeypatch: pytest.MonkeyPatch, folder: Path, beside: bool
) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "show", progress.show)
    generate_slowly(monkeypatch)
    run.show_compiling()

    def compute() -> None:
        with fw.options(target="cpu", interpret=False, background=False):
            a = fw.asarray(np.arange(5000.0))
            a = a - 7 if beside else a * 7  # compiled once in a process
            b = a / a.sum()
            fw.evaluate((b / b.max()).sum())

    if beside:
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
    else:
        compute()
    assert ("compiling" in stream.getvalue()) is not beside


def loops(count: int) -> list[Any]:
    """Kernels that no other test compiles."""
    made = []
    for number in range(count):
        text = (
            f"def add{number}(a):\n    for i in range(a.shape[0]):\n        a[i] += {number}.75\n"
        )
        file = f"<progress {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        names: dict[str, Any] = {}
        exec(compile(text, file, "exec"), names)
        made.append(fw.kernel(names[f"add{number}"]))
    return made


@pytest.mark.parametrize(("patience", "shown"), [(0.12, True), (60.0, False)])
def test_a_bar_while_kernels_of_loops_compile_one_by_one(
    monkeypatch: pytest.MonkeyPatch, folder: Path, patience: float, shown: bool
) -> None:
    """None of them takes as long as one has patience for; all together do."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "PATIENCE", patience)
    monkeypatch.setattr(console, "waited", {})
    monkeypatch.setattr(progress, "show", progress.show)
    made = _loops.made_now

    def slowly(*given: Any) -> Any:
        time.sleep(0.05)
        return made(*given)

    monkeypatch.setattr(_loops, "made_now", slowly)
    monkeypatch.setattr(_loops, "kept_codes", Kept())
    run.show_compiling()
    a = np.zeros(8)
    with fw.options(target="cpu", cache_dir=str(folder / "cache")):
        for kernel in loops(5):
            kernel(a)
    assert a[0] == sum(range(5)) + 5 * 0.75
    assert ("compiling" in stream.getvalue()) is shown
    assert console.waited["compiling"].done == 5


def test_waits_long_after_each_other_are_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setattr(console, "waited", {})
    monkeypatch.setattr(console, "GAP", 0.0)
    for _ in range(3):
        with console.progress("compiling", 1) as done:
            done()
        time.sleep(0.01)
    assert console.waited["compiling"].done == 1


def test_nothing_is_shown_unless_the_command_line_says_so() -> None:
    with progress.show("compiling", 3) as done:
        done()
    assert progress.show is progress.unseen
