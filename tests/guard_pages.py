"""Arrays that begin or end where memory does: who reads or writes one byte beside them is killed.

As a program it runs array statements on such arrays and says which it is about to run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from tests.edges import Array, at_the_edge
from tests.evaluators import begin

import fusewright as fw
import fusewright.numpy as fnp

STATEMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "columns turned": lambda np, x: np.concatenate((x[:, 1:], x[:, :1]), axis=1),
    "rows turned": lambda np, x: np.concatenate((x[1:], x[:1])),
    "a column": lambda np, x: x[:, -1] + x[:, 0],
    "columns reversed": lambda np, x: x[:, ::-1] + x,
    "rows reversed": lambda np, x: x[::-1] + x,
    "every other": lambda np, x: np.ravel(x)[::2] * 2,
    "every other, reversed": lambda np, x: np.ravel(x)[::-2] * 2,
    "shifted": lambda np, x: np.ravel(x)[1:] + np.ravel(x)[:-1],
    "rolled": lambda np, x: np.roll(x, 1, 1) + np.roll(x, -1, 0),
    "turned": lambda np, x: x.T + 1,
    "chosen": lambda np, x: np.where(x[:, :1] == x, x, -x),
    "sums of rows": lambda np, x: x.sum(1),
    "sums of columns": lambda np, x: x.sum(0),
    "the sum of a column": lambda np, x: x[:, 0].sum() + x[:, -1].sum(),
    "taken": lambda np, x: x[np.arange(len(x)) // 2],
}


def _swap(x: Any) -> None:
    x[:, 0] = x[:, -1] + 1


def _roll(x: Any) -> None:
    x[:, -1] = x[::-1, 0] * 2


def _border(x: Any) -> None:
    x[0], x[-1] = x[-1] + 1, x[0]


WRITES = (_swap, _roll, _border)


@fw.kernel
def _both(x, y):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        y[i] = x[i, 0] + x[i, x.shape[1] - 1]


@fw.kernel
def _each(x, y):  # type: ignore[no-untyped-def]
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            y[i] = y[i] * 2 + x[i, j]


@fw.kernel
def _turned(x, y):  # type: ignore[no-untyped-def]
    for i in range(1, x.shape[0]):
        y[i] = x[x.shape[0] - 1 - i, 0] + x[i - 1, 0]


KERNELS = {
    "both": (_both, lambda x, y: x[:, 0] + x[:, -1]),
    "each": (_each, lambda x, y: reduce(lambda z, column: z * 2 + column, x.T, y)),
    "turned": (_turned, lambda x, y: np.concatenate((y[:1], x[::-1, 0][1:] + x[:-1, 0]))),
}


def main() -> None:
    """Run every statement on every kind of array, at both ends, against NumPy."""
    for dtype in ("f8", "f4", "i2", "u1", "c16"):
        for columns in (1, 2, 3, 4, 5):
            for rows in (1, 3, 8, 61, 750):
                values = (np.arange(rows * columns) % 7).reshape(rows, columns).astype(dtype)
                for end, features in ((False, "auto"), (True, "auto"), (True, "avx2")):
                    print(dtype, values.shape, "end" if end else "start", features, flush=True)
                    with fw.options(small=0, interpret=False, threads=1, features=features):
                        _checked(values, end)


def _checked(values: Array, end: bool) -> None:
    begin()
    plain = at_the_edge(values, end)
    with fw.lazy():
        x: Any = fnp.asarray(plain)
        for name, statement in STATEMENTS.items():
            print("  ", name, flush=True)
            np.testing.assert_array_equal(np.asarray(statement(fnp, x)), statement(np, values))
        for write in WRITES:
            print("  ", write.__name__, flush=True)
            wanted = values.copy()
            write(wanted)
            x = fnp.asarray(at_the_edge(values, end))
            write(x)
            np.testing.assert_array_equal(np.asarray(x), wanted)
    for name, (kernel, meaning) in KERNELS.items():
        print("  ", name, flush=True)
        start = values[:, 0].copy()
        y = at_the_edge(start, end)
        kernel(plain, y)
        np.testing.assert_array_equal(y, meaning(values, start))


if __name__ == "__main__":
    main()
