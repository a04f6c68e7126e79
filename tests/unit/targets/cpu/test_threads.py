"""The thread pool: every unit exactly once, whatever happens around it."""

import ctypes
import os
import random
import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from tests.unit.targets.cpu.pool_kernels import KERNELS

from fusewright.base.options import options
from fusewright.runtime import limits
from fusewright.runtime.image import load
from fusewright.targets.cpu import threads
from fusewright.targets.cpu.compiler import compile_ir
from fusewright.targets.cpu.features import BASELINE


@pytest.fixture(scope="module")
def kernels():
    return load(compile_ir(KERNELS, BASELINE, 2))


def arguments(*arrays):
    """The kernel's argument array, and its address."""
    array = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    return array, ctypes.addressof(array)


def counted(kernels, units, grain, count):
    counts = np.zeros(units, np.int64)
    keep, address = arguments(counts)
    threads.launch(kernels.address("mark"), address, units, grain, 8, count)
    del keep
    return counts


SPINS = 400_000
"""About 0.2 ms."""


def slowly(kernels, spins, count, scratch_bytes=8):
    """Counts of a launch whose units take their time, and the scratch each had."""
    spins = np.asarray(spins, np.int64)
    counts, addresses = np.zeros(len(spins), np.int64), np.zeros(len(spins), np.int64)
    keep, address = arguments(counts, spins, addresses)
    kernel = kernels.address("slow")
    threads.launch(kernel, address, len(spins), 1, scratch_bytes, count)
    del keep
    return counts.copy(), addresses


def test_direct_call(kernels):
    counts = np.zeros(10, np.int64)
    scratch = np.zeros(1, np.int64)
    keep, address = arguments(counts)
    threads.call(kernels.address("mark"), address, 7, scratch.ctypes.data)
    assert counts.tolist() == [1] * 7 + [0] * 3
    assert len(keep) == 1


@pytest.mark.parametrize("wrong", [(1, 2, 3), ("a", 1, 1, 1), (None, 1, 1, 1), (1, 1, 1.5, 1)])
def test_wrong_arguments_are_errors_not_crashes(wrong):
    with pytest.raises(TypeError):
        threads.code().call(*wrong)


def test_every_unit_once_for_any_split(kernels):
    chance = random.Random(1)
    for _ in range(2500):
        units = chance.choice([0, 1, 2, 3, 7, 64, 100, 1000, chance.randrange(3000)])
        grain = chance.choice([1, 1, 3, 8, 64, 5000])
        assert (counted(kernels, units, grain, chance.randrange(1, 9)) == 1).all()


def test_ranges_are_multiples_of_the_grain(kernels):
    ends, scratch = np.zeros(1000, np.int64), np.zeros(1000, np.int64)
    keep, address = arguments(ends, scratch)
    threads.launch(kernels.address("ranges"), address, 1000, 48, 100, 4)
    starts = np.flatnonzero(ends)
    assert (starts % 48 == 0).all()
    assert (ends[starts][:-1] == starts[1:]).all()
    assert (starts[0], ends[starts[-1]]) == (0, 1000)
    assert len(keep) == 2


def test_a_launch_ends_when_the_slowest_thread_does_and_scratch_is_apart(kernels):
    together, end = 0, time.monotonic() + 60
    while together < 20 and (together or time.monotonic() < end):  # a busy machine may run one only
        counts, addresses = slowly(kernels, [10 * SPINS, 20 * SPINS], 2, 100)
        assert counts.tolist() == [1, 1]
        assert (addresses % 64 == 0).all()
        distance = abs(int(addresses[0] - addresses[1]))
        together += distance != 0
        assert distance == 0 or distance >= 100
    assert together > 0


def test_the_caller_does_what_a_late_thread_has_not_begun(kernels):
    counts, _ = slowly(kernels, [SPINS] * 40, 40)
    assert (counts == 1).all()


def test_pool_that_slept(kernels):
    for pause in (0, 0.0001, 0.001, 0.02):
        for _ in range(10):
            time.sleep(pause)
            assert (counted(kernels, 500, 1, 3) == 1).all()


