"""`@fw.jit`: record a function once, then replay it without running its Python code.

Worth it where arrays are small and a function is called often: a replay binds the new arguments to
what was recorded and calls the compiled kernels.
"""

import time

import numpy

import fusewright as fw
import fusewright.numpy as np


@fw.jit
def advance(position: fw.Array, velocity: fw.Array, dt: float) -> float:
    velocity -= dt * position  # arguments may be updated in place
    position += dt * velocity
    return (position * position + velocity * velocity).sum()


# NumPy's own arrays are only read; these are ours, and may be written.
position, velocity = fw.asarray(np.ones(10)), fw.asarray(np.zeros(10))
energy = 0.0
for _ in range(1000):
    energy = advance(position, velocity, 0.01)  # 0.01 is a run-time parameter
print("energy", energy)
assert abs(float(energy) - 10) < 0.1

start = time.perf_counter()
for _ in range(1000):
    advance(position, velocity, 0.01)
print(f"{(time.perf_counter() - start) * 1000:.1f} µs a call")


# NumPy arrays are fine too: they are read for the time of the call.
@fw.jit
def distance(a: fw.Array, b: fw.Array) -> fw.Array:
    return np.sqrt(((a - b) ** 2).sum())


for shift in (3.0, 4.0):
    assert float(distance(numpy.zeros(4), numpy.full(4, shift))) == 2 * shift


# What cannot be replayed is run anew each time, and said so.
@fw.jit
def clipped(x: fw.Array) -> fw.Array:
    return x / x.max() if x.max() > 1 else x


clipped(np.arange(5.0))
print(fw.explain(clipped, np.arange(5.0)).notes[0])
