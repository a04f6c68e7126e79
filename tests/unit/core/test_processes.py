"""Threads, forks, and the end of the process; CPUs and settings."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.at_once import at_once

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.targets.cpu import threads

LARGE = 300_000


def work(seed: int, failures: list[str], rounds: int = 120) -> None:
    """Records, asks, writes through views and replays, with values that are known."""
    small, large = np.arange(5.0) + seed, np.full(LARGE, float(seed))
    mine, big = fw.asarray(small), fw.asarray(large)
    for step in range(rounds):
        mine = mine * 0.5 + float(step)
        small = small * 0.5 + float(step)
        mine[1:3] += 1.0
        small[1:3] += 1.0
        if step % 10 == 0 and float(mine.sum()) != pytest.approx(small.sum(), rel=1e-15):
            failures.append(f"thread {seed}, step {step}: a sum")
        if step % 40 == 0 and float((big * 2.0 + step).max()) != seed * 2.0 + step:
            failures.append(f"thread {seed}, step {step}: a large kernel")
        if step % 30 == 0 and not np.array_equal(np.asarray(doubled(mine, 0.5)), small * 2 + 0.5):
            failures.append(f"thread {seed}, step {step}: a replay")
    if not np.array_equal(np.asarray(mine), small):
        failures.append(f"thread {seed}: the end")


@fw.jit
def doubled(x: Any, more: float) -> Any:
    return x * 2 + more


def test_threads_record_ask_and_replay_at_once() -> None:
    failures: list[str] = []
    at_once([partial(work, n, failures) for n in range(6)], 1e-5)
    assert not failures


def test_threads_share_one_array() -> None:
    """Statements of several threads on one array: any order, but no crash and nothing halved.

    Between reading and writing another thread may have written: its additions are lost.
    """
    shared = fw.asarray(np.zeros(64))

    def add() -> None:
        for _ in range(300):
            shared[...] = shared + 1.0
            float(shared.sum())

    running = [threading.Thread(target=add) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    values = np.unique(np.asarray(shared))
    assert values.size == 1 and 1 < values[0] <= 1200


def child(check: Any) -> int:
    """The exit status of a fork in which `check` must hold."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if check() else 1)
        except BaseException:  # noqa: BLE001 - whatever it is, the parent must see that it was
            os._exit(2)
    return os.waitpid(pid, 0)[1]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_starts_afresh() -> None:
    big = fw.asarray(np.ones(LARGE))
    assert float((big + 1.0).max()) == 2.0
    held = big * 3.0  # pending in both

    def check() -> bool:
        fine: list[str] = []
        work(3, fine, 50)
        with fw.options(threads=2):
            return not fine and float(held.max()) == 3.0 and float((big * 2 + 5).min()) == 7.0

    assert child(check) == 0
    assert child(lambda: child(check) == 0) == 0, "a fork of a fork"
    assert float(held.min()) == 3.0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_while_another_thread_computes() -> None:
    """The child sees every array before or after a statement, never in the middle of one."""
    shared, ended = fw.asarray(np.zeros(LARGE)), threading.Event()
    failures: list[str] = []

    def compute() -> None:
        seed = 0
        while not ended.is_set():
            shared[1:-1] = shared[1:-1] + 1.0
            float(shared[1])
            work(seed, failures, 3)
            function = fw.jit(lambda x: x * 2.0)
            function(fw.asarray(np.ones(4)))
            seed += 1

    def check() -> bool:
        fine: list[str] = []
        work(3, fine, 12)
        inner = np.asarray(shared)[1:-1]
        return not fine and bool((inner == inner[0]).all())

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        statuses = [child(check) for _ in range(12)]
    finally:
        ended.set()
        thread.join()
    assert statuses == [0] * 12 and not failures


IMPORTS = "import fusewright as fw, numpy as np, os, threading\n"


def script(text: str, **settings: str) -> str:
    # From CPython 3.12 on, `os.fork` warns of every thread there is.
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", IMPORTS + text],
        env=os.environ | settings, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout.strip()


def test_exit_with_pending_work() -> None:
    loop = "x = fw.asarray(np.ones(8))\nfor i in range(500): x = x * 0.5 + i\nprint('done')"
    assert script(loop) == "done"


def test_exit_with_threads_running() -> None:
    text = """
def forever():
    x = fw.asarray(np.ones(200_000))
    while True:
        x = x * 0.5 + 1.0
        float(x.sum())
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
import time
time.sleep(0.5)
print('done')
"""
    assert script(text) == "done"


def test_exit_with_pending_kernels() -> None:
    text = """
@fw.kernel
def step(x, y):
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] * 0.5 + x[i]
def forever():
    x, y = fw.asarray(np.ones(500)), fw.asarray(np.ones(500))
    while True:
        step(x, y)
        x = x * 0.5 + y
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
x, y = fw.asarray(np.ones(8)), fw.asarray(np.ones(8))
for _ in range(100): step(x, y)
import time
time.sleep(0.5)
step(x, y)
print('done')
"""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "program.py")  # kernels are read from their file
    with open(path, "w") as file:
        file.write("import fusewright as fw, numpy as np, threading\n" + text)
    assert script(f"import runpy; runpy.run_path({path!r}, run_name='__main__')") == "done"


def test_exit_in_a_fork_of_a_thread() -> None:
    text = """
x = fw.asarray(np.ones(300_000))
float((x + 1).max())
pid = os.fork()
if pid == 0:
    raise SystemExit(int(float((x * 2).max())) - 2)
print(os.waitpid(pid, 0)[1])
"""
    assert script(text) == "0"


COUNT = "print(__import__('fusewright.runtime.limits').runtime.limits.thread_count())"


def test_settings_say_how_many_threads() -> None:
    assert script(COUNT, OMP_NUM_THREADS="3") == "3"
    five = "from fusewright.base import options\noptions.set_defaults(threads=5)\n"
    assert script(five + COUNT, OMP_NUM_THREADS="3") == "5"
    one = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert script(one + COUNT, OMP_NUM_THREADS="") == "1"


def test_threads_of_the_pool_are_as_many_as_allowed() -> None:
    text = """
x = fw.asarray(np.ones(4_000_000))
float((fw.numpy.exp(x) + 1).max())
def count():  # a thread names itself when it first runs
    tasks = os.listdir('/proc/self/task')
    return sum(open(f'/proc/self/task/{t}/comm').read() == 'fusewright\\n' for t in tasks)
for _ in range(100):
    if count() == int(os.environ["OMP_NUM_THREADS"]) - 1:
        break
    time.sleep(0.02)
print(count())
"""
    text = "import time\nimport fusewright.numpy\n" + text
    assert script(text, OMP_NUM_THREADS="1") == "0"
    assert script(text, OMP_NUM_THREADS="3") == "2"
    with fw.options(threads=1):
        before = threads.thread_pool.size
        fw.evaluate(fnp.exp(fw.asarray(np.ones(LARGE))))
        assert threads.thread_pool.size == before
