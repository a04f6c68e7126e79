"""The buffer pool: reuse, bounds, exhaustion, threads, fork."""

import ctypes
import gc
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections import deque
from itertools import pairwise

import numpy as np
import pytest

from fusewright.base import words
from fusewright.base.errors import FusewrightError
from fusewright.base.options import options
from fusewright.runtime import blocks, buffers, demand
from fusewright.runtime.buffers import allocate, statistics, trim

MIB = 1 << 20


@pytest.fixture(autouse=True)
def empty_pool():
    gc.collect()
    trim()
    buffers.large_blocks.demand = demand.Demand()
    yield
    gc.collect()
    trim()


@pytest.mark.parametrize(
    "nbytes", [0, 1, 63, 64, 65, 1000, 1025, 32 << 10, (32 << 10) + 1, MIB, 5 * MIB]
)
def test_block_is_aligned_writable_and_exactly_as_long(nbytes):
    memory = allocate(nbytes)
    assert memory.address % 64 == 0
    assert (memory.nbytes, memory.external, memory.writable) == (nbytes, False, True)
    view = memoryview(memory.owner)
    assert (view.nbytes, view.readonly) == (nbytes, False)
    array = np.ndarray((nbytes,), np.uint8, buffer=memory.owner)
    array[:] = 7
    assert ctypes.string_at(memory.address, nbytes) == b"\7" * nbytes


def test_blocks_in_use_never_overlap():
    sizes = [1, 64, 65, 100, 1000, 1024, 1025, 5000, 32 << 10, 33 << 10, 200_000, 5 * MIB] * 6
    held = [allocate(n) for n in sizes]
    spans = sorted((m.address, m.address + m.nbytes) for m in held)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize("nbytes", [8, 4000, 100_000, 8 * MIB])
def test_freed_block_is_taken_again(nbytes):
    first = allocate(nbytes)
    address = first.address
    assert allocate(nbytes).address != address
    del first
    assert address in [m.address for m in (allocate(nbytes), allocate(nbytes))]


@pytest.mark.parametrize("nbytes", [8, 8 * MIB])
def test_an_exported_array_keeps_the_block(nbytes):
    memory = allocate(nbytes)
    address = memory.address
    array = np.frombuffer(memory.owner, np.uint8)[1:]
    array[0] = 42
    del memory
    others = [allocate(nbytes) for _ in range(4)]
    assert address not in [m.address for m in others]
    assert array[0] == 42
    del array
    assert allocate(nbytes).address == address


def test_statistics_follow():
    before = statistics()
    held = [allocate(MIB) for _ in range(3)]
    middle = statistics()
    assert middle.allocations - before.allocations == 3
    assert middle.in_use - before.in_use == 3 * MIB
    assert middle.peak >= middle.in_use
    del held
    after = statistics()
    assert after.in_use == before.in_use
    assert after.pooled - before.pooled == 3 * MIB
    trim()
    assert statistics().mapped == before.mapped


def test_small_blocks_return_to_the_system_when_trimmed():
    trim()  # what other tests left behind
    before = statistics()
    held = [allocate(n) for n in (64, 1000, 20_000) for _ in range(3000)]
    assert statistics().in_use - before.in_use >= 3000 * (64 + 1000 + 20_000)
    survivor = held[1]
    np.frombuffer(survivor.owner, np.uint8)[:] = 9
    assert statistics().mapped - before.mapped >= 3000 * (1000 + 20_000)
    del held
    assert statistics().in_use - before.in_use == 64
    trim()
    # The survivor's slab, unless it lies in one that was there before.
    assert statistics().mapped - before.mapped in (0, 64 << 10)
    assert (np.frombuffer(survivor.owner, np.uint8) == 9).all()


