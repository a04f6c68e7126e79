"""A bar while something takes long: on a terminal only, after a while only."""

from __future__ import annotations

import io
import time

import pytest

from fusewright.cli import console


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
