"""A bar while something takes long: on a terminal only, after a while only."""

from __future__ import annotations

import io
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.base import progress
from fusewright.cli import console, run
from fusewright.targets.cpu import build


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
    finished = build._finished

    def slowly(kernel: Any, done: Any) -> Any:
        time.sleep(0.05)
        return finished(kernel, done)

    monkeypatch.setattr(build, "_finished", slowly)


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
    run._show_compiling()

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


def test_nothing_is_shown_unless_the_command_line_says_so() -> None:
    with progress.show("compiling", 3) as done:
        done()
    assert progress.show is progress._unseen
