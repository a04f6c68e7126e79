"""Random kernels as Python source: small loops over small arrays, every index in bounds.

Names say what they hold: `i..` Python ints below a thousand, `f..` Python floats, `v..` NumPy's
float64, `q..` numbers of iterations that the kernel has computed.  Divisors are positive, and what
is stored in integer arrays fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.properties.chance import Draw
from tests.properties.random_bounds import Bounds

SIZE, ROWS, COLUMNS = 19, 3, 17
"""More than two vectors, and a remainder."""
ARRAYS = {
    "a": np.float64, "b": np.float32, "c": np.int64, "d": np.int32, "e": np.uint8, "g": np.float16,
}  # fmt: skip
HEADER = "import math\nimport numpy as np\nimport fusewright as fw\n\n"
HELPERS = """
def pick(x, y, k):
    if k > 2:
        return x
    elif k == 1:
        return y + 1
    return x - y


def find(t, low):
    for q in range(t.shape[0]):
        if t[q] > low:
            return q
    return 0

"""


class Writer(Bounds):
    """One program being made up."""

    def __init__(self, draw: Draw, budget: int) -> None:
        super().__init__(draw, budget)
        self.cells: list[str] = []
        self.names: dict[str, list[str]] = {"i": [], "f": [], "v": []}

    def source(self) -> str:
        """The module."""
        self.lines = ["@fw.kernel", "def kernel(a, b, c, d, e, g, m, s, n, x):"]
        for kind in "ifv":
            self.assign(kind, 1)
        self.make()
        while self.budget > 0:
            self.statement(1)
        returned = [self.number("i", 1), self.number("f", 1), self.pick("n", *self.names["v"])]
        self.lines.append(f"    return {', '.join(returned)}")
        return HEADER + HELPERS + "\n" + "\n".join(self.lines) + "\n"

    def make(self) -> None:
        """Functions of the kernel's own, which read names that change later."""
        name, other = (self.pick("n", *self.names["i"]) for _ in range(2))
        self.put(1, f"made = lambda p, q={self.integer(1)}: p % 40 + q % 7 - {name}")
        self.put(1, "def spread(p):")
        self.put(2, "r = p * 2 % 50")
        self.put(2, f"for k in range({self.draw(0, 3)}):")
        self.put(3, f"if r > {other}:")
        self.put(4, "return r - k")
        self.put(3, "r += k")
        self.put(2, "return r - n")

    # -- statements ---------------------------------------------------------------------------

    def statement(self, depth: int) -> None:
        self.budget -= 1
        kinds = [self.store, self.store, self.update, self.rebind, self.atomic]
        kinds += [self.statement_on_rows, self.statement_on_rows]
        if depth < 4:
            kinds += [self.branch, self.loop, self.loop, self.nest, self.walk, self.while_]
            kinds += [self.divided, self.tables]
        if self.loops:
            kinds += [self.leave]
        self.pick(*kinds, self.zero_dim, self.fill, self.swap, self.show)(depth)

    def block(self, depth: int) -> None:
        for _ in range(self.draw(1, 3)):
            self.statement(depth)

    def assign(self, kind: str, depth: int) -> None:
        self.count += 1
        name = f"{kind}{self.count}"
        self.put(depth, f"{name} = {self.value(kind)}")
        self.names[kind].append(name)

    def value(self, kind: str) -> str:
        if kind == "i":
            return f"({self.number('i', 2)}) % 1000 - 300"
        expression = self.number("v", 2)
        return f"float({expression})" if kind == "f" else f"np.float64({expression})"

    def rebind(self, depth: int) -> None:
        kind = self.pick("i", "f", "v")
        if depth == 1 and self.draw(0, 1):
            self.assign(kind, depth)
            return
        name = self.pick(*self.names[kind])
        self.put(depth, f"{name} = {self.value(kind)}")

    def swap(self, depth: int) -> None:
        x, y = (self.pick(*self.names["i"]) for _ in range(2))
        self.put(depth, f"{x}, {y} = {y}, {x}")

    def store(self, depth: int) -> None:
        array = self.pick(*ARRAYS, "m")
        if array == "m":
            place = f"m[{self.index(ROWS)}, {self.index(COLUMNS)}]"
            place, value = self.pick(place, *self.cells), self.number("v", 2)
        elif array in "cde":
            place, value = f"{array}[{self.index()}]", f"({self.number('i', 2)}) % 90"
        else:
            place, value = f"{array}[{self.index()}]", self.number("v", 2)
        self.put(depth, f"{place} = {value}")

    def update(self, depth: int) -> None:
        sign = self.pick("+=", "-=", "*=")
        array = self.pick("a", "b", "c", "g")
        value = f"({self.number('i', 2)}) % 9" if array == "c" else self.number("v", 2)
        self.put(depth, f"{array}[{self.index()}] {sign} {value}")

    def zero_dim(self, depth: int) -> None:
        self.put(depth, f"s[()] += {self.number('v', 1)}")

    def fill(self, depth: int) -> None:
        row = f"m[{self.index(ROWS)}]"
        part = self.pick("a[2:]", f"b[:{self.draw(-9, 30)}]", "a[1:-1:3]", row, "m[1:, 4]", "a[:]")
        self.put(depth, f"{part} {self.pick('=', '+=', '*=')} {self.number('v', 1)}")

    def statement_on_rows(self, depth: int) -> None:
        """An array statement: rows of 17 elements."""
        target = self.pick("a[1:-1]", "b[2:]", f"m[{self.index(ROWS)}]", "a[:-2]", "g[1:18]")
        value = self.row(2)
        if self.draw(0, 3) == 0:
            self.count += 1
            self.put(depth, f"t{self.count} = {value}")
            value = f"t{self.count} * t{self.count} + 1"
        self.put(depth, f"{target} {self.pick('=', '=', '+=', '*=')} {value}")

    def row(self, depth: int) -> str:
        """An expression for 17 elements."""
        part = self.pick(
            "a[1:-1]", "a[1:-1]", "a[2:]", "a[:-2]", "b[2:]", "b[1:-1]", "c[:-2]", "d[17:0:-1]",
            "e[1:18]", f"m[{self.index(ROWS)}]", f"m[{self.draw(0, 2)}, ::-1]", "g[1:18]",
        )  # fmt: skip
        if depth == 0:
            return str(part)
        x, y = self.row(depth - 1), self.row(depth - 1)
        return str(
            self.pick(
                part,
                f"({x} + {y})",
                f"({x} - {y})",
                f"({x} * 0.5)",
                f"np.maximum({x}, {y})",
                f"np.where({x} > {self.real(0)}, {y}, 1.5)",
                f"abs({x})",
                f"({x} / (np.abs({y}) + 1.5))",
                f"({self.real(0)} + {x})",
            )
        )

    def atomic(self, depth: int) -> None:
        name = self.pick("add", "sub", "min", "max", "and", "or", "xor")
        call = f"fw.atomic_{name}(c, {self.index()}, ({self.number('i', 1)}) % 50)"
        array = self.pick("a", "")
        self.put(depth, f"a[{self.index()}] = {call}" if array else call)

    def show(self, depth: int) -> None:
        self.put(depth, f"print({self.number('i', 1)}, {self.element('b')}, sep=';')")

    def leave(self, depth: int) -> None:
        self.put(depth, f"if {self.condition(1)}:")
        if self.draw(0, 2) == 0:
            self.store(depth + 1)
        self.put(depth + 1, self.pick("continue", "break"))

    def branch(self, depth: int) -> None:
        self.put(depth, f"if {self.condition(2)}:")
        self.block(depth + 1)
        if self.draw(0, 1):
            self.put(depth, f"elif {self.condition(1)}:")
            self.block(depth + 1)
        if self.draw(0, 1):
            self.put(depth, "else:")
            self.block(depth + 1)

    def loop(self, depth: int) -> None:
        if self.draw(0, 1):
            self.counted(depth)
            return
        name = self.loop_name()
        space = self.pick(
            "range(19)", "range(1, 19)", "range(len(a))", "range(1, len(a) - 1)", "range(len(a))",
            "range(18, -1, -1)", "range(0, 19, 3)", "range(n)", "range(2, n)",
            "fw.static(range(3))",
        )  # fmt: skip
        self.put(depth, f"for {name} in {space}:")
        self.body(depth, [name])

    def walk(self, depth: int) -> None:
        """Over arrays: the position, and one or two values."""
        name, x, y = self.loop_name(), self.loop_name(), self.loop_name()
        target, space, values = self.pick(
            (f"{name}, {x}", "enumerate(a)", [x]),
            (f"{name}, {x}", f"enumerate(reversed({self.pick('b', 'c', 'a[:9]')}))", [x]),
            (f"{name}, ({x}, {y})", "enumerate(zip(a[2:], b))", [x, y]),
            (f"{name}, {x}, {y}", "zip(range(n, 19), c, m[1])", [x, y]),
            (f"{name}, {x}", "zip(reversed(range(2, 18, 3)), a)", [x]),
            (f"{name}, ({x}, {y})", "enumerate([(1, 2), (3, 0.5)])", [x, y]),
        )
        self.put(depth, f"for {target} in {space}:")
        before = list(self.names["v"])
        self.names["v"] += values
        self.body(depth, [name])
        self.names["v"] = before
        if self.draw(0, 3) == 0:
            self.put(depth, "else:")
            self.block(depth + 1)

    def nest(self, depth: int) -> None:
        x, y = self.loop_name(), self.loop_name()
        space = self.pick("3, 17", "(1, 3), m.shape[1]", "n % 4, (1, 17)", "3, 17, axes=(1, 0)")
        self.put(depth, f"for {x}, {y} in fw.ndrange({space}):")
        self.cells.append(f"m[{x}, {y}]")
        if self.draw(0, 1):
            sign = self.pick("=", "+=", "*=")
            self.put(depth + 1, f"m[{x}, {y}] {sign} {self.number('v', 2)}")
        self.body(depth, [x, y])
        self.cells.pop()

    def while_(self, depth: int) -> None:
        self.count += 1
        name = f"w{self.count}"
        self.put(depth, f"{name} = 0")
        self.put(depth, f"while {name} < {self.draw(1, 5)} and {self.condition(1)}:")
        self.put(depth + 1, f"{name} += 1")
        self.body(depth, [name])

    def loop_name(self) -> str:
        self.count += 1
        return f"k{self.count}"

    def body(self, depth: int, names: list[str]) -> None:
        self.loops += names
        self.block(depth + 1)
        del self.loops[-len(names) :]

    # -- expressions --------------------------------------------------------------------------

    def index(self, size: int = SIZE, depth: int = 1) -> str:
        """A position in bounds, counted from either end."""
        if self.loops and size == SIZE and self.draw(0, 3):
            name = self.pick(*self.loops)
            return str(self.pick(name, name, f"18 - {name}", f"{name} - 1", f"({name} + 1) % 19"))
        if self.loops and self.draw(0, 1):
            return f"{self.pick(*self.loops)} % {size}"
        if depth == 0 or self.draw(0, 1):
            return str(self.draw(-size, size - 1))
        return f"({self.number('i', 1)}) % {size}"

    def element(self, array: str, depth: int = 1) -> str:
        return f"{array}[{self.index(SIZE, depth)}]"

    def number(self, kind: str, depth: int) -> str:
        """An expression: `i` a Python or NumPy integer, `v` any number."""
        return self.integer(depth) if kind == "i" else self.real(depth)

    def integer(self, depth: int) -> str:
        leaves = [*self.names["i"], *self.loops, *self.counts, "n", str(self.draw(-4, 9)), "len(a)"]
        if depth == 0 or self.draw(0, 3) == 0:
            return str(self.pick(*leaves))
        x, y = self.integer(depth - 1), self.integer(depth - 1)
        if self.draw(0, 4) == 0:
            array = self.pick("c", "d", "e")
            return f"int({self.element(array, depth - 1)}) % 50"
        condition = self.condition(depth - 1)
        return str(
            self.pick(
                f"({x} + {y})",
                f"({x} - {y})",
                f"({x} * {y})",
                f"({x} // ({y} % 7 + 1))",
                f"({x} % -({y} % 7 + 1))",
                f"({x} & {y})",
                f"({x} ^ {y})",
                f"(-{x})",
                f"({x} if {condition} else {y})",
                f"pick({x}, {y}, {self.integer(0)})",
                f"find(c, {x})",
                f"made({x})",
                f"made({x}, q={self.integer(0)})",
                f"spread({x})",
                f"sum(int(c[q]) % 9 for q in range(2, 8) if q != {self.integer(0)})",
                f"min({x}, {y})",
                f"int({condition})",
            )
        )

    def real(self, depth: int) -> str:
        if self.draw(0, 1):
            return self.element(self.pick(*ARRAYS, "a", "b"), depth)
        leaves = [*self.names["f"], *self.names["v"], "x", "0.5", "2.25", *self.cells, *self.cells]
        if depth == 0:
            return str(self.pick(*leaves))
        x, y = self.real(depth - 1), self.real(depth - 1)
        return str(
            self.pick(
                *leaves,
                f"({x} + {y})",
                f"({x} - {y})",
                f"({x} * {y})",
                f"({x} / (abs({y}) + 1.5))",
                f"(-{x})" if x.startswith("a") else f"({x} - 1)",
                f"np.maximum({x}, {y})",
                f"sum(b[q] * 0.5 for q in range({self.draw(1, 6)}))",
                f"np.sum({self.row(1)})",
                f"({self.row(1)}).max()",
                f"sum({self.row(1)})",
                f"max(a[q] for q in range({self.draw(0, 3)}, 7))",
                f"math.sqrt(abs({x}))",
                f"np.floor({x} * 0.5)",
                f"fw.random(n, {self.integer(0)})",
                f"float({x} if {self.condition(depth - 1)} else 0.25)" if x[0] in "f02" else x,
                f"({x} + {self.integer(depth - 1)})",
            )
        )

    def condition(self, depth: int) -> str:
        if self.draw(0, 1):
            x, y = self.real(0), self.real(0)
        else:
            x, y = self.integer(0), self.integer(0)
        simple = f"{x} {self.pick('<', '<=', '>', '==', '!=')} {y}"
        if depth == 0:
            return simple
        other = self.condition(depth - 1)
        return str(
            self.pick(
                simple,
                f"not ({other})",
                f"({other} and {simple})",
                f"({other} or {simple})",
                f"0 <= {self.integer(0)} < {self.integer(0)}",
                f"{self.integer(0)} in (1, 5, {self.integer(0)})",
                f"any(c[q] > {self.integer(0)} for q in range(5))",
                f"all(a[q] < {self.real(0)} for q in range(2, 9, 3))",
            )
        )


def arguments(seed: int) -> tuple[Any, ...]:
    """What a random kernel is called with."""
    rng = np.random.default_rng(seed)
    arrays = [
        (rng.integers(0, 50, SIZE) if np.dtype(t).kind in "iu" else rng.normal(size=SIZE)).astype(t)
        for t in ARRAYS.values()
    ]
    matrix = rng.normal(size=(ROWS, COLUMNS))
    if seed % 3 == 0:
        arrays[0] = np.repeat(arrays[0], 2)[::2]
        matrix = np.asfortranarray(matrix)
    return (*arrays, matrix, np.array(0.5), int(rng.integers(0, 5)), float(rng.normal()))
