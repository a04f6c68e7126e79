"""Loops, places and tables of random kernels whose sizes the kernel itself computes."""

from __future__ import annotations

from tests.properties import chance


class Bounds(chance.Writer):
    """The part of a program's writer that makes up numbers of iterations."""

    def __init__(self, draw: chance.Draw, budget: int) -> None:
        super().__init__(draw, budget)
        self.loops: list[str] = []
        self.counts: list[str] = []

    def number(self, kind: str, depth: int) -> str:
        """An expression."""
        raise NotImplementedError

    def integer(self, depth: int) -> str:
        """An expression for a Python or NumPy integer."""
        raise NotImplementedError

    def condition(self, depth: int) -> str:
        """A truth value."""
        raise NotImplementedError

    def index(self, size: int = 19, depth: int = 1) -> str:
        """A position in bounds."""
        raise NotImplementedError

    def loop_name(self) -> str:
        """A new name for a loop's variable."""
        raise NotImplementedError

    def body(self, depth: int, names: list[str]) -> None:
        """The statements of a loop."""
        raise NotImplementedError

    def tables(self, depth: int) -> None:
        """A new array of a size that follows from the arguments, used and summed up."""
        self.count += 1
        name, size = f"z{self.count}", self.pick("n + 3", "len(a) * 2", "n * n + 3", "len(a) - n")
        made = self.pick(f"np.zeros({size})", f"np.full({size}, 1.5)", "np.zeros_like(a)",
                         f"np.ones({size}, dtype=np.int64)", "a.copy()", "a[1:] * 2")  # fmt: skip
        self.put(depth, f"{name} = {made}")
        inner = self.loop_name()
        self.put(depth, f"for {inner} in range(len({name})):")
        value = self.pick(inner, *self.loops, *self.counts, f"{name}[{inner} - 1] + 1", "x", "n")
        self.put(depth + 1, f"{name}[{inner}] {self.pick('=', '+=')} int({value}) % 90")
        self.put(depth, f"a[{self.index()}] = {name}[{self.draw(0, 2)}] + {name}[-1]")

    def counted(self, depth: int) -> None:
        """Over a range whose ends the kernel computes; they are used inside again, too."""
        before = list(self.counts)
        if not self.counts or self.draw(0, 1):
            self.counts.append(self.count_of(depth))
        size, name = self.pick(*self.counts), self.loop_name()
        ends = [size, f"1, {size}", f"{size}, 19", f"{size} // 2, {size}", f"{size} - 1, -1, -1"]
        if self.loops:
            outer = self.pick(*self.loops)
            ends += [f"{outer} + 1", f"{outer}, 19", f"min({outer}, {size})", f"c[{outer}] % 20"]
        self.put(depth, f"for {name} in range({self.pick(*ends)}):")
        if self.draw(0, 1):
            self.put(depth + 1, f"a[{name}] = {self.pick(size, name)} + {self.number('v', 1)}")
        self.body(depth, [name])
        self.counts = before

    def divided(self, depth: int) -> None:
        """A loop whose iterations meet nowhere, which uses its own bounds, and what stands around
        it, as values, places, and bounds.
        """
        size, name, inner = self.count_of(depth), self.loop_name(), self.loop_name()
        uses = [size, name, *self.loops, *self.counts, "n"]
        self.put(depth, f"for {name} in range({self.pick('', '', '1, ', 'n, ')}{size}):")
        if self.draw(0, 1):
            first, value = self.pick("a", "a", "b"), self.pick("x", *uses)
            self.put(depth + 1, f"{first}[{name}] = {value}")
        low = self.pick("", "1, ", f"{self.pick(*uses)}, ")
        self.put(depth + 1, f"for {inner} in range({low}{self.pick(*uses)}):")
        value = self.pick(inner, *uses, f"d[{self.pick(*uses)} % 19]", "x")
        self.put(depth + 2, f"a[{name}] {self.pick('+=', '=', '-=')} {value}")

    def count_of(self, depth: int) -> str:
        """A new variable between 0 and 19."""
        self.count += 1
        name = f"q{self.count}"
        table = self.pick("c", "d", "e")
        read = f"int({table}[{self.index()}])"
        value = self.pick(self.integer(1), f"{self.draw(0, 60)} * n", read, read, read)
        self.put(depth, f"{name} = ({value}) % 20")
        if self.draw(0, 3) == 0:
            self.put(depth, f"if {self.condition(0)}:")
            self.put(depth + 1, f"{name} = {self.draw(0, 19)}")
        return name
