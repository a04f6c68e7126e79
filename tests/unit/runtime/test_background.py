"""The compiling thread when the process ends."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from fusewright.runtime import background

PROGRAM = """
import atexit, importlib, sys, threading

def says():
    found = [t.ident for t in threading.enumerate() if t.name == "fusewright-compiler"]
    print("importing" if any(map(background._imports, found)) else "not importing")

atexit.register(says)  # after what is registered later
from fusewright.runtime import background

begun = threading.Event()

def work():
    while True:
        for name in ("wave", "chunk", "colorsys", "sndhdr", "this_is_no_module"):
            sys.modules.pop(name, None)
            try:
                importlib.import_module(name)
            except ImportError:
                begun.set()

background.submit(work)
begun.wait()
"""


def test_no_import_is_under_way_when_the_interpreter_ends() -> None:
    ran = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            capture_output=True,
            text=True,
            timeout=60,
        )
        for _ in range(2)
    ]
    assert [(one.returncode, one.stdout.strip()) for one in ran] == [(0, "not importing")] * 2
    assert not any(one.stderr for one in ran)


MODULE = """
import os
from time import sleep

try:
    open("begun", "w").close()
    for _ in range(300):
        sleep(0.001)
    print("imported", flush=True)
except BaseException:
    os._exit(77)  # as an extension module may that is stopped while it makes its types
"""
ENDS_MEANWHILE = """
import os, sys, time
from fusewright.runtime import background

sys.path.insert(0, "")
background.submit(lambda: __import__("touchy"))
while not os.path.exists("begun"):
    time.sleep(0.001)
"""


def test_an_import_is_not_stopped_in_its_middle(tmp_path: Path) -> None:
    (tmp_path / "touchy.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-c", ENDS_MEANWHILE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "imported\n", "")


def waited() -> float:
    """Python's turns when nothing is compiled any more: the last job lets us go a moment before."""
    background.wait()
    while background._working:
        time.sleep(0.001)
    return sys.getswitchinterval()


def test_the_lock_is_given_up_often_while_something_is_compiled() -> None:
    before, seen = waited(), []
    background.submit(lambda: seen.append(sys.getswitchinterval()))
    assert waited() == before
    assert seen == [pytest.approx(background.TURN)]


def test_turns_that_the_program_asks_for_stay() -> None:
    before, seen = waited(), []
    try:
        background.submit(lambda: sys.setswitchinterval(0.003))
        assert waited() == pytest.approx(0.003)
        sys.setswitchinterval(1e-5)  # shorter ones than ours
        background.submit(lambda: seen.append(sys.getswitchinterval()))
        assert waited() == pytest.approx(1e-5)
        assert seen == [pytest.approx(1e-5)]
    finally:
        sys.setswitchinterval(before)
