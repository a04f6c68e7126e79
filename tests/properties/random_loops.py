"""Random kernels of neighbouring loops over the same arrays, as Python source: mostly such that
some of them fuse.  Every index is in bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.properties import chance

LONG, ROWS, COLUMNS = 37, 6, 21
MARGIN = 2
VECTORS = {"a": "f8", "b": "f8", "c": "f4", "d": "i8", "e": "f2"}
MATRICES = {"m": "f8", "n": "f8"}
HEADER = "import fusewright as fw\n\n\n@fw.kernel\ndef kernel(a, b, c, d, e, m, n, t, s):\n"


class Writer(chance.Writer):
    """One kernel being made up."""

    def source(self) -> str:
        """The module."""
        self.put(1, "total = 0")
        for _ in range(self.budget):
            self.pick(
                self.along, self.along, self.along, self.over, self.over, self.columns,
                self.gather, self.summed, self.fence, self.steps, self.running,
            )(1)  # fmt: skip
        self.put(1, "return total")
        return HEADER + "\n".join(self.lines) + "\n"

    # -- loops --------------------------------------------------------------------------------

    def along(self, depth: int) -> None:
        low, high = self.draw(MARGIN, MARGIN + 2), self.draw(MARGIN, MARGIN + 2)
        self.put(depth, f"for i in range({low}, a.shape[0] - {high}):")
        for _ in range(self.draw(1, 2)):
            self.assign(depth + 1)

    def assign(self, depth: int) -> None:
        if self.draw(0, 4) == 0:
            self.put(depth, f"if {self.vector()} > 0.0:")
            depth += 1
        name = self.pick(*VECTORS)
        value = self.number()
        if name == "d":
            value = f"int({value}) % 50"
        self.put(depth, f"{name}[{self.place()}] {self.pick('=', '=', '+=')} {value}")

    def over(self, depth: int) -> None:
        rows = self.pick(f"(1, {ROWS - 1})", f"(2, {ROWS - 1})", "(1, m.shape[0] - 1)")
        columns = self.pick(f"(1, {COLUMNS - 1})", "(1, m.shape[1] - 1)", "(3, m.shape[1] - 2)")
        self.put(depth, f"for i, j in fw.ndrange({rows}, {columns}):")
        sign = self.pick("=", "=", "+=")
        self.put(depth + 1, f"{self.cell()} {sign} {self.cell()} * 0.5 + {self.cell()}")

    def columns(self, depth: int) -> None:
        """Sums along columns, one after the other in each."""
        array = self.pick("m", "n")
        self.put(depth, f"for j in range({array}.shape[1]):")
        self.put(depth + 1, "w = 0.0")
        self.put(depth + 1, f"for i in range({array}.shape[0]):")
        self.put(depth + 2, f"w += {array}[i, j]")
        self.put(depth + 1, f"{self.pick('a', 'b')}[j] = w")

    def gather(self, depth: int) -> None:
        self.put(depth, f"for i in range({self.pick('t.shape[0]', 'a.shape[0]')}):")
        left, right = self.pick(("a[t[i]]", "b[i]"), ("b[i]", "a[t[i]]"), ("d[t[i]]", "d[i]"))
        self.put(depth + 1, f"{left} = {right}")

    def summed(self, depth: int) -> None:
        self.put(depth, "for i in range(d.shape[0]):")
        step = self.pick(
            "total += d[i]", "s[()] += b[i]", "total += d[i] * 3", "total ^= d[i]",
            "total = max(total, d[i])", "if d[i] > 3: total -= d[i] + i", "d[t[i] % 5] += t[i]",
        )  # fmt: skip
        self.put(depth + 1, step)

    def running(self, depth: int) -> None:
        """A value that each iteration uses on the way, or numbers places with."""
        name = f"r{len(self.lines)}"
        self.put(depth, f"{name} = {self.draw(0, 2)}")
        self.put(depth, f"for i in range({MARGIN}, a.shape[0] - {MARGIN}):")
        if self.draw(0, 1):
            self.put(depth + 1, f"if {self.vector()} > 0.0:")
            depth += 1
        update = self.pick(
            f"{name} += 1", f"{name} += d[i]", f"{name} = max({name}, d[i])",
            f"{name} -= i + t[i]", f"{name} ^= d[i]", f"{name} += d[i - 1]",
        )  # fmt: skip
        use = self.pick(f"d[i] = {name} % 60", f"b[i] = {name}", f"a[{name} % 37] = b[i]")
        if update.endswith("+= 1"):
            use = self.pick(use, f"a[{name}] = b[i]", f"d[{name}] = i", f"b[{name}] = a[i + 1]")
        for line in (update, use) if self.draw(0, 1) else (use, update):
            self.put(depth + 1, line)

    def fence(self, depth: int) -> None:
        self.put(depth, "fw.nofuse()")

    def steps(self, depth: int) -> None:
        if depth > 1:
            return
        self.put(depth, "for _ in range(2):")
        for _ in range(2):
            self.pick(self.along, self.over)(depth + 1)

    # -- expressions --------------------------------------------------------------------------

    def place(self) -> str:
        return str(self.pick("i", "i", "i", "i + 1", "i - 1", "i - 2", "i + 2"))

    def vector(self) -> str:
        return f"{self.pick(*VECTORS)}[{self.place()}]"

    def cell(self) -> str:
        row = self.pick("i", "i", "i - 1", "i + 1")
        column = self.pick("j", "j", "j - 1", "j + 1")
        return f"{self.pick(*MATRICES)}[{row}, {column}]"

    def number(self) -> str:
        x, y = self.vector(), self.vector()
        return str(self.pick(f"{x} * 0.5", f"{x} + {y}", f"{x} * {y} * 0.25", f"{x} - 1.5", x))


def arguments(seed: int) -> tuple[Any, ...]:
    """What a kernel is called with."""
    rng = np.random.default_rng(seed)
    vectors = [
        (rng.integers(0, 9, LONG) if kind == "i8" else rng.normal(size=LONG)).astype(kind)
        for kind in VECTORS.values()
    ]
    matrices = [rng.normal(size=(ROWS, COLUMNS)) for _ in MATRICES]
    table = rng.permutation(LONG) if seed % 2 else rng.integers(0, LONG, LONG)
    return (*vectors, *matrices, table, np.array(0.25))
