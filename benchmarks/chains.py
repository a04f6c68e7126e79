"""Chains of products against NumPy, and against the same with fusing switched off, in one process.

    python benchmarks/chains.py [--seconds S] [group ...]

One thread: CPU seconds, the least of turns that alternate.  `numpy out` writes all that it computes
into arrays that were touched before; ours allocates its results.  Fused and unfused are compared
first, to the bit; NumPy's result within the error bound.  OpenBLAS chooses its kernels by the
processor's name; OPENBLAS_CORETYPE=SkylakeX names others, which may be better here.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import fusewright as fw
import fusewright.numpy as fnp

Array = Any
Run = Callable[[], Any]


class Row(NamedTuple):
    """One chain: its name, the program for arrays of ours, for NumPy's, and for NumPy's with `out`;
    multiplications and additions.
    """

    name: str
    ours: Run
    numpy: Run
    out: Run
    operations: int


def numbers(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def perceptron(rows: int, *widths: int) -> Row:
    """Products with a bias and ReLU between them."""
    x = numbers(rows, widths[0])
    weights = [numbers(k, n) / np.float32(k) ** 0.5 for k, n in pairwise(widths)]
    biases = [numbers(n) for n in widths[1:-1]]
    ours = [fw.asarray(each) for each in (x, *weights, *biases)]
    rooms = [np.zeros((rows, n), np.float32) for n in widths[1:]]

    def run(np_: Any, x: Array, *rest: Array) -> Array:
        weights, biases = rest[: len(widths) - 1], rest[len(widths) - 1 :]
        for w, b in zip(weights[:-1], biases, strict=True):
            x = np_.maximum(x @ w + b, 0)
        return x @ weights[-1]

    def out() -> Array:
        value = x
        for w, b, room in zip(weights[:-1], biases, rooms[:-1], strict=True):
            np.matmul(value, w, out=room)
            np.add(room, b, out=room)
            value = np.maximum(room, 0, out=room)
        return np.matmul(value, weights[-1], out=rooms[-1])

    operations = 2 * rows * sum(k * n for k, n in pairwise(widths))
    name = f"{rows}; {'-'.join(map(str, widths))} ReLU"
    return Row(
        name, lambda: run(fnp, *ours), lambda: run(np, x, *weights, *biases), out, operations
    )


def attention(heads: int, length: int, width: int) -> Row:
    """Softmax written out, float32."""
    q, k, v = (numbers(heads, length, width) for _ in range(3))
    ours = [fw.asarray(each) for each in (q, k, v)]
    scores, result = np.zeros((heads, length, length), np.float32), np.zeros_like(q)
    scale = np.float32(width**-0.5)

    def run(np_: Any, q: Array, k: Array, v: Array) -> Array:
        s = q @ k.swapaxes(1, 2) * scale
        e = np_.exp(s - s.max(axis=-1, keepdims=True))
        return (e / e.sum(axis=-1, keepdims=True)) @ v

    def out() -> Array:
        s = np.matmul(q, k.swapaxes(1, 2), out=scores)
        np.multiply(s, scale, out=s)
        np.subtract(s, s.max(axis=-1, keepdims=True), out=s)
        np.exp(s, out=s)
        np.divide(s, s.sum(axis=-1, keepdims=True), out=s)
        return np.matmul(s, v, out=result)

    operations = 4 * heads * length * length * width
    name = f"attention {heads}x{length}x{width}"
    return Row(name, lambda: run(fnp, *ours), lambda: run(np, q, k, v), out, operations)


def ridge(rows: int, points: int, width: int, results: int) -> Row:
    """`exp(-d2) @ w` with squared distances."""
    x, y, w = numbers(rows, width), numbers(points, width), numbers(points, results)
    ours = [fw.asarray(each) for each in (x, y, w)]
    room, result = np.zeros((rows, points), np.float32), np.zeros((rows, results), np.float32)
    half = np.float32(0.5 / width)

    def run(np_: Any, x: Array, y: Array, w: Array) -> Array:
        near = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * (x @ y.T)
        return np_.exp(near * -half) @ w

    def out() -> Array:
        np.matmul(x, y.T, out=room)
        np.multiply(room, -2, out=room)
        np.add(room, (x * x).sum(axis=1)[:, None], out=room)
        np.add(room, (y * y).sum(axis=1), out=room)
        np.multiply(room, -half, out=room)
        np.exp(room, out=room)
        return np.matmul(room, w, out=result)

    operations = 2 * rows * points * (width + results)
    name = f"kernel ridge {rows}x{points}, {width} to {results}"
    return Row(name, lambda: run(fnp, *ours), lambda: run(np, x, y, w), out, operations)


GROUPS: dict[str, Callable[[], list[Row]]] = {
    "narrow": lambda: [
        perceptron(65536, 32, 128, 32), perceptron(65536, 64, 256, 64),
        perceptron(32768, 128, 512, 128), perceptron(131072, 64, 64, 64, 64),
    ],
    "wide": lambda: [perceptron(8192, 256, 1024, 256), perceptron(4096, 768, 3072, 768)],
    "declined": lambda: [
        perceptron(128, 768, 3072, 768), perceptron(512, 1024, 1024, 1024),
        perceptron(8192, 4096, 16, 4096), perceptron(16, 768, 3072, 768),
    ],
    "softmax": lambda: [attention(8, 1024, 64), attention(2, 4096, 64), attention(16, 512, 64)],
    "distances": lambda: [ridge(20_000, 1000, 64, 32)],
}  # fmt: skip


def best(runs: dict[str, Run], seconds: float) -> dict[str, float]:
    """The least CPU seconds of each, in turns that alternate."""
    least = dict.fromkeys(runs, float("inf"))
    end = time.perf_counter() + seconds
    turns = 0
    while turns < 5 or time.perf_counter() < end:
        turns += 1
        for name, run in runs.items():
            began = time.thread_time()
            run()
            least[name] = min(least[name], time.thread_time() - began)
    return least


def measured(row: Row, seconds: float) -> str:
    """A line of the table."""

    def fused() -> Array:
        return np.asarray(row.ours())

    def unfused() -> Array:
        with fw.options(fuse=False):
            return np.asarray(row.ours())

    found, wanted = fused(), row.numpy()
    assert found.tobytes() == unfused().tobytes(), "fusing has changed bits"
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=1e-3 * abs(wanted).max())
    decisions = [
        decision
        for kernel in fw.explain(row.ours()).kernels
        if kernel.kind == "products"
        for decision in kernel.decisions
    ]
    said = next((d.why for d in decisions if d.fused), decisions[0].why if decisions else "NumPy's")
    runs = {"fused": fused, "unfused": unfused, "numpy": row.numpy, "out": row.out}
    least = best(runs, seconds)
    ours = least["fused"]
    speed = row.operations / ours * 1e-9
    ratios = " | ".join(f"{least[name] / ours:.2f}" for name in ("unfused", "out", "numpy"))
    return f"| {row.name} | {ours * 1e3:.2f} | {speed:.0f} | {ratios} | {said} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", default=list(GROUPS))
    parser.add_argument("--seconds", type=float, default=3.0)
    chosen = parser.parse_args()
    print("| rows; widths | ms | GFLOP/s | unfused | numpy out | numpy | decision |")
    print("|---|---|---|---|---|---|---|")
    with fw.options(threads=1):
        for group in chosen.groups:
            for row in GROUPS[group]():
                print(measured(row, chosen.seconds), flush=True)


if __name__ == "__main__":
    main()
