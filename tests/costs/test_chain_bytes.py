"""The bytes that a chain of products is said to read and write are those its steps touch: every
block's operands are added up, those in the thread's scratch left out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
from tests.properties.random_chains import small_ones

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.codegen.products.sizes import PANEL_WORDS
from fusewright.frontends.arrays.linalg import matmul
from fusewright.ir.dtypes import FLOAT32
from fusewright.runtime.profile import KernelRecord, listen
from fusewright.targets.cpu import chains, products
from fusewright.targets.cpu.row_blocks import Place, Window

Touched = set[tuple[int, int]]
"""Addresses and lengths."""
X, W, V, B = (
    np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    for shape in ((130, 20), (20, 30), (30, 17), (30,))
)
PROGRAMS: dict[str, Callable[..., Any]] = {
    "perceptron": lambda x, w, v, b: matmul(fnp.maximum(matmul(x, w) + b, 0), v),
    "softmax": lambda x, w, v, b: matmul(
        (lambda e: e / e.sum(axis=1, keepdims=True))(fnp.exp(matmul(x, w))), v
    ),
    "residual": lambda x, w, v, b: x - fnp.tanh(matmul(matmul(x + 1, w), w.T)),
}


class Counting:
    """What one run of a segment touches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: Touched = set()
        self.written: Touched = set()
        self.kept = 0
        calls, block = chains.SegmentRun.calls, chains.SegmentRun.block
        launch = chains.SegmentRun.launch
        windows: list[tuple[Window, int, int]] = []

        def noted(made: Any, node: Any, dim: int, rows: int) -> Window:
            window = block(made, node, dim, rows)
            windows.append((window, rows, node.dtype.itemsize))
            return window

        def counted(made: Any, whole: Any, last: Any, blocks: int, threads: int) -> None:
            rows, total = made.rows, made.segment.region.rows
            for number in range(blocks):
                here = min(rows, total - number * rows)
                for window, count, size in windows:
                    if count == here:
                        nbytes = prod(window.shape) * size
                        self.note(self.read, made, window.place, number, nbytes)
                for step in last if number == blocks - 1 else whole:
                    self.product(made, step, number, here)
                for slot in made.segment.outputs:
                    nbytes = here * made.row_bytes(slot)
                    self.note(self.written, made, made.places[slot], number, nbytes)
            launch(made, whole, last, blocks, threads)

        def fresh(made: Any) -> Any:
            windows.clear()
            return calls(made)

        monkeypatch.setattr(chains.SegmentRun, "calls", fresh)
        monkeypatch.setattr(chains.SegmentRun, "block", noted)
        monkeypatch.setattr(chains.SegmentRun, "launch", counted)

    def note(self, touched: Touched, made: Any, place: Place, block: int, nbytes: int) -> None:
        if isinstance(place.base, int):
            return  # in scratch
        number, offset = place.base
        first, starts = len(made.bound.results), made.bound.starts
        is_operand = first <= number < first + len(starts)
        start = starts[number - first] if is_operand else number << 48
        touched.add((start + offset + block * place.step, nbytes))

    def product(self, made: Any, step: Any, block: int, rows: int) -> None:
        """The rows of a product's step are those of the block; it reads its panels whole."""
        if step.code == products.kernel_for(FLOAT32).by_panels:
            assert step.words[PANEL_WORDS.index("rows")] == rows
            depth, columns = (step.words[PANEL_WORDS.index(n)] for n in ("depth", "columns"))
            self.note(self.read, made, dict(step.patches)[4], 0, depth * columns * X.itemsize)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bytes_told_are_those_touched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    with small_ones() as ran, fw.options(interpret=False), listen() as heard:
        fw.evaluate(PROGRAMS[name](*map(fw.asarray, (X, W, V, B))))
    assert len(ran) == 1
    (record,) = [k for k in heard.kernels if isinstance(k, KernelRecord) and k.kind == "products"]
    inside = {(start, size) for start, size in counting.read if (start, size) in counting.written}
    assert sum(size for _, size in counting.read - inside) == record.bytes_read
    assert sum(size for _, size in counting.written) == record.bytes_written
