"""Kernels that draw NumPy's global random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def numbers(n: Any, k: Any) -> Any:
    np.random.seed(k)
    one = np.random.rand(), np.random.uniform(2, 5), np.random.randint(10), np.random.random()
    many = np.random.rand(n, 2), np.random.random_sample(n), np.random.uniform(-1, 1, (2, n))
    whole = np.random.randint(3, 9, n), np.random.randint(0, 2**40, size=n), np.random.randint(5)
    return one, many, whole, np.random.rand() - np.random.rand()


@fw.kernel
def orders(a: Any, n: Any, k: Any) -> Any:
    np.random.seed(k)
    b = a.copy()
    np.random.shuffle(b)
    mixed = np.random.permutation(n), np.random.permutation(a)
    some = np.random.choice(a, 5), np.random.choice(n, size=3, replace=False), np.random.choice(n)
    return b, mixed, some, np.random.choice(a), np.random.choice((7, 9, 11), 4)


@fw.kernel
def weighted(p: Any, k: Any) -> Any:
    np.random.seed(k)
    return np.random.choice(len(p), 20, True, p), np.random.choice(len(p), p=p)


@fw.kernel
def bells(n: Any, k: Any) -> Any:
    np.random.seed(k)
    one = np.random.randn(), np.random.normal(1.5, 2), np.random.exponential(3.0)
    return one, np.random.randn(n), np.random.normal(0, 2, n), np.random.standard_normal((2, n))


@fw.kernel
def going_on(out: Any) -> Any:
    """The generator's state is what was left."""
    for i in range(len(out)):
        if np.random.rand() < 0.5:
            out[i] = np.random.randint(100)
        else:
            out[i] = -np.random.rand()
    return np.random.rand()


@fw.kernel
def too_many(n: Any) -> Any:
    return np.random.choice(n, n + 1, replace=False)


@fw.kernel
def negative_seed(n: Any) -> None:
    np.random.seed(-n)


@fw.kernel
def rows(a: Any) -> None:
    np.random.shuffle(a)


@fw.kernel
def other(n: Any) -> Any:
    return np.random.poisson(3.0, n)
