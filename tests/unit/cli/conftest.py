"""A place for small programs, and a process that is as before after they have run in it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fusewright.base import options
from fusewright.cli.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder while the test runs; what running a program changes is put back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FUSEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "argv", ["fusewright"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    before = options.defaults()
    monkeypatch.setattr(options, "process_options", None)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(importlib, "import_module", importlib.import_module)
    modules = set(sys.modules)
    yield tmp_path
    if options.process_options is None:
        options.set_process_options(before)
    options.set_defaults(**{name: getattr(before, name) for name in options.TABLE})
    for name in set(sys.modules) - modules:
        found = getattr(sys.modules[name], "__file__", None) or ""
        if found.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def run(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`run("--explain", "p.py")`: the exit code, standard output and standard error."""

    def call(*words: str, command: str = "run") -> tuple[int, str, str]:
        code = main([command, *words])
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return code, out, err

    return call


def fresh(*words: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The same in a process of its own; the first word may be any program of Python's."""
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120
    )
