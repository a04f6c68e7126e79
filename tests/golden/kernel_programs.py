"""Small kernels of loops, each with the arguments it is called with.

A name of a kernel here is nobody else's: no other test has compiled it before.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np

import fusewright as fw
import fusewright.bridges.pykokkos as pk


def golden_scale(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0


def golden_chain(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0 + 1.0
    for i in range(a.shape[0]):
        c[i] = b[i] * a[i]


def golden_unequal(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
    for i in range(1, a.shape[0] - 1):
        c[i] = b[i] + a[i]


def golden_stencils(a, b, c):
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
    for i in range(2, a.shape[0] - 2):
        c[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1]


def golden_sum(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
    return s


def golden_least(a):
    least, place = a[0], 0
    for i in range(a.shape[0]):
        if a[i] < least:
            least, place = a[i], i
    return least, place


def golden_running(a, b):
    s = 0
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s


def golden_recurrence(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] + 0.5 * a[i - 1]


def golden_rows(m, x, y):
    for i in range(m.shape[0]):
        s = 0.0
        for j in range(m.shape[1]):
            s += m[i, j] * x[j]
        y[i] = s


def golden_product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def golden_branches(a, b):
    for i in range(a.shape[0]):
        if a[i] > 0.5:
            b[i] = exp(a[i])
        else:
            b[i] = 0.0


def golden_histogram(bins, places):
    for i in range(places.shape[0]):
        bins[places[i]] += 1.0


def golden_gather(a, places, b):
    for i in range(places.shape[0]):
        b[i] = a[places[i]]


def golden_while(a):
    n = 0
    x = a[0]
    while x > 0.001:
        x *= 0.5
        n += 1
    return n


def golden_array_statement(a, b):
    b[:] = a * 2.0 + 1.0
    return np.sum(b)


def golden_complex(z, out):
    for i in range(z.shape[0]):
        out[i] = z[i] * z[i] + 1.0


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(0).random(shape)


def _of(count: int, size: int = 100) -> list[Any]:
    return [_numbers(size) for _ in range(count)]


def _places() -> Any:
    return np.arange(100) * 7 % 100


KERNELS: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {
    "scale": (golden_scale, lambda: _of(2)),
    "chain_of_loops": (golden_chain, lambda: _of(3)),
    "unequal_loops": (golden_unequal, lambda: _of(3)),
    "stencils": (golden_stencils, lambda: _of(3)),
    "sum_in_a_loop": (golden_sum, lambda: _of(1)),
    "least": (golden_least, lambda: _of(1)),
    "running_sum": (golden_running, lambda: [np.arange(100), np.arange(100)]),
    "recurrence": (golden_recurrence, lambda: _of(1)),
    "rows_times_vector": (golden_rows, lambda: [_numbers(20, 30), _numbers(30), _numbers(20)]),
    "product": (golden_product, lambda: [_numbers(9, 9), _numbers(9, 9), _numbers(9, 9)]),
    "branches": (golden_branches, lambda: _of(2)),
    "histogram": (golden_histogram, lambda: [_numbers(100), _places()]),
    "gather": (golden_gather, lambda: [_numbers(100), _places(), _numbers(100)]),
    "while": (golden_while, lambda: _of(1)),
    "array_statement": (golden_array_statement, lambda: _of(2)),
    "complex_loop": (golden_complex, lambda: [_numbers(50) * 1j, _numbers(50) * 1j]),
}


@pk.workunit
def golden_unit(i, a, b, out):
    out[i] = a[i] / (b[i] + 2.0)


@pk.workunit
def golden_total(i, acc, a):
    acc += a[i]


def parallel_for() -> Any:
    a, b = _of(2)
    out = pk.View([100], pk.double)
    pk.parallel_for(100, golden_unit, a=a, b=b, out=out)
    return np.asarray(out)


def parallel_reduce() -> Any:
    return pk.parallel_reduce(100, golden_total, a=_numbers(100))


def between_statements() -> Any:
    """A kernel between array statements: one group, or array operations."""
    x = fw.asarray(_numbers(100))
    y = x * 2.0
    z = fw.asarray(np.zeros(100))
    fw.kernel(golden_unequal)(x, y, z)
    return z + y


DOORS: dict[str, Callable[[], Any]] = {
    "parallel_for": parallel_for,
    "parallel_reduce": parallel_reduce,
    "between_statements": between_statements,
}
"""Kernels that come in otherwise than by a plain call."""
