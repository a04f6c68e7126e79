"""The compiling thread when the process ends."""

from __future__ import annotations

import subprocess
import sys

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
        for _ in range(3)
    ]
    assert [(one.returncode, one.stdout.strip()) for one in ran] == [(0, "not importing")] * 3
    assert not any(one.stderr for one in ran)
