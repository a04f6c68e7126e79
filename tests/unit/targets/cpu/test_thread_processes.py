"""The thread pool in whole processes: forks, exits and interrupts."""

import subprocess
import sys
import textwrap

import pytest
from tests.unit.targets.cpu.pool_kernels import KERNELS

PRELUDE = """
import ctypes, os, signal, sys, threading, time
import numpy as np
from fusewright.runtime.image import load
from fusewright.targets.cpu import threads
from fusewright.targets.cpu.compiler import compile_ir
from fusewright.targets.cpu.features import BASELINE
kernels = load(compile_ir(sys.stdin.read(), BASELINE, 2))
def counted(units, count, kernel="mark", spins=400_000):
    arrays = np.zeros(units, np.int64), np.full(units, spins), np.zeros(units, np.int64)
    keep = (ctypes.c_void_p * 3)(*(array.ctypes.data for array in arrays))
    try:
        threads.launch(kernels.address(kernel), ctypes.addressof(keep), units, 1, 8, count)
    finally:
        print("done", (arrays[0] == 1).all()) if kernel == "slow" else None
    return arrays[0]
"""


def run(script):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRELUDE + textwrap.dedent(script)],
        input=KERNELS, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_fork_gives_the_child_a_pool_of_its_own():
    done = run("""
        assert (counted(100, 3) == 1).all()
        stop = False
        def busy():
            while not stop:
                counted(50, 3)
        other = threading.Thread(target=busy)
        other.start()
        for i in range(15):
            child = os.fork()
            if child == 0:
                ok = all((counted(100, 3) == 1).all() for _ in range(20))
                os._exit(0 if ok else 1)
            assert (counted(100, 3) == 1).all()
            assert os.waitpid(child, 0)[1] == 0, i
        stop = True
        other.join()
        print("good")
    """)
    assert (done.returncode, done.stdout) == (0, "good\n"), done.stderr


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "sys.exit()",
        "raise SystemExit(0)",
        "del kernels, threads, sys.modules['fusewright.targets.cpu.threads']",
    ],
)
def test_threads_neither_keep_the_process_nor_crash_it(ending):
    done = run(f"counted(1000, 4)\nprint('end', flush=True)\n{ending}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_exit_while_a_daemon_thread_runs_a_kernel():
    done = run("""
        threading.Thread(target=counted, args=(30000, 2, "slow"), daemon=True).start()
        time.sleep(0.2)
        print("end", flush=True)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_interrupt_is_delivered_after_the_launch():
    done = run("""
        counted(10, 2)
        sent = threading.Timer(0.03, lambda: os.kill(os.getpid(), signal.SIGINT))
        sent.start()
        try:
            counted(600, 2, "slow")
            time.sleep(5)
        except KeyboardInterrupt:
            print("interrupted")
        assert (counted(100, 2) == 1).all()
    """)
    assert (done.returncode, done.stdout) == (0, "done True\ninterrupted\n"), done.stderr
