"""Whole programs give NumPy's results under `fusewright run`, fused and not."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fusewright.base import options
from fusewright.cli.main import main

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(
    path for path in HERE.iterdir()
    if (path.suffix == ".py" and not path.name.startswith(("test_", "conftest")))
    or (path / "__main__.py").exists()
)  # fmt: skip


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What running a program changes in this process is put back."""
    monkeypatch.setenv("FUSEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "argv", ["fusewright"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(options, "_process", None)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(importlib, "import_module", importlib.import_module)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(HERE)):
            del sys.modules[name]


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 9


@pytest.mark.parametrize("option", ["--fuse", "--no-fuse", "--threads=1"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program(program: Path, option: str, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "--compare", option, str(program)])
    sys.stdout.flush()
    out, err = capfd.readouterr()
    assert code == 0, err
    assert "All results agree." in err
    assert out
    assert re.search(r"NumPy [\d.]+ \w+, Fusewright", err)