def test_pool_is_bounded_and_the_oldest_goes_first():
    with options(memory_limit=10 * MIB):
        held = [allocate(n * MIB) for n in (1, 2, 3, 4, 5)]
        addresses = [m.address for m in held]
        while held:
            held.pop(0)
            assert statistics().pooled - small() <= 10 * MIB
        assert statistics().pooled - small() == 9 * MIB
        assert allocate(4 * MIB).address == addresses[3]
        assert allocate(5 * MIB).address == addresses[4]
        del held[:]
        allocate(11 * MIB)
        assert statistics().pooled - small() <= 10 * MIB
    with options(memory_limit=0):
        allocate(MIB)
        assert allocate(MIB).nbytes == MIB


def test_a_large_block_that_was_needed_once_goes_back_at_once():
    before = statistics().mapped
    held = [allocate(n * MIB) for n in (64, 80, 100)]
    assert statistics().mapped - before == 244 * MIB
    del held
    assert statistics().mapped - before <= blocks.FLOOR


def test_blocks_of_a_loop_stay():
    addresses = []
    for _ in range(5):
        held = [allocate(48 * MIB) for _ in range(2)]
        addresses.append({m.address for m in held})
        del held
    assert addresses[-1] == addresses[-2]


def test_another_size_takes_the_place_of_what_waits():
    before = statistics().mapped
    for size in (64, 100, 40, 96):  # phases: each needs its size again and again
        for _ in range(4):
            allocate(size * MIB)
            assert statistics().mapped - before <= 100 * MIB + blocks.FLOOR


def test_sizes_that_take_turns_stay():
    for _ in range(3):
        for size in (64, 100):
            allocate(size * MIB)
    before = statistics()
    for _ in range(3):
        for size in (64, 100):
            allocate(size * MIB)
            assert statistics().mapped == before.mapped


def test_a_little_larger_block_serves():
    addresses = [allocate(70 * MIB).address for _ in range(2)]
    assert allocate(64 * MIB).address == addresses[-1]


def test_what_nobody_asks_for_goes_back(monkeypatch):
    monkeypatch.setattr(blocks, "WINDOW", 0.01)
    clock = iter(range(10**6))
    monkeypatch.setattr(demand, "monotonic", lambda: next(clock) / 1000)
    before = statistics().mapped
    for _ in range(4):
        allocate(64 * MIB)
    assert statistics().mapped - before == 64 * MIB
    monkeypatch.setattr(demand, "monotonic", lambda: 10**6)
    for _ in range(200):
        time.sleep(0.01)
        if statistics().mapped == before:
            break
    assert statistics().mapped - before <= blocks.FLOOR


def test_a_limit_set_later_holds_at_once():
    with options(memory_limit=200 * MIB):
        allocate(100 * MIB)
        assert statistics().pooled - small() >= 100 * MIB
    with options(memory_limit=0):
        assert statistics().pooled - small() == 0


def small():
    return buffers.small_blocks.pooled()


@pytest.mark.parametrize("nbytes", [10**13, 10**20])
def test_more_than_the_machine_has_is_refused(nbytes):
    with pytest.raises(MemoryError) as caught:
        allocate(nbytes)
    assert isinstance(caught.value, FusewrightError)
    text = str(caught.value)
    assert words.memory(nbytes) in text
    assert "GiB of memory can still be used" in text or "MiB of memory can still" in text
    assert allocate(1000).nbytes == 1000


def test_what_waits_in_the_pool_is_given_up_before_a_request_is_refused(monkeypatch):
    for _ in range(2):
        allocate(100 * MIB)
    assert statistics().pooled - small() >= 100 * MIB
    real = blocks.pages.map_pages
    failures = [OSError(12, "Cannot allocate memory")]

    def sometimes(nbytes, alignment):
        if failures:
            raise failures.pop()
        return real(nbytes, alignment)

    monkeypatch.setattr(blocks.pages, "map_pages", sometimes)
    assert allocate(50 * MIB).nbytes == 50 * MIB
    failures += [OSError(12, "Cannot allocate memory")] * 2
    with pytest.raises(MemoryError, match="cannot allocate 60 MiB"):
        allocate(60 * MIB)


