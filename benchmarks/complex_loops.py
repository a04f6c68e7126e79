"""Loops over complex numbers, written once for us and for Numba (`polybench.c`: for gcc)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from polybench import Program

LIMIT = 50
"""Iterations of an escape loop; the same in `polybench.c`."""
prange = range


def complex_axpy(a, x, y):
    for i in prange(x.shape[0]):
        y[i] = a[0] * x[i] + y[i]


def complex_multiply(x, y, z):
    for i in prange(x.shape[0]):
        z[i] = x[i] * y[i]


def mandelbrot(c, z, steps):
    for i in prange(c.shape[0]):
        here = 0j
        count = 0
        while count < LIMIT and here.real * here.real + here.imag * here.imag < 4.0:
            here = here * here + c[i]
            count += 1
        z[i] = here
        steps[i] = count


def dft(x, roots, y):
    n = x.shape[0]
    for k in prange(n):
        total = 0j
        for j in range(n):
            total += x[j] * roots[(j * k) % n]
        y[k] = total


class ComplexProgram(Program):
    """All arrays are complex, on the unit circle; the last may count."""

    def arrays(self, size: int) -> list[NDArray[Any]]:
        angles = 2j * np.pi * np.arange(size) / size
        found = [np.exp((number + 1) * angles) for number in range(len(self.ranks))]
        if self.dtype == "counts":
            found[-1] = np.zeros(size, np.int64)
        return found


PROGRAMS = (
    ComplexProgram(complex_axpy, (1, 1, 1), (2000, 200_000)),
    ComplexProgram(complex_multiply, (1, 1, 1), (2000, 200_000)),
    ComplexProgram(mandelbrot, (1, 1, 1), (2000, 20_000), "counts"),
    ComplexProgram(dft, (1, 1, 1), (100, 1000)),
)
