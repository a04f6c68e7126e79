"""The child of `latency.py`: in a fresh process, the time of a first call and of a second,
different one, as JSON.

    python first_calls.py fusewright|numexpr|numba|jax|torch

Importing the library and making the inputs is not counted; recording, compiling and computing is.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import peers

ELEMENTS = 100_000


def first(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return np.sqrt(a * a + b * b) * np.exp(-c) + np.where(d > 0, a, b)


def second(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return np.where(a < b, np.exp(c - d), a * b + c) / (np.sqrt(d * d + a * a) + abs(b))


TEXTS = (
    "sqrt(a*a + b*b) * exp(-c) + where(d > 0, a, b)",
    "where(a < b, exp(c - d), a * b + c) / (sqrt(d * d + a * a) + abs(b))",
)
Calls = list[Callable[[], Any]]


def fusewright(inputs: list[Any]) -> Calls:
    import fusewright as fw
    import fusewright.numpy as fnp

    arrays = [fw.asarray(values) for values in inputs]
    return [
        lambda: fw.evaluate(first(fnp, *arrays)),
        lambda: fw.evaluate(second(fnp, *arrays)),
    ]


def numexpr(inputs: list[Any]) -> Calls:
    library = peers.numexpr()
    names = dict(zip("abcd", inputs, strict=True))
    return [lambda: library.evaluate(TEXTS[0], names), lambda: library.evaluate(TEXTS[1], names)]


def numba(inputs: list[Any]) -> Calls:
    library = peers.numba()

    @library.njit(parallel=True)
    def one(a: Any, b: Any, c: Any, d: Any) -> Any:
        return np.sqrt(a * a + b * b) * np.exp(-c) + np.where(d > 0, a, b)

    @library.njit(parallel=True)
    def two(a: Any, b: Any, c: Any, d: Any) -> Any:
        return np.where(a < b, np.exp(c - d), a * b + c) / (np.sqrt(d * d + a * a) + np.abs(b))

    return [lambda: one(*inputs), lambda: two(*inputs)]


def jax(inputs: list[Any]) -> Calls:
    jnp = peers.jax().numpy
    return [
        peers.jitted(lambda *values: first(jnp, *values), *inputs),
        peers.jitted(lambda *values: second(jnp, *values), *inputs),
    ]


def torch(inputs: list[Any]) -> Calls:
    library = peers.torch()
    return [
        peers.torch_compiled(lambda *values: first(library, *values), *inputs),
        peers.torch_compiled(lambda *values: second(library, *values), *inputs),
    ]


LIBRARIES = {f.__name__: f for f in (fusewright, numexpr, numba, jax, torch)}


def main() -> None:
    inputs = [peers.normal((ELEMENTS,), "float64", seed) for seed in range(4)]
    taken = []
    for number, call in enumerate(LIBRARIES[sys.argv[1]](inputs)):
        start = time.perf_counter()
        value = call()
        taken.append(time.perf_counter() - start)
        want = (first, second)[number](np, *inputs)
        np.testing.assert_allclose(np.asarray(value), want, rtol=1e-10, atol=1e-12)
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