def test_python_threads_launch_at_once(kernels):
    wrong = []

    def work(seed):
        chance = random.Random(seed)
        for _ in range(300):
            if not (counted(kernels, chance.randrange(400), 1, 3) == 1).all():
                wrong.append(seed)

    crowd = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert not wrong


def test_the_gil_is_released_during_a_launch(kernels):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    for count in (1, 2):
        before = time.perf_counter()
        assert (slowly(kernels, [SPINS] * 600, count)[0] == 1).all()
        assert sum(before < tick < time.perf_counter() for tick in ticks) > 1
    stop.set()
    other.join()


def test_all_threads_round_and_flush_as_the_caller_does(kernels):
    out = np.zeros(4000, np.int64)
    keep, address = arguments(out)
    set_environment = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(kernels.address("set_environment"))
    for control in (0x9FC0, 0x1F80):  # Flush to zero with denormals as zero; the default.
        set_environment(control)
        try:
            for _ in range(20):
                out[:] = 0
                threads.launch(kernels.address("environment"), address, 4000, 1, 0, 4)
                assert ((out & ~0x3F) == control).all()
        finally:
            set_environment(0x1F80)
    assert len(keep) == 1


def worker_tasks():
    found = []
    for task in os.listdir("/proc/self/task"):
        with suppress(FileNotFoundError), open(f"/proc/self/task/{task}/comm") as file:
            if file.read().strip() == "fusewright":  # another thread may end meanwhile
                found.append(task)
    return found


def task_status(task):
    with open(f"/proc/self/task/{task}/status") as file:
        return dict(line.split(":", 1) for line in file)


def test_workers_block_signals_and_sleep_when_idle(kernels):
    assert (counted(kernels, 100, 1, 4) == 1).all()
    workers = worker_tasks()
    assert len(workers) >= 3
    for task in workers:
        blocked = int(task_status(task)["SigBlk"], 16)
        assert blocked >> (signal.SIGINT - 1) & blocked >> (signal.SIGTERM - 1) & 1
    awake, end = set(workers), time.monotonic() + 60
    while awake and time.monotonic() < end:  # on a busy machine the last spin takes its time
        time.sleep(0.05)
        awake = {task for task in awake if task_status(task)["State"].split()[0] != "S"}
    assert not awake
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])


def asleep(workers):
    """The times that each has gone to sleep, once all do."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = [task_status(task) for task in workers]
        if all(status["State"].split()[0] == "S" for status in found):
            return [status["voluntary_ctxt_switches"] for status in found]
        time.sleep(0.005)
    raise AssertionError("a thread went on spinning")


def test_little_work_after_a_rest_wakes_nobody(kernels):
    counted(kernels, 64, 1, 2)
    workers = worker_tasks()
    undisturbed, end = False, time.monotonic() + 60
    while not undisturbed and time.monotonic() < end:  # a caller put aside may look like long work
        before = asleep(workers)
        time.sleep(0.005)
        counts, addresses = slowly(kernels, [10] * 64, 2)
        assert counts.tolist() == [1] * 64
        undisturbed = len(set(addresses)) == 1 and asleep(workers) == before
    assert undisturbed


def test_long_work_after_a_rest_wakes_the_others(kernels):
    counted(kernels, 64, 1, 2)
    workers = worker_tasks()
    shared, end = False, time.monotonic() + 60
    while not shared and time.monotonic() < end:
        asleep(workers)
        time.sleep(0.005)
        counts, addresses = slowly(kernels, [SPINS] * 64, 2)
        assert counts.tolist() == [1] * 64
        shared = len(set(addresses)) == 2
    assert shared


def test_thread_count_follows_option_then_environment_then_affinity(monkeypatch):
    limits.default_threads.cache_clear()
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert limits.thread_count() == 3
    with options(threads=5):
        assert limits.thread_count() == 5
    limits.default_threads.cache_clear()
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    assert limits.thread_count() == 1
    limits.default_threads.cache_clear()


def test_fork_join_is_measured():
    assert threads.fork_join_seconds(1) == 0
    assert 0 < threads.fork_join_seconds(2) < 0.01
