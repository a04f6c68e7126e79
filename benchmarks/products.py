"""Products of matrices against NumPy's BLAS, in one process.

    python benchmarks/products.py [--avx2] [--seconds S] [group ...]

On as many threads as OPENBLAS_NUM_THREADS says, otherwise one.  One thread: CPU seconds; more: wall
seconds; the least of turns that alternate.  Both write into memory that was touched before
(`out=`).  Results are compared first, within the error bound of both.  OpenBLAS chooses its kernels
by the processor's name; OPENBLAS_CORETYPE=SkylakeX names others, which may be better here.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import fusewright as fw
from fusewright.ir.products import depth
from fusewright.targets.cpu.products import product

THREADS = os.environ["OPENBLAS_NUM_THREADS"]
Row = tuple[str, tuple[int, ...], tuple[int, ...]]
"""Layouts, and the shapes of the operands."""


def square(n: int, layout: str = "nn") -> Row:
    """Two n x n matrices; `t` is a transposed one."""
    return layout, (n, n), (n, n)


GROUPS: dict[str, list[Row]] = {
    "square": [square(n) for n in (256, 384, 512, 768, 1000, 1024, 1536, 2048, 3000, 4096)],
    "transposed": [square(n, layout) for n in (256, 1024) for layout in ("tn", "nt", "tt")],
    "oblong": [
        ("nn", (65536, 64), (64, 256)), ("nn", (4096, 768), (768, 3072)),
        ("nn", (4096, 3072), (3072, 768)), ("nn", (128, 768), (768, 3072)),
        ("nn", (1024, 16384), (16384, 1024)),
    ],
    "skinny": [
        ("nn", (32, 100_000), (100_000, 32)), ("tn", (32, 100_000), (100_000, 32)),
        ("nn", (100_000, 32), (32, 32)), ("nn", (4096, 4096), (4096, 8)),
        ("nt", (16, 2048), (2048, 2048)), ("nn", (8, 4096), (4096, 4096)),
        ("nn", (1, 4096), (4096, 4096)), ("nt", (1, 4096), (4096, 4096)),
    ],
    "batched": [
        ("nn", (max(2_000_000 // n**3, 200), n, n), (max(2_000_000 // n**3, 200), n, n))
        for n in (3, 4, 8, 16, 32, 64)
    ],
}  # fmt: skip


def core() -> str:
    """The kernels that OpenBLAS has chosen."""
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    for path in folder.glob("libscipy_openblas64_*"):
        function = ctypes.CDLL(str(path)).scipy_openblas_get_corename64_
        function.restype = ctypes.c_char_p
        return str(function().decode())
    return "unknown"


def operands(row: Row, dtype: Any) -> list[Any]:
    """Random ones in the layouts of a row."""
    rng = np.random.default_rng(0)
    layout, *shapes = row
    made = []
    for letter, shape in zip(layout, shapes, strict=True):
        if letter == "t":
            shape = (*shape[:-2], shape[-1], shape[-2])
        values = rng.standard_normal(shape, np.float32).astype(dtype)
        made.append(values.swapaxes(-1, -2) if letter == "t" else values)
    return made


def timed(call: Callable[[], object], clock: Callable[[], float], times: int) -> float:
    """Seconds of one call."""
    start = clock()
    for _ in range(times):
        call()
    return (clock() - start) / times


def raced(row: Row, dtype: Any, seconds: float) -> tuple[float, float]:
    """Seconds of ours and of NumPy's."""
    a, b = operands(row, dtype)
    ours, theirs = (np.empty((*a.shape[:-1], b.shape[-1]), dtype) for _ in range(2))

    def call() -> None:
        product(a, b, ours)

    def peer() -> None:
        np.matmul(a, b, out=theirs)

    call()
    peer()
    bound = (depth(a.shape[-1]) + a.shape[-1]) * np.finfo(dtype).eps * (np.abs(a) @ np.abs(b))
    assert np.all(np.abs(ours - theirs) <= bound), "results differ by more than rounding"
    clock = time.thread_time if THREADS == "1" else time.perf_counter
    times = max(int(1e-3 / max(timed(peer, clock, 3), 1e-7)), 1)
    best, end, turns = [np.inf, np.inf], time.perf_counter() + seconds, 0
    while turns < 5 or time.perf_counter() < end:
        for place, function in enumerate((call, peer)):
            best[place] = min(best[place], timed(function, clock, times))
        turns += 1
    return best[0], best[1]


def main() -> None:
    """Print a table for each dtype."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--avx2", action="store_true", help="ours without AVX-512")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row and dtype")
    parser.add_argument("groups", nargs="*", default=list(GROUPS))
    chosen = parser.parse_args()
    features = "avx2" if chosen.avx2 else "auto"
    with fw.options(features=features, threads=int(THREADS)):
        print(f"{THREADS} thread(s), ours {features}, OpenBLAS {core()}; GFLOP/s\n")
        print("| | shapes | float32 ours | BLAS | ratio | float64 ours | BLAS | ratio |")
        print("|---|---|---|---|---|---|---|---|")
        for group in chosen.groups:
            for row in GROUPS[group]:
                cells = []
                for dtype in (np.float32, np.float64):
                    ours, theirs = raced(row, dtype, chosen.seconds)
                    flops = 2e-9 * np.prod(row[1], dtype=float) * row[2][-1]
                    rates = f"{flops / ours:.1f} | {flops / theirs:.1f}"
                    cells.append(f"{rates} | {theirs / ours:.2f}")
                shapes = " @ ".join("x".join(map(str, shape)) for shape in row[1:])
                print(f"| {group} {row[0]} | {shapes} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
