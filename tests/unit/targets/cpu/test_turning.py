"""The direction of launches: what a thread touched last, it meets first the next time."""

import ctypes

import numpy as np

from fusewright.runtime.image import load
from fusewright.targets.cpu import pool, threads
from fusewright.targets.cpu.compiler import compile_ir
from fusewright.targets.cpu.features import BASELINE

KERNEL = """
define void @order(ptr %args, i64 %lo, i64 %hi, ptr %scratch) {
  ; turn[lo] = next++, who[lo] = scratch: each thread has its own
  %turn = load ptr, ptr %args
  %second = getelementptr ptr, ptr %args, i64 1
  %next = load ptr, ptr %second
  %third = getelementptr ptr, ptr %args, i64 2
  %who = load ptr, ptr %third
  %now = atomicrmw add ptr %next, i64 1 seq_cst
  %p = getelementptr i64, ptr %turn, i64 %lo
  store i64 %now, ptr %p
  %q = getelementptr ptr, ptr %who, i64 %lo
  store ptr %scratch, ptr %q
  ret void
}
"""


def direction(kernel):
    """1 where both ranges were gone through forwards, -1 where backwards.

    The system may put a thread aside at any time, so only the order in which one thread went
    through one range is certain: with 16 chunks, 2 threads and 2 ranges some thread has several.
    """
    turn, following, who = np.full(64, -1), np.zeros(1, np.int64), np.zeros(64, np.int64)
    words = (ctypes.c_void_p * 3)(turn.ctypes.data, following.ctypes.data, who.ctypes.data)
    threads.launch(kernel, ctypes.addressof(words), 64, 1, 64, 2)
    assert following[0] == 2 * pool.CHUNKS
    begun = turn >= 0
    turns, who = turn[begun].reshape(2, -1), who[begun].reshape(2, -1)
    steps = [
        np.sign(np.diff(own[by == thread]))
        for own, by in zip(turns, who, strict=True)
        for thread in np.unique(by)
    ]
    (found,) = np.unique(np.concatenate(steps))
    return int(found)


def test_the_next_launch_begins_where_the_last_one_ended():
    image = load(compile_ir(KERNEL, BASELINE, 2))
    directions = [direction(image.address("order")) for _ in range(4)]
    assert directions in ([1, -1, 1, -1], [-1, 1, -1, 1])
