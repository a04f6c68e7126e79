"""Without the packages of the extra `cli`: programs run, and the rest says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fusewright.cli.parsing import EXTRA

BLOCKED = """
import sys
from importlib.machinery import PathFinder

found = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {names!r} else found(name, path, target)

PathFinder.find_spec = find_spec
for name in {names!r}:
    assert name not in sys.modules
"""
MAIN = "from fusewright.cli.main import main\nraise SystemExit(main(sys.argv[1:]))\n"
PROGRAM = "import numpy as np\nx = np.arange(1e5)\nprint(float(np.sqrt(x * x + 1).sum()))\n"


def without(code: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A process in which the packages are not installed."""
    text = BLOCKED.format(names=(*EXTRA, "markupsafe", "markdown_it")) + code
    command = [sys.executable, "-c", text, *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "p.py"],
        ["cache", "warm", "p.py"],
        ["info"],
        ["doctor"],
        ["cache"],
        ["help", "FW101"],
    ],
)
def test_what_works_without(folder: Path, words: list[str]) -> None:
    (folder / "p.py").write_text(PROGRAM)
    done = without(MAIN, *words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize(
    "words",
    [
        ["explain", "p.py"],
        ["run", "--explain", "p.py"],
        ["run", "--compare", "p.py"],
        ["run", "--report", "r.html", "p.py"],
        ["demo"],
        ["bench"],
    ],
)
def test_what_to_install_is_said_before_anything_runs(folder: Path, words: list[str]) -> None:
    (folder / "p.py").write_text("print('ran')")
    done = without(MAIN, *words, cwd=folder)
    assert done.returncode == 2
    assert "pip install 'fusewright[cli]'" in done.stderr
    assert "ran" not in done.stdout
    assert "Traceback" not in done.stderr


def test_explanations_in_python_are_text(folder: Path) -> None:
    code = (
        "import fusewright as fw, fusewright.numpy as np\n"
        "print(fw.explain(np.sqrt(np.arange(1e5)).sum()))\n"
        "print(fw.show(np.exp(np.arange(1e5))))\n"
    )
    done = without(code, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 kernel" in done.stdout
