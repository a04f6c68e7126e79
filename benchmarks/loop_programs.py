"""The programs of `loops.py`: a group of four loops as in Genesis' rigid-body solver, a chain
of three stencils, and smaller ones; as our kernels, the first also as Numba's loops and as C
(`taichi_peer.py` has the first two for Taichi and Quadrants).
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import aligned

import fusewright as fw

DT = 0.01
DOFS = 18


@fw.kernel
def step(force, inertia, acc, vel, vel_next, qpos, qpos_next, energy):
    for d, b in fw.ndrange(force.shape[0], force.shape[1]):
        acc[d, b] = force[d, b] * inertia[d, b]
    for d, b in fw.ndrange(force.shape[0], force.shape[1]):
        vel_next[d, b] = vel[d, b] + acc[d, b] * DT
    for d, b in fw.ndrange(force.shape[0], force.shape[1]):
        qpos_next[d, b] = qpos[d, b] + vel_next[d, b] * DT
    for b in range(force.shape[1]):
        s = force[0, b] * 0.0
        for d in range(force.shape[0]):
            s += vel_next[d, b] * vel_next[d, b]
        energy[b] = s


@fw.kernel
def stencil(a, b, c, d):
    n = a.shape[0]
    for i in range(1, n - 1):
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
    for i in range(2, n - 2):
        c[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1]
    for i in range(3, n - 3):
        d[i] = 0.25 * c[i - 1] + 0.5 * c[i] + 0.25 * c[i + 1]


@fw.kernel
def elementwise(a, b, c, d):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0 + 1.0
    for i in range(a.shape[0]):
        c[i] = b[i] * a[i]
    for i in range(a.shape[0]):
        d[i] = c[i] - b[i]


@fw.kernel
def unequal(a, b, c, d):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[i] * 2.0
    for i in range(1, n - 1):
        c[i] = b[i] + a[i]
    for i in range(2, n):
        d[i] = c[i] * b[i]


@fw.kernel
def wave(e, h):
    for i in range(1, e.shape[0]):
        e[i] = e[i] + 0.5 * (h[i] - h[i - 1])
    for i in range(e.shape[0] - 1):
        h[i] = h[i] + 0.5 * (e[i + 1] - e[i])


@fw.kernel
def jacobi(a, b):
    n, m = a.shape
    for i, j in fw.ndrange((1, n - 1), (1, m - 1)):
        b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    for i, j in fw.ndrange((1, n - 1), (1, m - 1)):
        a[i, j] = b[i, j]


@fw.kernel
def columns(a, b, c):
    n, m = a.shape
    for i, j in fw.ndrange(n, m):
        b[i, j] = a[i, j] * 2.0
    for j in range(m):
        s = 0.0
        for i in range(n):
            s += b[i, j]
        c[j] = s


@fw.kernel
def scaled_rows(a, x, y, z):
    n, m = a.shape
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += a[i, j] * x[j]
        y[i] = s
    for i, j in fw.ndrange(n, m):
        z[i, j] = a[i, j] * y[i]


@fw.kernel
def exponentials(a, b, c):
    for i in range(a.shape[0]):
        b[i] = np.exp(a[i]) + np.exp(a[i] * 0.5)
    for i in range(a.shape[0]):
        c[i] = b[i] * 2.0


C_STEP = """
#define FOR(x, n) for (long x = 0; x < (n); x++)
void step(long D, long B, const float *restrict force, const float *restrict inertia,
          float *restrict acc, const float *restrict vel, float *restrict vel_next,
          const float *restrict qpos, float *restrict qpos_next, float *restrict energy)
{
    const float dt = 0.01f;
    #pragma omp parallel for
    FOR(d, D) FOR(b, B) acc[d*B+b] = force[d*B+b] * inertia[d*B+b];
    #pragma omp parallel for
    FOR(d, D) FOR(b, B) vel_next[d*B+b] = vel[d*B+b] + acc[d*B+b] * dt;
    #pragma omp parallel for
    FOR(d, D) FOR(b, B) qpos_next[d*B+b] = qpos[d*B+b] + vel_next[d*B+b] * dt;
    #pragma omp parallel for
    FOR(b, B) {
        float s = 0;
        FOR(d, D) s += vel_next[d*B+b] * vel_next[d*B+b];
        energy[b] = s;
    }
}
"""


def c_step() -> Any:
    """The four loops, compiled by gcc -O3 with OpenMP; None where there is no gcc."""
    name = hashlib.sha256(C_STEP.encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"fusewright-benchmark-{name}"
    folder.mkdir(exist_ok=True)
    source, library = folder / "step.c", folder / "step.so"
    source.write_text(C_STEP)
    flags = ["-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-shared", "-fPIC"]
    try:
        subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    function = ctypes.CDLL(str(library)).step

    def run(*arrays: Any) -> None:
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        function(ctypes.c_long(arrays[0].shape[0]), ctypes.c_long(arrays[0].shape[1]), *pointers)

    return run


def numba_step(numba: Any) -> Any:
    """The four loops, each with `prange`."""

    def run(force, inertia, acc, vel, vel_next, qpos, qpos_next, energy):  # type: ignore[no-untyped-def]
        dt = force.dtype.type(0.01)
        rows, columns = force.shape
        for d in numba.prange(rows):
            for b in range(columns):
                acc[d, b] = force[d, b] * inertia[d, b]
        for d in numba.prange(rows):
            for b in range(columns):
                vel_next[d, b] = vel[d, b] + acc[d, b] * dt
        for d in numba.prange(rows):
            for b in range(columns):
                qpos_next[d, b] = qpos[d, b] + vel_next[d, b] * dt
        for b in numba.prange(columns):
            s = force.dtype.type(0)
            for d in range(rows):
                s += vel_next[d, b] * vel_next[d, b]
            energy[b] = s

    return numba.njit(parallel=True)(run)


PEER_FORMS = ("ndarray", "field")


def ramps(shapes: list[tuple[int, ...]], dtype: str) -> list[NDArray[Any]]:
    """Arrays as `taichi_peer.py` makes them."""
    found = []
    for number, shape in enumerate(shapes):
        values = aligned(int(np.prod(shape)), dtype).reshape(shape)
        values.flat = (np.arange(values.size) * (number + 2) % 1013) / 1013
        found.append(values)
    return found


def taichi_seconds(
    library: str, python: str, program: str, size: int, ours: NDArray[Any]
) -> Iterator[tuple[str, float, float]]:
    """A program in Taichi or Quadrants on either kind of their arrays, run by another interpreter:
    the kind, its least and its median time.  `ours` is the last array as it should be.
    """
    script = Path(__file__).with_name("taichi_peer.py")
    for form in PEER_FORMS:
        with tempfile.TemporaryDirectory() as folder:
            result = str(Path(folder) / "result.npy")
            command = [python, str(script), library, program, str(size), form, result]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            theirs = np.load(result)
        every = -(-ours.size // theirs.size)
        np.testing.assert_allclose(theirs, ours[::every], rtol=1e-4)
        least, median = map(float, done.stdout.split()[-2:])
        yield form, least, median
