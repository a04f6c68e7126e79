"""Variables of the environment that are wrong: one line, by every command."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fusewright.base.errors import FusewrightWarning, OptionError
from fusewright.base.options import from_environment, problems

COMMANDS = (["info"], ["demo"], ["cache"], ["bench"], ["run", "p.py"], ["explain", "p.py"])
WRONG = {
    "FUSEWRIGHT_THREADS=two": "cannot be 'two': use None or 1 to 256",
    "FUSEWRIGHT_THREDS=1": "did you mean FUSEWRIGHT_THREADS?",
    "FUSEWRIGHT_NONSENSE=1": "there are FUSEWRIGHT_FUSE, ",
}


def called(folder: Path, setting: str, *words: str) -> subprocess.CompletedProcess[str]:
    name, _, value = setting.partition("=")
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env={**os.environ, name: value},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("setting", WRONG)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_says_it_in_one_line(tmp_path: Path, setting: str, words: list[str]) -> None:
    (tmp_path / "p.py").write_text("print('ran')")
    done = called(tmp_path, setting, "-m", "fusewright", *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("fusewright: ") and WRONG[setting] in line and line.endswith("[FW116]")


@pytest.mark.parametrize("setting", WRONG)
@pytest.mark.parametrize("words", (["help"], ["help", "options"], ["--version"]), ids=" ".join)
def test_help_says_it_in_one_line_and_answers(
    tmp_path: Path, setting: str, words: list[str]
) -> None:
    done = called(tmp_path, setting, "-m", "fusewright", *words)
    assert done.returncode == 0 and done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("fusewright: ") and WRONG[setting] in line and line.endswith("[FW116]")


@pytest.mark.parametrize("setting", WRONG)
def test_the_doctor_finds_it_and_checks_the_rest(tmp_path: Path, setting: str) -> None:
    done = called(tmp_path, setting, "-m", "fusewright", "doctor")
    assert done.returncode == 1
    assert done.stdout.startswith("FAIL settings") and WRONG[setting] in done.stdout
    assert "OK   kernel" in done.stdout


def test_a_program_gets_an_error_or_a_warning(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("import fusewright.numpy\n")
    wrong, unknown, _ = WRONG
    done = called(tmp_path, wrong, "p.py")
    assert done.returncode == 1 and done.stderr.count("Traceback") == 1
    assert done.stderr.count("  File ") == 1
    done = called(tmp_path, unknown, "p.py")
    assert done.returncode == 0 and "FusewrightWarning: there is no variable" in done.stderr


def test_what_is_wrong_with_an_environment() -> None:
    both = {
        "FUSEWRIGHT_THREADS": "0",
        "FUSEWRIGHT_fuse": "1",
        "HOME": "/",
        "FUSEWRIGHT_NATIVE": "0",
    }
    assert [problem.name for problem in problems(both)] == ["FUSEWRIGHT_THREADS", "FUSEWRIGHT_fuse"]
    with pytest.warns(FusewrightWarning, match="FUSEWRIGHT_FUSE"):
        assert from_environment({"FUSEWRIGHT_FUSES": "0"}).fuse
    with pytest.raises(OptionError) as caught:
        from_environment(both)
    again = pickle.loads(pickle.dumps(caught.value))  # it may come from another process
    assert (str(again), again.name) == (str(caught.value), "FUSEWRIGHT_THREADS")


@pytest.mark.parametrize("named", ["/dev/null/x", "/proc/x", "a file/x"])
def test_a_folder_that_cannot_be_made(tmp_path: Path, named: str) -> None:
    """The doctor fails without a warning beside it; what would keep code there refuses to."""
    (tmp_path / "a file").touch()
    (tmp_path / "p.py").write_text("import numpy as np\nprint(np.ones(10_000).sum())")
    setting = f"FUSEWRIGHT_CACHE_DIR={named}"
    doctor = called(tmp_path, setting, "-m", "fusewright", "doctor")
    assert doctor.returncode == 1 and not doctor.stderr
    assert re.search(rf"^FAIL cache +\S*{named}: [\w ]+$", doctor.stdout, re.MULTILINE)
    warm = called(tmp_path, setting, "-m", "fusewright", "cache", "warm", "p.py")
    assert warm.returncode == 1 and "compiled code cannot be kept in " in warm.stderr
    program = called(tmp_path, setting, "-m", "fusewright", "run", "p.py")
    assert program.stdout == "10000.0\n" and len(program.stderr.splitlines()) == 1
