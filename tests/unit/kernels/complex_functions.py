"""Kernels that call functions of complex numbers, and print them."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

import fusewright as fw

Array = Any


@fw.kernel
def functions(a: Array, b: Array, x: Array) -> None:
    for i in range(len(a)):
        z = a[i]
        b[i, 0] = cmath.sqrt(z)
        b[i, 1] = cmath.log(z)
        b[i, 2] = np.sqrt(z)
        b[i, 3] = np.log(z)
        b[i, 4] = cmath.log(z, 2.5)
        x[i, 0], x[i, 1] = cmath.polar(z)
        x[i, 2] = np.angle(z)
        x[i, 3] = np.abs(z)


@fw.kernel
def roots(a: Array, b: Array) -> None:
    for i in range(len(a)):
        b[i] = np.sqrt(a[i])


@fw.kernel
def logarithms(a: Array, b: Array) -> None:
    for i in range(len(a)):
        b[i] = np.log(a[i])


@fw.kernel
def whole_arrays(a: Array, b: Array, x: Array) -> None:
    b[:] = np.sqrt(a) + np.log(a) * 0.5j
    x[:] = np.angle(a) - np.abs(a)


@fw.kernel
def angles_of_reals(a: Array, x: Array) -> None:
    for i in range(len(a)):
        x[i] = np.angle(a[i])


@fw.kernel
def which_are_complex(a: Array, x: Array) -> int:
    count = 0
    for i in range(len(a)):
        if np.iscomplex(a[i]) and not np.isreal(a[i]):
            count += 1
    x[0] = np.iscomplex(a)
    x[1] = np.isreal(a)
    return count


@fw.kernel
def turned(r: Array, turn: Array, b: Array) -> None:
    for i in range(len(r)):
        b[i] = cmath.rect(r[i], turn[i])


@fw.kernel
def numpy_powers(a: Array, b: Array) -> None:
    for i in range(len(a)):
        z = a[i]
        b[i, 0], b[i, 1], b[i, 2], b[i, 3] = z**0, z**1, z**2, z**3
        b[i, 4], b[i, 5], b[i, 6], b[i, 7] = z**4, z**5, z**6.0, pow(z, 7)
        b[i, 8], b[i, 9] = z**50, z**99
        b[i, 10], b[i, 11], b[i, 12], b[i, 13] = z**-1, z**-2, z**-3, z**-99


@fw.kernel
def python_powers(a: Array, b: Array) -> None:
    for i in range(len(a)):
        z = complex(a[i])
        b[i, 0], b[i, 1], b[i, 2], b[i, 3] = z**0, z**1, z**2, z**3
        b[i, 4], b[i, 5], b[i, 6], b[i, 7] = z**4, z**5, z**6.0, pow(z, 7)
        b[i, 8], b[i, 9] = z**50, z**100
        b[i, 10], b[i, 11], b[i, 12], b[i, 13] = z**-1, z**-2, z**-3, z**-100


@fw.kernel
def shown(a: Array, x: Array, z: complex) -> None:
    for i in range(len(a)):
        print(a[i], x[i], i)
        print(f"{a[i]:.3f} {a[i]!r} {x[i]:.2f}", a[i] + 2)
        print(complex(a[i]), z, -z, 3j, complex(0.0, 1.0), sep=",")


@fw.kernel
def shown_without_arrays(x: Array) -> None:
    for i in range(len(x)):
        print(complex(x[i], 1.0), 2j, cmath.sqrt(-4.0))


@fw.kernel
def far_power(a: Array) -> None:
    for i in range(len(a)):
        a[i] = a[i] ** 100


@fw.kernel
def power_of_a_variable(a: Array, n: int) -> None:
    for i in range(len(a)):
        a[i] = a[i] ** n


@fw.kernel
def root_as_power(a: Array) -> None:
    for i in range(len(a)):
        a[i] = complex(a[i]) ** 0.5
