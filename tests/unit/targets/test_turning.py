"""The direction of launches: what a thread touched last, it meets first the next time."""

import ctypes

import numpy as np

from fusewright.runtime.image import load
from fusewright.targets.cpu import pool, threads
from fusewright.targets.cpu.compiler import compile_ir
from fusewright.targets.cpu.features import BASELINE

KERNEL = """
define void @order(ptr %args, i64 %lo, i64 %hi, ptr %scratch) {
  ; turn[lo] = next++
  %turn = load ptr, ptr %args
  %second = getelementptr ptr, ptr %args, i64 1
  %next = load ptr, ptr %second
  %now = atomicrmw add ptr %next, i64 1 seq_cst
  %p = getelementptr i64, ptr %turn, i64 %lo
  store i64 %now, ptr %p
  ret void
}
"""


def direction(kernel):
    """1 where both halves were gone through forwards, -1 where backwards."""
    turn, following = np.full(64, -1), np.zeros(1, np.int64)
    words = (ctypes.c_void_p * 2)(turn.ctypes.data, following.ctypes.data)
    threads.launch(kernel, ctypes.addressof(words), 64, 1, 0, 2)
    order = turn[turn >= 0].reshape(2, pool.CHUNKS)
    assert following[0] == order.size
    # Each half one way, whoever took its chunks (a thread may be stopped between two steps).
    sums = np.sign(order @ (np.arange(pool.CHUNKS) - (pool.CHUNKS - 1) / 2))
    assert sums[0] == sums[1]
    return int(sums[0])


def test_the_next_launch_begins_where_the_last_one_ended():
    image = load(compile_ir(KERNEL, BASELINE, 2))
    directions = [direction(image.address("order")) for _ in range(4)]
    assert directions in ([1, -1, 1, -1], [-1, 1, -1, 1])
