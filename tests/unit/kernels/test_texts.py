"""Texts that are computed, in errors and in what is printed; types that are asked for."""

# ruff: noqa: UP031, UP032 - every way to build a text is a case

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython

import fusewright as fw


class OwnError(Exception):
    """An exception of the program's own."""


@fw.kernel
def complaining(a, n, limit):
    for i in range(len(a)):
        if a[i] > limit:
            raise ValueError(
                f"too large: {a[i]:.3f} at {i} of {n} {{x}} {a[i]!r} {a.shape} {n > 2} {limit=}"
            )
    if n == 7:
        raise OwnError("n is {} and {b:>8.2f}".format(n, b=limit))
    if n == 8:
        raise KeyError("n is %d, %5.2f%% %s" % (n, limit, a[0]))
    if n == 9:
        raise IndexError("n = " + str(n))
    if n == 10:
        raise ValueError
    if n == 11:
        raise ValueError("plain {}")
    return n


@fw.kernel
def printing(x, n):
    print("a %d" % n, "{:.2f}".format(x), f"{x}", (n, x), "s" + str(n))


def told(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is
        return type(error), str(error)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
def test_texts_of_errors(dtype: str) -> None:
    a = np.array([0, 1]).astype(dtype)
    for n in (3, 7, 8, 9, 10, 11, np.int32(5)):
        for limit in (0.5, 2.5):
            wanted = told(complaining.__wrapped__, a, n, limit)
            for options in ({"target": "reference"}, {"check": True}, {}, {}):
                with fw.options(**options):
                    assert told(complaining, a, n, limit) == wanted


def test_texts_that_are_printed() -> None:
    same_as_cpython(printing, 1.5, 3)


@fw.kernel
def of_types(q, a):
    kind = type(q)
    is_number = isinstance(q, (int, float)) and not isinstance(q, np.ndarray)
    if isinstance(a[0], np.floating) and is_number:
        return kind(3) - q + kind(1), type(a[0])(2.5)
    return kind(1), np.float64(0)


@fw.kernel
def of_texts(x, kind):
    if kind == "call" or kind == None:  # noqa: E711
        return x
    if kind != "put":
        return -x
    return x + 5


@fw.kernel
def of_arrays(a):
    if isinstance(a, np.ndarray):
        return a[0]
    return a


def test_types() -> None:
    for q in (1, 2.5, np.float32(1.5)):
        for a in (np.ones(3), np.ones(3, np.int32)):
            same_as_cpython(of_types, q, a)
    same_as_cpython(of_texts, 1.0, 2.0)
    same_as_cpython(of_arrays, 1.0)
    same_as_cpython(of_arrays, np.ones(3))
