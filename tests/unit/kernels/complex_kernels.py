"""Kernels of complex numbers, each a plain loop that CPython runs as well."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

import fusewright as fw

TURN = 0.6 - 0.8j
Array = Any


@fw.kernel
def arithmetic(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        z, w = a[i], b[i]
        c[i, 0] = z + w
        c[i, 1] = z - w * 2.0
        c[i, 2] = z * w
        c[i, 3] = z / w
        c[i, 4] = -z + +w
        c[i, 5] = z**2 - w**3
        c[i, 6] = z.conjugate() * np.conj(w)
        c[i, 7] = z * 1j + 3 - 0.5j * w


@fw.kernel
def parts(a: Array, x: Array) -> None:
    for i in range(a.shape[0]):
        z = a[i]
        x[i, 0] = z.real * z.imag
        x[i, 1] = abs(z) - abs(z.imag)
        x[i, 2] = np.real(z) + np.imag(z)
        x[i, 3] = z == a[0]
        x[i, 4] = z != a[0] and z != 0
        x[i, 5] = 1.0 if z else 0.0
        x[i, 6] = (z.real * 2).imag + cmath.phase(z)


@fw.kernel
def python_numbers(a: Array, z: complex, x: float) -> complex:
    total = 0j
    for i in range(a.shape[0]):
        w = complex(i, x)
        w = w * z / (w - 0.25j)
        w = w**2 * w**3 / (1 + z)
        total = total + w
        a[i] = w * TURN
    return total


@fw.kernel
def recurrence(a: Array, c: complex) -> Any:
    z = c
    count = 0
    for i in range(a.shape[0]):
        z = z * z + c
        if abs(z) > 2.0:
            z = z / 4
            count += 1
        a[i] = z
    return z, count


@fw.kernel
def updates(a: Array, b: Array, f: complex) -> None:
    for i in range(a.shape[0]):
        a[i] += b[i]
        a[i] *= f
        a[i] -= 1j
        a[i] /= 2.0
        b[i] = a[i] * b[i]
        b[i] *= a[i]


@fw.kernel
def swapped(a: Array) -> None:
    n = a.shape[0]
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i].conjugate(), a[i] * a[i]


@fw.kernel
def sums(a: Array) -> Any:
    s = 0
    p = 1
    for i in range(a.shape[0]):
        s += a[i]
        p = p * a[i]
    return s, p, s.real, abs(p)


@fw.kernel
def small_arrays(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        v = np.zeros(3, np.complex128)
        v[0] = a[i]
        v[1] = a[i] * 1j
        v[2] = v[0] * v[1]
        w = np.array((v[2], 1j, a[i]))
        t = v * w + 2.0
        b[i] = t[0] + t[1] + t[2]


@fw.kernel
def fourier(x: Array, f: Array, roots: Array) -> None:
    n = x.shape[0]
    for k in range(n):
        s = 0j
        for j in range(n):
            s += x[j] * roots[(j * k) % n]
        f[k] = s


@fw.kernel
def mandelbrot(c: Array, count: Array) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0j
            n = 0
            while n < 30 and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c[i, j]
                n += 1
            count[i, j] = n


@fw.kernel
def chosen(a: Array, b: Array, x: Array) -> None:
    for i in range(a.shape[0]):
        z = a[i] if x[i] > 0 else b[i].conjugate()
        if x[i] > 0.5:
            z = z * 2
        b[i] = z


@fw.kernel
def two_loops(a: Array, b: Array, c: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * a[i]
    for i in range(a.shape[0]):
        c[i] = b[i] + a[i].conjugate()


@fw.kernel
def stencil(a: Array, b: Array) -> None:
    for i in range(1, a.shape[0] - 1):
        b[i] = (a[i - 1] + a[i + 1]) * 0.5 - a[i] * 1j


@fw.kernel
def exponential(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = cmath.exp(a[i]) + np.exp(a[i])


@fw.kernel
def filled(a: Array, z: complex) -> None:
    a.fill(z)
    for i in range(a.shape[0]):
        a[i, 1:] = 0
        a[i, ::2] *= 1j