def test_untouched_memory_counts_as_used(monkeypatch):
    monkeypatch.setattr(blocks.limits, "available_memory", lambda: 1000 * MIB)
    monkeypatch.setattr(blocks.limits, "resident_memory", lambda: 0)
    held = [allocate(300 * MIB) for _ in range(3)]
    with pytest.raises(MemoryError, match="cannot allocate 300 MiB"):
        allocate(300 * MIB)
    assert len(held) == 3
    del held
    assert allocate(300 * MIB).nbytes == 300 * MIB


@pytest.mark.parametrize("nbytes", [100, 100_000])
def test_threads_never_share_a_block(nbytes):
    wrong = []

    def work(mark):
        held = []
        for i in range(1500):
            memory = allocate(nbytes)
            word = ctypes.c_int64.from_address(memory.address)
            word.value = mark
            held.append((memory, word))
            if i % 3 == 0:
                held = held[-5:]
            wrong.extend(mark for _, kept in held if kept.value != mark)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    crowd = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 5)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    sys.setswitchinterval(interval)
    assert not wrong
    gc.collect()
    large = statistics().pooled - small() - buffers.large_blocks.on_shelves()
    assert sum(len(v) * size for size, v in buffers.large_blocks.idle.items()) == large


def test_finalisers_may_allocate_while_the_pool_is_at_work():
    class Restless:
        def __init__(self):
            self.me = self

        def __del__(self):
            allocate(100_000)
            allocate(100)

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(300):
            Restless()
            held = [allocate(n) for n in (100, 100_000, 200_000)]
            assert len({m.address for m in held}) == 3
    finally:
        gc.set_threshold(*threshold)


def test_finalisers_may_return_blocks_at_any_moment():
    class Cycle:
        def __init__(self, memory):
            self.memory, self.me = memory, self

    draw = random.Random(0).randrange
    held = deque(maxlen=20)
    threshold = gc.get_threshold()
    try:
        for i in range(30_000):
            size = draw(33 << 10, 6 * MIB)
            gc.set_threshold(draw(1, 40))
            Cycle(allocate(size))
            memory = allocate(size + 5)
            if draw(3) == 0:
                held.append(memory)
            if i % 100 == 0:
                trim()
    finally:
        gc.set_threshold(*threshold)


def run(script):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_fork_keeps_blocks_apart():
    done = run("""
        import ctypes, os, threading
        from fusewright.runtime import buffers
        from fusewright.runtime.buffers import allocate
        held = [allocate(n) for n in (8, 100_000) for _ in range(5)]
        [allocate(n) for n in (8, 100_000) for _ in range(5)]
        for memory in held:
            ctypes.c_int64.from_address(memory.address).value = 1
        stop = False
        def busy():
            while not stop:
                allocate(100_000)
        other = threading.Thread(target=busy)
        other.start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                fresh = [allocate(n) for n in (8, 100_000) for _ in range(50)]
                addresses = [m.address for m in fresh + held]
                assert len(set(addresses)) == len(addresses)
                for memory in fresh:
                    ctypes.c_int64.from_address(memory.address).value = 2
                assert all(ctypes.c_int64.from_address(m.address).value == 1 for m in held)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            assert all(ctypes.c_int64.from_address(m.address).value == 1 for m in held)
        stop = True
        other.join()
        print("good")
    """)
    assert (done.returncode, done.stdout) == (0, "good\n"), done.stderr


def test_blocks_alive_at_exit_are_no_trouble():
    done = run("""
        import threading, time
        import numpy as np
        from fusewright.runtime.buffers import allocate
        kept = [allocate(n) for n in (8, 100_000, 10_000_000)]
        array = np.frombuffer(allocate(100_000).owner, np.uint8)
        def work():
            array = np.frombuffer(allocate(100_000_000).owner, np.uint8)
            while True:
                array[:] = 1
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.05)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_address_space_limit_is_a_memory_error():
    done = run("""
        import resource
        from fusewright.runtime.buffers import allocate
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        held = []
        try:
            while True:
                held.append(allocate(50_000_000))
        except MemoryError as error:
            print(type(error).__name__, len(held) > 10)
    """)
    assert done.stdout == "OutOfMemory True\n", done.stderr
