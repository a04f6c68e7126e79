"""Programs as a stranger writes them: rows and whole arrays."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(5)
floats, ints = numbers.reals, numbers.below


@fw.func
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@fw.func
def cross(a, b, out):
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@fw.kernel
def triangles(v, faces, normals, areas):
    for f in range(len(faces)):
        i, j, k = faces[f]
        cross(v[j] - v[i], v[k] - v[i], normals[f])
        areas[f] = 0.5 * math.sqrt(dot3(normals[f], normals[f]))


@fw.kernel
def triangles2(v, faces, areas):
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        a = v[j] - v[i]
        b = v[k] - v[i]
        areas[f] = math.sqrt(dot3(a, a) * dot3(b, b) - dot3(a, b) ** 2)


@fw.kernel
def matvec(a, x, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j, v in enumerate(a[i]):
            s += v * x[j]
        y[i] = s
    for i in range(len(y)):
        y[i] += np.sum(a[i] * x)


@fw.kernel
def matmul(a, b, c):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i] += a[i, k] * b[k]


@fw.kernel
def jacobi(a, b, x, new, sweeps):
    for _ in range(sweeps):
        for i in range(len(x)):
            new[i] = (b[i] - (a[i] * x).sum() + a[i, i] * x[i]) / a[i, i]
        x[:] = new


@fw.kernel
def rk4(y, k1, k2, k3, k4, dt, n):
    for _ in range(n):
        k1[:] = -y
        k2[:] = -(y + 0.5 * dt * k1)
        k3[:] = -(y + 0.5 * dt * k2)
        k4[:] = -(y + dt * k3)
        y += dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


@fw.kernel
def euler_norm(x, out):
    for i in range(len(x)):
        out[i] = np.sqrt((x[i] ** 2).sum())
        if out[i] > 0:
            x[i] /= out[i]


@fw.kernel
def running_max(a, out):
    out[0] = a[0]
    for i in range(1, len(a)):
        out[i] = max(out[i - 1], a[i])
    return a.max(), a.min(), int(a[a.shape[0] // 2 :].sum())


@fw.kernel
def gather(a, idx, out):
    for k, i in enumerate(idx):
        out[k] = a[i]
        out[k] += a[idx[-1]] * 0.5


@fw.kernel
def scatter(a, idx, out):
    for k in range(len(idx)):
        out[idx[k]] += a[k]


@fw.kernel
def insertion_sort(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


@fw.kernel
def find_row(a, key):
    for i in range(len(a)):
        if np.all(a[i] == key):
            return i
    return -1


@fw.kernel
def threshold(a, out, low, high):
    out[:] = 0
    out += (a > low) & (a < high)
    mask = a > high
    out[:] = np.where(mask, 2, out)
    return np.sum(mask), np.any(mask), np.all(~mask)


@fw.kernel
def finite_difference(f, x, df):
    df[0] = (f[1] - f[0]) / (x[1] - x[0])
    df[1:-1] = (f[2:] - f[:-2]) / (x[2:] - x[:-2])
    df[-1] = (f[-1] - f[-2]) / (x[-1] - x[-2])


@fw.kernel
def trapezoid(f, x):
    return np.sum(0.5 * (f[1:] + f[:-1]) * (x[1:] - x[:-1]))


@fw.kernel
def cumulative(a, out):
    total = np.zeros(3)
    for i in range(len(a)):
        total += a[i]
        out[i] = total


@fw.kernel
def batch_norm(x, gamma, beta, out):
    for c in range(x.shape[1]):
        m = x[:, c].mean()
        v = ((x[:, c] - m) ** 2).mean()
        out[:, c] = (x[:, c] - m) / np.sqrt(v + 1e-5) * gamma[c] + beta[c]


@fw.kernel
def pad(a, out):
    out[:] = 0
    out[1:-1, 1:-1] = a
    out[0, 1:-1] = a[0]
    out[-1, 1:-1] = a[-1]
    out[:, 0] = out[:, 1]
    out[:, -1] = out[:, -2]


@fw.kernel
def pool(a, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max()


@fw.kernel
def pool2(a, out):
    out[:] = np.maximum(
        np.maximum(a[::2, ::2], a[1::2, ::2]), np.maximum(a[::2, 1::2], a[1::2, 1::2])
    )


@fw.kernel
def fdtd(ex, ey, hz, steps):
    for _ in range(steps):
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@fw.kernel
def adi(u, v, p, q, a, b):
    n = len(u)
    for i in range(1, n - 1):
        v[0, i] = 1.0
        p[i, 0] = 0.0
        q[i, 0] = v[0, i]
        for j in range(1, n - 1):
            p[i, j] = -a / (a * p[i, j - 1] + b)
            q[i, j] = (u[j, i - 1] - a * q[i, j - 1]) / (a * p[i, j - 1] + b)
        v[-1, i] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]


@fw.kernel
def covariance(data, cov):
    n = data.shape[0]
    for j in range(data.shape[1]):
        data[:, j] -= data[:, j].mean()
    for i in range(data.shape[1]):
        for j in range(i, data.shape[1]):
            cov[i, j] = (data[:, i] * data[:, j]).sum() / (n - 1.0)
            cov[j, i] = cov[i, j]


@fw.kernel
def nussinov(table, seq):
    n = len(seq)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j - 1], table[i + 1, j] if i + 1 < n else 0)
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + (seq[i] + seq[j] == 3))
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


@fw.kernel
def complex_rows(z, w):
    w[:] = z * w + 1j
    w -= z.real
    w[:] = np.conj(w) / (z + 2)
    w *= w


@fw.kernel
def vector_field(p, out):
    for i in range(len(p)):
        x, y = p[i]
        v = fw.vector(x * x - y, y * y + x)
        out[i, :] = v / (1 + (v * v).sum())


@fw.kernel
def local_matrices(points, out):
    rot = np.array(((0.6, -0.8), (0.8, 0.6)))
    for i in range(len(points)):
        v = fw.local(2)
        for r in range(2):
            v[r] = sum(rot[r, c] * points[i, c] for c in range(2))
        out[i] = v + points[i] * 0.5
        out[i] += rot[0] - rot[:, 1]


class Grid(NamedTuple):
    u: Any
    h: float

    def lap(self, out):
        out[1:-1] = (self.u[2:] - 2 * self.u[1:-1] + self.u[:-2]) / self.h**2


@fw.kernel
def grid(g, out):
    g.lap(out)
    for i, x in enumerate(out[1:-1]):
        g.u[i + 1] += 0.1 * x


@fw.kernel
def sobel(a, out):
    gx = a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:] - a[:-2, :-2] - 2 * a[1:-1, :-2] - a[2:, :-2]
    gy = a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:] - a[:-2, :-2] - 2 * a[:-2, 1:-1] - a[:-2, 2:]
    out[1:-1, 1:-1] = np.sqrt(gx * gx + gy * gy)


@fw.kernel
def median3(a, out):
    for i in range(1, len(a) - 1):
        x, y, z = a[i - 1 : i + 2][0], a[i], a[i + 1]
        out[i] = max(min(x, y), min(max(x, y), z))


@fw.kernel
def parity(bits, out):
    for i in range(len(bits)):
        out[i] = np.sum(bits[i] & 1) % 2
        bits[i] ^= 3
        bits[i] <<= 1
    return bits.sum(), np.dot(bits[0], bits[1])


@fw.kernel
def mix(a, i8, f32):
    f32[:] = f32 * 0.1 + i8
    i8[:] = i8 * 3
    i8 += 5
    a[:] = f32
    a /= i8 + 0.5
    f32 -= a[0]


@fw.kernel
def queue(a, x):
    for v in x:
        a[1:] = a[:-1]
        a[0] = v


@fw.kernel
def ring(a, out):
    out[1:] = a[:-1]
    out[0] = a[-1]
    out[:] = out - a[::-1]


def positive(*s):
    return abs(floats(*s))


CASES: dict[Any, tuple[Any, ...]] = {
    triangles: (floats(6, 3), ints(6, 5, 3), np.zeros((5, 3)), np.zeros(5)),
    triangles2: (floats(6, 3), ints(6, 5, 3), np.zeros(5)),
    matvec: (floats(5, 20), floats(20), np.zeros(5)),
    matmul: (floats(5, 6), floats(6, 20), np.zeros((5, 20))),
    jacobi: (floats(6, 6) + 9 * np.eye(6), floats(6), np.zeros(6), np.zeros(6), 4),
    rk4: (floats(20), *(np.zeros(20) for _ in range(4)), 0.1, 3),
    euler_norm: (floats(5, 7), np.zeros(5)),
    running_max: (floats(20), np.zeros(20)),
    gather: (floats(6, 4), ints(6, 9), np.zeros((9, 4))),
    scatter: (floats(9, 4), ints(6, 9), np.zeros((6, 4))),
    insertion_sort: (floats(20),),
    find_row: (np.eye(5), np.eye(5)[3]),
    threshold: (floats(30), np.zeros(30, int), -0.5, 0.8),
    finite_difference: (floats(20), np.cumsum(positive(20)), np.zeros(20)),
    trapezoid: (floats(20), np.cumsum(positive(20))),
    cumulative: (floats(9, 3), np.zeros((9, 3))),
    batch_norm: (floats(20, 4), floats(4), floats(4), np.zeros((20, 4))),
    pad: (floats(5, 6), np.zeros((7, 8))),
    pool: (floats(8, 10), np.zeros((4, 5))),
    pool2: (floats(8, 10), np.zeros((4, 5))),
    fdtd: (floats(9, 10), floats(9, 10), floats(9, 10), 3),
    adi: (floats(9, 9), floats(9, 9), floats(9, 9), floats(9, 9), 0.3, 2.0),
    covariance: (floats(12, 4), np.zeros((4, 4))),
    nussinov: (np.zeros((9, 9), int), ints(4, 9)),
    complex_rows: (floats(9) + 1j * floats(9), floats(9) + 0j),
    vector_field: (floats(9, 2), np.zeros((9, 2))),
    local_matrices: (floats(9, 2), np.zeros((9, 2))),
    grid: (Grid(floats(20), 0.3), np.zeros(20)),
    sobel: (floats(9, 10), np.zeros((9, 10))),
    median3: (floats(20), np.zeros(20)),
    parity: (ints(9, 5, 7), np.zeros(5, int)),
    mix: (floats(20), ints(20, 20).astype(np.int8), floats(20).astype(np.float32)),
    queue: (floats(9), floats(5)),
    ring: (floats(20), np.zeros(20)),
}


@fw.kernel
def unpack(pts, out):
    for k, (x, y) in enumerate(pts):
        out[k] = x * y
    for x, y in pts:
        out[0] += x - y
    (a, b), c = pts[0], 3
    out[1] = a + b + c
    p, q = pts[1] * 2
    out[2] = p * q
    pts[0] = out[2], 7
    pts[1, :] = [k * 0.5 for k in range(2)]
    pts[2, ::-1] = pts[1, 1], pts[1, 0]
    m = np.array(((1.0, 2.0), (3.0, 4.0)))
    out[3] = m.T[0, 1] + (m.T + m)[0, 1]


CASES[unpack] = (floats(5, 2), np.zeros(5))
