"""Loop nests as in PolyBench 4.2, written once: ours by `fw.kernel`, Numba's with or without
`prange` (`polybench.c` has the same for gcc).

A loop over `prange` is one that may run on threads, as one would write it for Numba; `range` to us.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

prange = range
STEPS = 10
"""Time steps of the stencils; the same in `polybench.c`."""


def gemm(c, a, b):
    n = c.shape[0]
    for i in prange(n):
        for j in range(n):
            c[i, j] *= 1.2
        for k in range(n):
            for j in range(n):
                c[i, j] += 1.5 * a[i, k] * b[k, j]


def two_mm(t, a, b, c, d):
    n = t.shape[0]
    for i in prange(n):
        for j in range(n):
            t[i, j] = 0.0
            for k in range(n):
                t[i, j] += 1.5 * a[i, k] * b[k, j]
    for i in prange(n):
        for j in range(n):
            d[i, j] *= 1.2
            for k in range(n):
                d[i, j] += t[i, k] * c[k, j]


def atax(a, x, y, t):
    n = a.shape[0]
    for i in range(n):
        y[i] = 0.0
    for i in range(n):
        t[i] = 0.0
        for j in range(n):
            t[i] = t[i] + a[i, j] * x[j]
        for j in range(n):
            y[j] = y[j] + a[i, j] * t[i]


def bicg(a, s, q, p, r):
    n = a.shape[0]
    for i in range(n):
        s[i] = 0.0
    for i in range(n):
        q[i] = 0.0
        for j in range(n):
            s[j] = s[j] + r[i] * a[i, j]
            q[i] = q[i] + a[i, j] * p[j]


def mvt(a, x, y, u, v):
    n = a.shape[0]
    for i in prange(n):
        for j in range(n):
            x[i] = x[i] + a[i, j] * u[j]
    for i in prange(n):
        for j in range(n):
            y[i] = y[i] + a[j, i] * v[j]


def gesummv(a, b, x, y, t):
    n = a.shape[0]
    for i in prange(n):
        t[i] = 0.0
        y[i] = 0.0
        for j in range(n):
            t[i] = a[i, j] * x[j] + t[i]
            y[i] = b[i, j] * x[j] + y[i]
        y[i] = 1.5 * t[i] + 1.2 * y[i]


def trisolv(a, x, b):
    for i in range(a.shape[0]):
        x[i] = b[i]
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] = x[i] / a[i, i]


def lu(a, given):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] = given[i, j]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


def cholesky(a, given):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] = given[i, j]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = sqrt(a[i, i])


def jacobi_1d(a, b):
    n = a.shape[0]
    for _ in range(STEPS):
        for i in prange(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in prange(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])


def jacobi_2d(a, b):
    n = a.shape[0]
    for _ in range(STEPS):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, 1 + j] + a[1 + i, j] + a[i - 1, j])
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, 1 + j] + b[1 + i, j] + b[i - 1, j])


def seidel_2d(a):
    n = a.shape[0]
    for _ in range(STEPS):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                    + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip


def heat_3d(a, b):
    n = a.shape[0]
    for _ in range(STEPS):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    a[i, j, k] = (
                        0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                        + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                        + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1])
                        + b[i, j, k]
                    )


def fdtd_2d(ex, ey, hz):
    n = ex.shape[0]
    for t in range(STEPS):
        for j in range(n):
            ey[0, j] = 0.1 * t
        for i in prange(1, n):
            for j in range(n):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in prange(n):
            for j in range(1, n):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(n - 1):
            for j in range(n - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def floyd_warshall(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = path[i, k] + path[k, j]
                if through < path[i, j]:
                    path[i, j] = through


def nussinov(table, seq):
    n = table.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                pair = table[i + 1, j - 1]
                if i < j - 1 and seq[i] + seq[j] == 3:
                    pair += 1
                table[i, j] = max(table[i, j], pair)
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def correlation(data, corr, mean, spread):
    n = data.shape[0]
    for j in prange(n):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in prange(n):
        spread[j] = 0.0
        for i in range(n):
            spread[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        spread[j] = sqrt(spread[j] / n)
    for i in prange(n - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, n):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
            corr[i, j] /= n * spread[i] * spread[j]
            corr[j, i] = corr[i, j]
    corr[n - 1, n - 1] = 1.0


def covariance(data, cov, mean):
    n = data.shape[0]
    for j in prange(n):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for i in prange(n):
        for j in range(i, n):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += (data[k, i] - mean[i]) * (data[k, j] - mean[j])
            cov[i, j] /= n - 1.0
            cov[j, i] = cov[i, j]


def doitgen(a, c4, out):
    n = a.shape[0]
    for r in prange(n):
        for q in range(n):
            for p in range(n):
                out[r, q, p] = 0.0
                for s in range(n):
                    out[r, q, p] += a[r, q, s] * c4[s, p]


def deriche(image, out, y1, y2):
    n = image.shape[0]
    for i in prange(n):
        ym1 = ym2 = xm1 = 0.0
        for j in range(n):
            y1[i, j] = 0.2 * image[i, j] - 0.1 * xm1 + 0.9 * ym1 - 0.3 * ym2
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in prange(n):
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in range(n - 1, -1, -1):
            y2[i, j] = 0.15 * xp1 - 0.05 * xp2 + 0.9 * yp1 - 0.3 * yp2
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in prange(n):
        for j in range(n):
            out[i, j] = y1[i, j] + y2[i, j]
    for j in prange(n):
        tm1 = ym1 = ym2 = 0.0
        for i in range(n):
            y1[i, j] = 0.2 * out[i, j] - 0.1 * tm1 + 0.9 * ym1 - 0.3 * ym2
            tm1 = out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]


def adi(u, v, p, q):
    n = u.shape[0]
    for _ in range(STEPS):
        for i in prange(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = 1.0
            for j in range(1, n - 1):
                p[i, j] = 0.3 / (-0.3 * p[i, j - 1] + 1.6)
                q[i, j] = (
                    0.2 * u[j, i - 1] + 0.6 * u[j, i] + 0.2 * u[j, i + 1] + 0.3 * q[i, j - 1]
                ) / (-0.3 * p[i, j - 1] + 1.6)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in prange(1, n - 1):
            u[i, 0] = 1.0
            for j in range(1, n - 1):
                u[i, j] = 0.2 * v[i - 1, j] + 0.6 * v[i, j] + 0.2 * v[i + 1, j]


@dataclass(frozen=True, slots=True)
class Program:
    """A loop nest, the ranks of its arrays, and its sizes: small and medium."""

    function: Callable[..., None]
    ranks: tuple[int, ...]
    sizes: tuple[int, int]
    dtype: str = "float64"

    @property
    def name(self) -> str:
        return self.function.__name__

    def arrays(self, size: int) -> list[NDArray[Any]]:
        """Numbers that are neither zero nor large; matrices with heavy diagonals."""
        found = []
        for number, rank in enumerate(self.ranks):
            count = size**rank
            values = (np.arange(count) * (number + 7) % 1013) / 1013
            array = values.reshape((size,) * rank)
            if self.dtype != "float64":
                array = np.arange(count).reshape((size,) * rank) % 4 if rank == 1 else array * 0
            elif rank == 2:
                array = (array + array.T) / 2 + np.eye(size) * size
            found.append(np.ascontiguousarray(array, self.dtype))
        return found

    def loops(self, prange: Any) -> Callable[..., None]:
        """The function with something else for `prange`."""
        assert isinstance(self.function, FunctionType)
        return FunctionType(
            self.function.__code__, {**self.function.__globals__, "prange": prange}, self.name
        )


MATRIX, FLAT, ROWS = (60, 300), (400, 4000), (100, 1000)
PROGRAMS = (
    Program(gemm, (2, 2, 2), MATRIX),
    Program(two_mm, (2, 2, 2, 2, 2), MATRIX),
    Program(atax, (2, 1, 1, 1), ROWS),
    Program(bicg, (2, 1, 1, 1, 1), ROWS),
    Program(mvt, (2, 1, 1, 1, 1), ROWS),
    Program(gesummv, (2, 2, 1, 1, 1), ROWS),
    Program(trisolv, (2, 1, 1), ROWS),
    Program(lu, (2, 2), MATRIX),
    Program(cholesky, (2, 2), MATRIX),
    Program(jacobi_1d, (1, 1), (2000, 200_000)),
    Program(jacobi_2d, (2, 2), ROWS),
    Program(seidel_2d, (2,), MATRIX),
    Program(heat_3d, (3, 3), (20, 80)),
    Program(fdtd_2d, (2, 2, 2), ROWS),
    Program(floyd_warshall, (2,), MATRIX),
    Program(nussinov, (2, 1), MATRIX, "int64"),
    Program(correlation, (2, 2, 1, 1), MATRIX),
    Program(covariance, (2, 2, 1), MATRIX),
    Program(doitgen, (3, 2, 3), (20, 60)),
    Program(deriche, (2, 2, 2, 2), ROWS),
    Program(adi, (2, 2, 2, 2), MATRIX),
)
