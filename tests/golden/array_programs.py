"""Small array programs, each a function of nothing to values that are still pending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import fusewright as fw
import fusewright.numpy as np


def array(*shape: int, dtype: str = "float64") -> Any:
    return fw.asarray(numpy.random.default_rng(0).random(shape).astype(dtype))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(x: Any) -> Any:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)


def heat(u: Any) -> Any:
    v = u.copy()
    v[1:-1, 1:-1] += 0.1 * (
        u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    )
    return v


def patched(a: Any) -> Any:
    v = a + 1
    v[::3] = 2
    return v


def counted(a: Any) -> Any:
    for k in range(6):
        a = a * 1.5 + float(k)
    return a


def masked(a: Any) -> Any:
    v = a * 2
    v[a > 0.5] = 0.0
    return v


def both(a: Any, b: Any) -> tuple[Any, ...]:
    return a + b, a * b


def mandelbrot(c: Any) -> Any:
    z = c
    for _ in range(3):
        z = z * z + c
    return np.abs(z)


ARRAYS: dict[str, Callable[[], Any]] = {
    "chain": lambda: np.sqrt(array(10) * 2.5 + 1) - np.inf,
    "one_operation": lambda: array(10) + array(10),
    "single_precision": lambda: array(10, dtype="float32") * 2 + 1,
    "integers": lambda: (np.arange(20) // 3).astype("uint8") << 1,
    "comparison": lambda: np.where(np.isnan(array(9)) | (array(9) > 0.5), array(9), np.nan),
    "complex": lambda: (array(5) * 1j + (2 - 3j)).sum(),
    "mandelbrot": lambda: mandelbrot(array(8) * 1j),
    "exponential": lambda: np.exp(-array(30)),
    "broadcast": lambda: array(6, 1) * array(1, 7) + array(7),
    "transposed": lambda: array(20, 30).T * 2,
    "strided": lambda: array(30, 40)[::2, ::-3] + 1,
    "reshaped": lambda: array(6, 4).reshape(4, 6).T.sum(axis=0),
    "windows": lambda: np.lib.stride_tricks.sliding_window_view(array(50), 3).sum(axis=1),
    "taken": lambda: array(50)[np.argsort(array(50))] * 2,
    "sum": lambda: array(100).sum(),
    "sum_of_product": lambda: (array(20, 30) * array(20, 30)).sum(axis=0),
    "least_and_where": lambda: (array(20, 30).argmin(axis=1), array(20, 30).max()),
    "softmax": lambda: softmax(array(20, 30)),
    "layer_norm": lambda: layer_norm(array(20, 30)),
    "scan": lambda: np.cumsum(array(20, 30), axis=1) * np.float32(2),
    "heat": lambda: heat(array(20, 30)),
    "two_heats": lambda: heat(heat(array(20, 30))),
    "patched": lambda: patched(array(20)),
    "masked": lambda: masked(array(20)),
    "rolled": lambda: np.roll(array(20, 30), 1, 0) + array(20, 30)[::-1],
    "joined": lambda: np.concatenate([array(20), array(30) * 2]) + 1,
    "repeated_step": lambda: counted(array(1000)),
    "two_results": lambda: both(array(10), array(10)),
    "library": lambda: (array(5, 5) @ array(5, 5)).max() + 1,
}
