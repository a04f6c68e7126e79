"""Warnings of ours stand at a line of the user's, or in our name: never at one of ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import fusewright.numpy as np
x = np.ones(10_000)
print(float((x * 2.0).sum()))
"""
PLAIN = PROGRAM.replace("fusewright.numpy", "numpy")
WRONG = {
    "FUSEWRIGHT_CACHE_DIR=/dev/null/x": "CacheWarning: the cache folder /dev/null/x is not used: ",
    "FUSEWRIGHT_THREDS=1": "FusewrightWarning: there is no variable FUSEWRIGHT_THREDS",
}


def told(folder: Path, setting: str, *words: str) -> str:
    name, _, value = setting.partition("=")
    env = {
        **os.environ,
        "FUSEWRIGHT_INTERPRET": "0",
        name: value,
    }  # what runs is compiled, and kept
    command = [sys.executable, *words]
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=True
    )  # fmt: skip
    return done.stderr


@pytest.mark.parametrize("setting", WRONG)
def test_a_program_is_warned_at_its_own_line(tmp_path: Path, setting: str) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    found = told(tmp_path, setting, "p.py")
    first, line, *more = found.splitlines()
    assert re.match(rf".*p\.py:\d+: {re.escape(WRONG[setting])}", first) and not more
    assert line.strip() in PROGRAM


@pytest.mark.parametrize("program", [PLAIN, "print('no arrays')"])
def test_a_command_is_warned_in_our_name(tmp_path: Path, program: str) -> None:
    """In one line, where nothing of the program has begun."""
    (tmp_path / "p.py").write_text(program)
    setting = "FUSEWRIGHT_CACHE_DIR=/dev/null/x"
    lines = told(tmp_path, setting, "-m", "fusewright", "run", "p.py").splitlines()
    assert len(lines) == ("numpy" in program)
    assert all(line.startswith(f"fusewright:1: {WRONG[setting]}") for line in lines)


def test_a_thread_of_ours_warns_in_our_name(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "from threading import Thread\n"
        "from fusewright.runtime import cache\n"
        "thread = Thread(target=cache.put, args=('0', b''))\n"
        "thread.start()\nthread.join()\n"
    )
    (line,) = told(tmp_path, "FUSEWRIGHT_CACHE_DIR=/dev/null/x", "p.py").splitlines()
    assert line.startswith("fusewright:1: CacheWarning")
