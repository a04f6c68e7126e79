"""Random PyKokkos work units as Python source, every index in bounds.

Each iteration writes its own elements and reads others of views that nothing writes, so it may run
in any order; numbers have the types that C++ and Python agree on (`f..` double, `k..` int, not
negative, `z..` complex).
"""

from __future__ import annotations

from tests.properties import chance

SIZE = 21
HEADER = "import math\nimport fusewright.bridges.pykokkos as pk\n\n"


class Writer(chance.Writer):
    """A `parallel_for` work unit and a `parallel_reduce` one with the same body."""

    def __init__(self, draw: chance.Draw, budget: int) -> None:
        super().__init__(draw, budget)
        self.names: dict[str, list[str]] = {"f": ["s"], "k": ["i"], "z": ["c"]}

    def source(self) -> str:
        """The module."""
        for kind in "fkz":
            self.declare(kind, 1)
        while self.budget > 0:
            self.statement(1)
        body = "\n".join(self.lines)
        arguments = "a, x, w, read, table, points, s, c"
        summed = f"{body}\n    acc += {self.real(1)}\n"
        return (
            f"{HEADER}@pk.workunit\ndef unit(i, {arguments}):\n{body}\n\n\n"
            f"@pk.workunit\ndef total(i, acc, {arguments}):\n{summed}"
        )

    # -- statements -----------------------------------------------------------------------------

    def declare(self, kind: str, depth: int) -> None:
        self.count += 1
        name, word = f"{kind}{self.count}", {"f": "float", "k": "int", "z": "pk.complex128"}[kind]
        self.put(depth, f"{name}: {word} = {self.value(kind)}")
        self.names[kind].append(name)

    def value(self, kind: str) -> str:
        if kind == "k":
            return f"({self.whole(2)}) % 90"
        return self.real(2) if kind == "f" else self.point(2)

    def statement(self, depth: int) -> None:
        self.budget -= 1
        kinds = [self.store, self.store, self.assign]
        if depth < 3:
            kinds += [self.branch, self.loop]
        self.pick(*kinds)(depth)

    def store(self, depth: int) -> None:
        array, kind = self.pick(("a", "f"), ("x", "k"), ("w", "z"))
        sign = self.pick("=", "+=") if kind != "k" else "="
        self.put(depth, f"{array}[i] {sign} {self.value(kind)}")

    def assign(self, depth: int) -> None:
        kind = self.pick("f", "k", "z")
        name = self.names[kind][-1]
        self.put(depth, f"{name} = {self.value(kind)}")

    def branch(self, depth: int) -> None:
        left, right = self.pick((self.real(1), self.real(0)), (self.whole(1), self.whole(0)))
        self.put(depth, f"if {left} {self.pick('<', '>=')} {right}:")
        self.statement(depth + 1)
        if self.draw(0, 1):
            self.put(depth, "else:")
            self.statement(depth + 1)

    def loop(self, depth: int) -> None:
        self.count += 1
        name = f"j{self.count}"
        self.put(depth, f"for {name} in range({self.pick('3', '1, 4', 'i % 4')}):")
        self.names["k"].insert(0, name)
        for _ in range(self.draw(1, 2)):
            self.statement(depth + 1)
        self.names["k"].remove(name)

    # -- expressions ----------------------------------------------------------------------------

    def place(self) -> str:
        return str(self.pick("i", f"({self.pick(*self.names['k'])}) % {SIZE}", "table[i]"))

    def whole(self, depth: int) -> str:
        if depth == 0:
            return str(self.pick(*self.names["k"], "7", "table[i]", "x[i]"))
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        return str(
            self.pick(f"({a} + {b})", f"({a}) * 3", f"({a}) // 4", f"({a}) % 5", f"abs({a})")
        )

    def real(self, depth: int) -> str:
        if depth == 0:
            return str(self.pick(*self.names["f"], f"read[{self.place()}]", "a[i]", "0.75"))
        a, b = self.real(depth - 1), self.real(depth - 1)
        z = self.point(depth - 1)
        return str(self.pick(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / ({b} * {b} + 1.0))",
            f"math.sqrt({a} * {a})", f"math.floor({a})", f"({z}).real", f"({z}).imag", f"(-{a})",
        ))  # fmt: skip

    def point(self, depth: int) -> str:
        if depth == 0:
            return str(self.pick(*self.names["z"], f"points[{self.place()}]", "w[i]"))
        a, b = self.point(depth - 1), self.point(depth - 1)
        x = self.real(0)
        return str(self.pick(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {x})", f"(-{a})",
            f"({a} / ({x} * {x} + 2.0))", f"pk.complex128({x}, 0.5)",
        ))  # fmt: skip
