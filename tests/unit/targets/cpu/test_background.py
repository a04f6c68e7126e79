"""The compiling thread: jobs in order, under the options of their time; the end of a process does
not wait for it and loses nothing.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

from fusewright.base.options import current, options
from fusewright.runtime import background


def test_jobs_run_in_order_under_the_options_of_now() -> None:
    seen: list[object] = []
    for number in range(3):
        with options(threads=number + 1):
            background.submit(lambda: seen.append(current().threads))
    background.wait()
    assert seen == [1, 2, 3]


def test_what_a_job_holds_goes_with_it() -> None:
    class Held:
        pass

    gone = threading.Event()
    held = Held()
    weakref.finalize(held, gone.set)
    background.submit(lambda kept=held: None)  # type: ignore[misc]
    del held
    background.wait()
    assert gone.wait(5)


ENDLESS = """
import threading
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.features import BASELINE
body = "\\n".join(f"  %v{k} = fadd double %v{k - 1}, %v{(k * 7) % k}" for k in range(2, 30000))
text = "define double @f(double %v0, double %v1) {\\n" + body + "\\n  ret double %v29999\\n}\\n"
begun = threading.Event()
def job():
    begun.set()
    while True: compiler.compile_ir(text, BASELINE, 2)
"""
COMPILING = """
import atexit, ctypes, sys, threading, time
import endless
from fusewright.runtime import background
from fusewright.targets.cpu import compiler
compiler.start()
background.submit(endless.job)
background.submit(lambda: print("this is not reached"))
endless.begun.wait()
time.sleep(0.3)
"""
"""A process whose background thread is inside LLVM, and stays there."""


def ends(text: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """How a process ended, and how long that took after it wrote its last line."""
    (folder / "endless.py").write_text(ENDLESS)
    program = f"{COMPILING}\n{text}\nprint(time.time())"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60
    )
    said = done.stdout.split()
    return done, time.time() - float(said[-1]) if said and said[-1][0].isdigit() else 0.0


@pytest.mark.parametrize("_", range(5))
def test_the_end_does_not_wait_for_a_compilation(tmp_path: Path, _: int) -> None:
    done, took = ends("", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert 0.0 < took < 3.0


def test_what_a_program_leaves_to_its_end_is_done(tmp_path: Path) -> None:
    text = """
file = open("python.txt", "w"); file.write("buffered")
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
stream = library.fopen(b"c.txt", b"w")
library.fputs(b"buffered", ctypes.c_void_p(stream))
atexit.register(lambda: open("atexit.txt", "w").write("run"))
class Last:
    def __del__(self): print("finaliser", flush=True)
last = Last()
def late():
    time.sleep(0.5)
    open("thread.txt", "w").write("run")
threading.Thread(target=late).start()
atexit.register(sys.stderr.write, "exit code 9")
sys.exit(9)
"""
    done, _ = ends(text, tmp_path)
    assert (done.returncode, done.stderr) == (9, "exit code 9")
    assert done.stdout == "finaliser\n"
    assert (tmp_path / "python.txt").read_text() == "buffered"
    assert (tmp_path / "c.txt").read_text() == "buffered"
    assert (tmp_path / "atexit.txt").read_text() == "run"
    assert (tmp_path / "thread.txt").read_text() == "run"


def test_an_error_is_still_an_error(tmp_path: Path) -> None:
    done, _ = ends("raise ValueError('the last word')", tmp_path)
    assert done.returncode == 1 and "ValueError: the last word" in done.stderr


def test_a_child_has_a_thread_of_its_own(tmp_path: Path) -> None:
    text = """
import os
if (child := os.fork()) == 0:
    said = []
    background.submit(lambda: said.append(1))
    background.wait()
    os._exit(40 + len(said))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert ends(text, tmp_path)[0].returncode == 41
