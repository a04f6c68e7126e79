"""Random kernels whose loops may fuse for some of their integer parameters only: offsets, lengths
and mirrors that are arguments.  Every index is in bounds for the values in `VALUES`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.properties import random_loops

LENGTH, ROWS, LONG = 400, 6, 70
VALUES = ((0, 70, 75), (1, 70, 75), (70, 70, 75), (69, 70, 75), (-70, 70, 75), (-3, 5, 9),
          (100, 70, 200), (75, 75, 75), (0, 0, 0), (12, 66, 140))  # fmt: skip
"""k, n and m: an offset and two lengths."""
HEADER = "import fusewright as fw\n\n\n@fw.kernel\ndef kernel(a, b, c, p, k, n, m):\n"
RANGES = ("n", "n", "n", "m", "1, n", "n - 1")
PLACES = ("i", "i", "i", "i + k", "i + k", "i + n", "i + m", "n - 1 - i", "m - 1 - i", "i % 80",
          "2 * i", "i + k + 1", "min(i, m)")  # fmt: skip


class Writer(random_loops.Writer):
    """One kernel being made up."""

    def source(self) -> str:
        """The module."""
        outer = self.draw(0, 4) == 0
        if outer:
            self.put(1, "for _ in range(2):")
        for _ in range(self.budget):
            self.pick(self.along, self.along, self.along, self.over)(1 + outer)
        return HEADER + "\n".join(self.lines) + "\n"

    def along(self, depth: int) -> None:
        self.put(depth, f"for i in range({self.pick(*RANGES)}):")
        for _ in range(self.draw(1, 2)):
            sign = self.pick("=", "=", "=", "+=")
            value = f"{self.cell()} * 0.5 + {self.pick(self.cell(), '1.0', 'i')}"
            self.put(depth + 1, f"{self.cell()} {sign} {value}")

    def over(self, depth: int) -> None:
        row = self.pick("i", "i", "(i + k) % 6", "5 - i")
        column = self.pick("j", "j", "j + k", "j + n")
        other = self.pick("p[i, j]", "p[i, j + n]", "a[j]", "p[5 - i, j]")
        self.put(depth, f"for i, j in fw.ndrange({ROWS}, n):")
        self.put(depth + 1, f"p[{row}, {column}] = {other} * 0.5 + 1.0")

    def cell(self) -> str:
        return f"{self.pick('a', 'a', 'b', 'c')}[{self.pick(*PLACES)}]"


def arguments(seed: int) -> tuple[Any, ...]:
    """The arrays a kernel is called with."""
    rng = np.random.default_rng(seed)
    return (*(rng.normal(size=LENGTH) for _ in range(3)), rng.normal(size=(ROWS, LENGTH)))
