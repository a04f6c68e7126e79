"""Numba: compiled functions with arrays in and out, written into, and calling one another."""

import math

import numba
import numpy as np
from numba import njit, prange, vectorize


@njit
def square(v):
    return v * v


@njit
def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += square(x[i]) + math.sin(x[i]) + np.sqrt(x[i])
    return s


@numba.jit(nopython=True)
def fill(x, value):
    for i in range(x.size):
        x[i] = value + i


@njit(cache=False, parallel=False)
def make(n):
    out = np.zeros(n)
    for i in prange(n):
        out[i] = i * np.pi
    return out + np.arange(n).sum()


@vectorize
def clipped(a, b):
    return a if a < b else b


x = np.arange(1000.0)
print(round(total(x), 6), round(total(x * 2), 6))
fill(x, 3.0)
print(x.sum(), make(700).sum().round(4), (make(700) * 2).mean().round(4))
print(clipped(x, 500.0).sum(), total.py_func(x).round(6))
grid = np.zeros((30, 40))


@njit
def relax(u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 1.0 + 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


for _ in range(5):
    relax(grid)
print(grid.sum().round(8))
