"""The nest `c[i, j] += a[i, k] * b[k, j]` in all orders of its loops, as people write it under a
compiler's decorator: ours, Numba's code for the same function, and NumPy's product of the same
matrices (fused multiply-adds in an order of its own); and `a @ b` inside a kernel.

All on one thread, processor time; ours and Numba's give the same bits.
"""

from __future__ import annotations

import itertools
import linecache
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import peers
from report import milliseconds, start

import fusewright as fw

SIZES = (64, 256, 1024)
ORDERS = tuple(map("".join, itertools.permutations("ijk")))
EXTENTS = {"i": "c.shape[0]", "j": "c.shape[1]", "k": "a.shape[1]"}
SECONDS, LONGEST = 0.2, 3.0


def nest(order: str) -> Callable[..., None]:
    """The function whose loops stand in this order."""
    lines = [f"def nest_{order}(a, b, c):"]
    for depth, name in enumerate(order, 1):
        lines.append(f"{'    ' * depth}for {name} in range({EXTENTS[name]}):")
    lines.append(f"{'    ' * 4}c[i, j] += a[i, k] * b[k, j]")
    path, text = f"<nest {order}>", "\n".join(lines) + "\n"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    scope: dict[str, Any] = {}
    exec(compile(text, path, "exec"), scope)
    return scope[f"nest_{order}"]  # type: ignore[no-any-return]


def product(a: Any, b: Any, c: Any) -> None:
    c[:] = a @ b


def least(function: Callable[..., Any], *arguments: Any) -> float:
    """Processor time of one call, the least of many."""
    function(*arguments)
    found, spent, began = [], 0.0, time.perf_counter()
    while spent < SECONDS and time.perf_counter() - began < LONGEST:
        start_ = time.process_time()
        function(*arguments)
        found.append(time.process_time() - start_)
        spent += found[-1]
    return min(found)


def main() -> int:
    """Run and compare."""
    numba = peers.numba()
    report = start("product_nests", __doc__ or "")
    table = report.section(
        "Least processor times (ms), one thread", "type", "n", "loops", "ours", "Numba", "NumPy",
        "ours, GFLOP/s", "Numba / ours", "NumPy / ours",
    )  # fmt: skip
    slower, same = 0, True
    for dtype, n in itertools.product((np.float32, np.float64), SIZES):
        rng = np.random.default_rng(n)
        a, b = (rng.random((n, n)).astype(dtype) for _ in range(2))
        numpys = least(np.matmul, a, b)
        for order in (*ORDERS, "a @ b"):
            function = product if order == "a @ b" else nest(order)
            ours, c = fw.kernel(function), np.zeros((n, n), dtype)
            ours(a, b, c)
            wanted, theirs = c.copy(), float("nan")
            if numba is not None and function is not product:
                compiled = numba.njit(function)
                wanted = np.zeros_like(c)
                compiled(a, b, wanted)
                same &= wanted.tobytes() == c.tobytes()
                theirs = least(compiled, a, b, wanted)
            mine = least(ours, a, b, c)
            slower += theirs < mine
            table.add(
                np.dtype(dtype).name, str(n), order, milliseconds(mine), milliseconds(theirs),
                milliseconds(numpys), f"{2 * n**3 / mine / 1e9:.1f}", f"{theirs / mine:.2f}×",
                f"{numpys / mine:.2f}×",
            )  # fmt: skip
    total = len(ORDERS) * 2 * len(SIZES)
    report.claim("slower than Numba", "0", f"{slower} of {total}", not slower)
    report.claim("the same bits as Numba's", "all", "all" if same else "not all", same)
    return report.finish()


if __name__ == "__main__":
    with fw.options(threads=1, interpret=False, background=False):
        raise SystemExit(main())
