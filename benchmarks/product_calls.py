"""What one call of a small or middle product, or of three layers, takes: ours and NumPy's.

    OPENBLAS_NUM_THREADS=1 python benchmarks/product_calls.py [--seconds S]

CPU microseconds of one thread, the least of turns that alternate in one process.  `out` is NumPy
with `out=` for everything; ours allocates its results.  Some products are NumPy's for us, too
(`ir.products.is_compiled`).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from pairwise import least_cpu

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays.linalg import is_compiled

SHAPES = (
    (8, 1024), (128, 128), (128, 192), (128, 256), (256, 256), (512, 256), (1024, 128), (4096, 32),
    (4096, 64), (8192, 64), (16384, 32),
)  # fmt: skip
"""Rows, and the widths of all layers."""
Run = Callable[[], Any]


def numbers(*shape: int) -> Any:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def layers(np_: Any, x: Any, w: Any, b: Any) -> Any:
    """Three layers with ReLU."""
    for _ in range(3):
        x = np_.maximum(x @ w + b, 0)
    return x


def layers_into(rooms: Sequence[Any], x: Any, w: Any, b: Any) -> None:
    """The same, with NumPy's `out`."""
    for number in range(3):
        to = rooms[number % 2]
        np.matmul(x, w, out=to)
        to += b
        x = np.maximum(to, 0, out=to)


def line(rows: int, width: int, seconds: float) -> str:
    """One line of the table."""
    given = x, w, _ = numbers(rows, width), numbers(width, width), numbers(width)
    ours = [fw.asarray(each) for each in given]
    rooms = [np.zeros((rows, width), np.float32) for _ in range(2)]
    products: list[Run] = [
        lambda: fw.evaluate(ours[0] @ ours[1]),
        lambda: x @ w,
        lambda: np.matmul(x, w, out=rooms[0]),
    ]
    chains: list[Run] = [
        lambda: fw.evaluate(layers(fnp, *ours)),
        lambda: layers(np, *given),
        lambda: layers_into(rooms, *given),
    ]
    cells = [f"{rows}; {width}" + ("" if is_compiled(*ours[:2]) else " (NumPy's)")]
    for runs in (products, chains):
        times = [1e6 * each for each in least_cpu(runs, seconds, warm=40)]
        cells += [", ".join(f"{each:.0f}" for each in times), f"{times[2] / times[0]:.2f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0)
    seconds = parser.parse_args().seconds
    print(
        "| rows; width | product: ours, NumPy, out | ratio | 3 layers: ours, NumPy, out | ratio |"
    )
    print("|---|---|---|---|---|")
    for rows, width in SHAPES:
        print(line(rows, width, seconds), flush=True)


if __name__ == "__main__":
    with fw.options(threads=1):
        main()
