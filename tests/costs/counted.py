"""Array programs whose costs are known by hand, and counting what one evaluation runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import profile
from fusewright.runtime.profile import KernelRecord

ROWS, COLUMNS = 520, 300
WHOLE = ROWS * COLUMNS * 8
"""Bytes of one (ROWS, COLUMNS) array of float64."""


@dataclass(frozen=True, slots=True)
class Program:
    """`run` gets (namespace, four arrays).  It should be one kernel that reads `read` and writes
    `written` bytes; one step at a time it is at least `steps` kernels.
    """

    run: Callable[..., Any]
    read: int
    written: int
    steps: int


def expression(np: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return np.sqrt(a * a + b * b) * np.exp(-c) + np.where(d > 0, a, b)


def softmax(np: Any, a: Any, *_: Any) -> Any:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(np: Any, a: Any, *_: Any) -> Any:
    return (a - a.mean(axis=1, keepdims=True)) / np.sqrt(a.var(axis=1, keepdims=True) + 1e-5)


def heat_step(np: Any, a: Any, *_: Any) -> Any:
    u = a * 1.0
    u[1:-1, 1:-1] += 0.1 * (
        u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    )
    return u


def chain(np: Any, a: Any, b: Any, *_: Any) -> Any:
    z = a
    for k in range(10):
        z = z * b + float(k)
    return z


PROGRAMS = {
    "E": Program(expression, 4 * WHOLE, WHOLE, 8),
    "E.sum": Program(lambda *v: expression(*v).sum(), 4 * WHOLE, 8, 9),
    "chain of 20": Program(chain, 2 * WHOLE, WHOLE, 20),
    "softmax": Program(softmax, WHOLE, WHOLE, 4),
    "layer norm": Program(layer_norm, WHOLE, WHOLE, 5),
    "heat step": Program(heat_step, WHOLE, WHOLE, 5),
    "roll and flip": Program(
        lambda np, a, b, *_: np.roll(a, 1, 0) + np.roll(a, -1, 1) * b[::-1], 2 * WHOLE, WHOLE, 2
    ),
    "row sums": Program(lambda np, a, b, *_: (a * b).sum(axis=1), 2 * WHOLE, ROWS * 8, 2),
    "column sums": Program(lambda np, a, b, *_: (a * b).sum(axis=0), 2 * WHOLE, COLUMNS * 8, 2),
    "scan between maps": Program(
        lambda np, a, *_: np.cumsum(a * 2, axis=1) + 1, WHOLE, WHOLE, 3
    ),
    "several outputs": Program(lambda np, a, b, *_: (a + b, a * b, a - b), 2 * WHOLE, 3 * WHOLE, 3),
}  # fmt: skip


def arrays(rows: int = ROWS, columns: int = COLUMNS) -> list[Any]:
    generator = np.random.default_rng(1)
    return [fw.asarray(generator.standard_normal((rows, columns))) for _ in range(4)]


def evaluated(function: Callable[..., Any], inputs: list[Any]) -> list[Any]:
    made = function(fnp, *inputs)
    results = list(made) if isinstance(made, tuple) else [made]
    fw.evaluate(*results)
    return results


def kernels(function: Callable[..., Any], inputs: list[Any]) -> list[KernelRecord]:
    """What one evaluation ran."""
    with profile.listen() as record:
        evaluated(function, inputs)
    assert not record.opaque, [step.name for step in record.opaque]
    return record.kernels
