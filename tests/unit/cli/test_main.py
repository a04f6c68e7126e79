"""The command line: usage errors are one clear message and exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli.conftest import fresh

from fusewright.cli.main import main

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "usage"),
        (["fly"], "there is no command 'fly'"),
        (["run"], "which program?"),
        (["run", "missing.py"], "there is no file missing.py"),
        (["run", "--strict=some", "p.py"], "there is no --strict=some: use --strict or"),
        (["run", "-m", "missing_module"], "no module named missing_module"),
        (["run", "--fast", "p.py"], "--fast"),
        (["run", "--expl", "p.py"], "--expl"),
        (["run", "--threads", "0", "p.py"], "not a positive whole number"),
        (["run", "--threads", "9999", "p.py"], "threads"),
        (["run", "--rtol", "-1", "--compare", "p.py"], "not a number from 0 to 1"),
        (["run", "--rtol", "0.1", "p.py"], "belong to --compare"),
        (["run", "--results", "a b", "--compare", "p.py"], "not a list of names"),
        (["run", "--plain", "--compare", "p.py"], "nothing to compare"),
        (["run", "--report", ".", "p.py"], "is a folder"),
        (["run", "--report", "no/such/folder/r.html", "p.py"], "cannot be written"),
        (["cache", "burn"], "invalid choice"),
        (["bench", "--size", "x"], "not a positive whole number"),
    ],
)
def test_usage_errors(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    (folder / "p.py").write_text("print('ran')")
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert said in out + err
    assert "ran" not in out
    assert "Traceback" not in err


def test_a_bad_setting_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    (folder / "p.py").write_text("print('ran')")
    monkeypatch.setenv("FUSEWRIGHT_THREADS", "many")
    code, out, err = run("p.py")
    assert (code, out) == (2, "")
    assert "FUSEWRIGHT_THREADS" in err


def test_the_programs_options_are_its_own(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text("import sys; print(sys.argv[1:])  # --compare")
    code, out, err = run("--no-fuse", "--threads=1", "p.py", "--compare", "--", "-m", "x")
    assert (code, out, err) == (0, "['--compare', '--', '-m', 'x']\n", "")


def test_settings_reach_the_program(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text(
        "from fusewright.base.options import current as c\n"
        "print(c().fuse, c().threads, c().strict)\n"
        "import threading\n"
        "t = threading.Thread(target=lambda: print(c().threads))\n"
        "t.start(); t.join()\n"
    )
    assert run("--no-fuse", "--threads", "1", "--strict", "p.py")[1] == "False 1 True\n1\n"
    assert run("--threads", "1", "--strict=all", "p.py")[1] == "False 1 all\n1\n"
    assert run("--threads", "1", "--no-strict", "p.py")[1] == "False 1 False\n1\n"


def test_the_environment_stays_the_default(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSEWRIGHT_THREADS", "2")
    monkeypatch.setenv("FUSEWRIGHT_STRICT", "1")
    monkeypatch.setenv("FUSEWRIGHT_FUSE", "0")
    (folder / "p.py").write_text(
        "from fusewright.base.options import current as c\n"
        "print(c().fuse, c().threads, c().strict)\n"
    )
    assert run("p.py")[1] == "False 2 True\n"


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("fusewright ")
    with pytest.raises(SystemExit) as end:
        main(["run", "--help"])
    assert end.value.code == 0
    assert "--compare" in capsys.readouterr().out


LEAVES = """
import subprocess, sys
command = [sys.executable, "-m", "fusewright", "info"]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
process.stdout.close()
print(process.stderr.read().decode())
"""


def test_a_reader_that_leaves(folder: Path) -> None:
    assert fresh("-c", LEAVES, cwd=folder).stdout.strip() == ""
