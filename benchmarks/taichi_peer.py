"""What Taichi, or its fork Quadrants, takes for loops of `loop_programs.py`: run by an interpreter
that has it, prints the least and the median of seconds.

    taichi_peer.py LIBRARY PROGRAM SIZE FORM RESULT

FORM is `ndarray` or `field`: the two kinds of arrays there are.  The last array's elements, or many
of them where there are very many, go to the file RESULT, for a comparison.
"""

import importlib
import sys
import time
from typing import Any

import numpy as np

LONGEST, REPEATS = 3.0, 400
"""Seconds and calls, at most."""
WARM = 5
COMPARED = 1 << 16
DOFS = 18

library, program, size, form, result = sys.argv[1:]
ti: Any = importlib.import_module(library)
dtype = ti.f32 if program == "group" else ti.f64
ti.init(arch=ti.cpu, default_fp=dtype)


def kind(rank: int) -> Any:
    """The annotation of an array."""
    return ti.template() if form == "field" else ti.types.ndarray(dtype=dtype, ndim=rank)


def make(shape: tuple[int, ...], number: int) -> Any:
    """An array, filled as `loops.py` fills its own."""
    array = (ti.field if form == "field" else ti.ndarray)(dtype, shape=shape)
    count = int(np.prod(shape))
    array.from_numpy(((np.arange(count) * (number + 2) % 1013) / 1013).reshape(shape))
    return array


LINE, PLANE = kind(1), kind(2)


@ti.kernel
def group(
    force: PLANE, inertia: PLANE, acc: PLANE, vel: PLANE, vel_next: PLANE, qpos: PLANE,
    qpos_next: PLANE, energy: LINE,
):  # fmt: skip
    for d, b in ti.ndrange(force.shape[0], force.shape[1]):
        acc[d, b] = force[d, b] * inertia[d, b]
    for d, b in ti.ndrange(force.shape[0], force.shape[1]):
        vel_next[d, b] = vel[d, b] + acc[d, b] * 0.01
    for d, b in ti.ndrange(force.shape[0], force.shape[1]):
        qpos_next[d, b] = qpos[d, b] + vel_next[d, b] * 0.01
    for b in range(force.shape[1]):
        s = ti.f32(0.0)
        for d in range(force.shape[0]):
            s += vel_next[d, b] * vel_next[d, b]
        energy[b] = s


@ti.kernel
def stencil(a: LINE, b: LINE, c: LINE, d: LINE):
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
    for i in range(2, a.shape[0] - 2):
        c[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1]
    for i in range(3, a.shape[0] - 3):
        d[i] = 0.25 * c[i - 1] + 0.5 * c[i] + 0.25 * c[i + 1]


def main() -> None:
    count = int(size)
    shapes = {"group": [(DOFS, count)] * 7 + [(count,)], "stencil": [(count,)] * 4}[program]
    arrays = [make(shape, number) for number, shape in enumerate(shapes)]
    run = {"group": group, "stencil": stencil}[program]
    for _ in range(WARM):
        run(*arrays)
        ti.sync()
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < LONGEST:
        start = time.perf_counter()
        run(*arrays)
        ti.sync()
        times.append(time.perf_counter() - start)
    found = arrays[-1].to_numpy()
    np.save(result, found[:: max(found.size // COMPARED, 1)])
    print(min(times), sorted(times)[len(times) // 2])


if __name__ == "__main__":
    main()
