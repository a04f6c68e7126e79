"""Random kernels of complex numbers as Python source, every index in bounds.

Names say what they hold: `z..` Python's complex numbers, `w..` NumPy's, `f..` NumPy's floats.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from tests.properties import chance

SIZE = 19
HEADER = "import math\nimport numpy as np\nimport fusewright as fw\n\n"


NAMED = re.compile(r"[a-z]\w*\b(?<!\dj)")
"""Whether an expression is more than literals."""


class Writer(chance.Writer):
    """One program being made up."""

    def __init__(self, draw: chance.Draw, budget: int) -> None:
        super().__init__(draw, budget)
        self.names: dict[str, list[str]] = {"z": ["p", "q"], "w": [], "f": []}
        self.loops: list[str] = []

    def source(self) -> str:
        """The module."""
        self.lines = ["@fw.kernel", "def kernel(a, b, c, x, p, q):"]
        for kind in "zwf":
            self.assign(kind, 1)
        while self.budget > 0:
            self.statement(1)
        returned = ", ".join(self.pick(*self.names[kind]) for kind in "zwf")
        self.lines.append(f"    return {returned}")
        return HEADER + "\n".join(self.lines) + "\n"

    # -- statements -----------------------------------------------------------------------------

    def statement(self, depth: int) -> None:
        self.budget -= 1
        kinds = [self.store, self.store, self.update, self.rebind]
        if depth < 4:
            kinds += [self.branch, self.loop, self.loop]
        self.pick(*kinds)(depth)

    def assign(self, kind: str, depth: int) -> None:
        self.count += 1
        self.put(depth, f"{kind}{self.count} = {self.value(kind, 2)}")
        self.names[kind].append(f"{kind}{self.count}")

    def rebind(self, depth: int) -> None:
        kind = self.pick("z", "w", "f")
        name = self.pick(*self.names[kind])
        self.put(depth, f"{name} = {self.value(kind, 2)}")

    def store(self, depth: int) -> None:
        array = self.pick("a", "b", "c", "x")
        value = self.real(2) if array == "x" else self.number(2)
        self.put(depth, f"{array}[{self.index()}] = {value}")

    def update(self, depth: int) -> None:
        array, sign = self.pick("a", "b", "c"), self.pick("+=", "-=", "*=", "/=")
        value = f"(3 + {self.real(1)} ** 2)" if sign == "/=" else self.number(1)
        self.put(depth, f"{array}[{self.index()}] {sign} {value}")

    def branch(self, depth: int) -> None:
        self.put(depth, f"if {self.condition()}:")
        self.statement(depth + 1)
        if self.draw(0, 1):
            self.put(depth, "else:")
            self.statement(depth + 1)

    def loop(self, depth: int) -> None:
        self.count += 1
        name = f"i{self.count}"
        space = self.pick("range(19)", "range(1, 18)", "range(len(a))", "range(18, -1, -2)")
        self.put(depth, f"for {name} in {space}:")
        self.loops.append(name)
        for _ in range(self.draw(1, 3)):
            self.statement(depth + 1)
        self.loops.pop()

    # -- expressions ----------------------------------------------------------------------------

    def index(self) -> str:
        if not self.loops:
            return str(self.draw(-SIZE, SIZE - 1))
        name = self.pick(*self.loops)
        return str(self.pick(name, name, f"{name} - 1", f"({name} * 2) % 19", f"18 - {name}"))

    def value(self, kind: str, depth: int) -> str:
        if kind == "f":
            return f"np.float64({self.real(depth)})"
        bounded = self.number(depth)
        whole = f"({bounded}) / (1 + {self.real(0)} ** 2)"
        return f"complex({whole})" if kind == "z" else f"np.complex128({whole})"

    def number(self, depth: int) -> str:
        """A complex number, or an array's element."""
        if depth == 0 or self.draw(0, 5) == 0:
            return str(self.pick(
                f"{self.pick('a', 'b', 'c')}[{self.index()}]",
                self.pick(*self.names["z"]), self.pick(*self.names["w"] or ["p"]),
                "0.5j", "(1.5-0.25j)",
            ))  # fmt: skip
        a, b = self.number(depth - 1), self.number(depth - 1)
        first, other = _beside(b, a), _beside(a, b)
        return str(self.pick(
            f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"(-{a})", f"({a}).conjugate()",
            f"({a} / (2 + {self.real(0)} ** 2))", f"np.conj({a})", f"({a}) ** 2",
            f"({first} / {other} if {other} else {first})", f"({a} * {self.real(0)})",
            f"({first} if {self.condition()} else {other})",
        ))  # fmt: skip

    def real(self, depth: int) -> str:
        if depth == 0 or self.draw(0, 3) == 0:
            return str(
                self.pick(f"x[{self.index()}]", "0.75", self.pick(*self.names["f"] or ["2.0"]))
            )
        a, b = self.number(depth - 1), self.real(depth - 1)
        return str(self.pick(f"({a}).real", f"({a}).imag", f"({a}).real * {b}", f"np.imag({a})"))

    def condition(self) -> str:
        a, b = self.number(0), self.number(0)
        return str(self.pick(f"{a} == {b}", f"{a} != {b}", f"({a}).real < {self.real(1)}", a))


def _beside(path: str, number: str) -> str:
    """The number, where another path's has elements of complex64: a literal would take that type
    (docs/reference/kernels.md), which it does not in CPython.
    """
    return "c[0]" if "c[" in path and not NAMED.search(number) else number


def arguments(seed: int) -> tuple[Any, ...]:
    """Two arrays of complex128 (one strided), one of complex64, one of reals, two numbers."""
    rng = np.random.default_rng(seed)

    def points(count: int) -> Any:
        return rng.standard_normal(count) + 1j * rng.standard_normal(count)

    single = points(SIZE).astype(np.complex64)
    return (
        points(SIZE), points(2 * SIZE)[::2], single, rng.standard_normal(SIZE),
        complex(points(1)[0]), complex(points(1)[0]),
    )  # fmt: skip
