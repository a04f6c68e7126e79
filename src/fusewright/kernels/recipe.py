"""What a call of a kernel records, found out once: operations on the values of its arguments.

Loops that are array statements become the nodes those statements would have recorded; `Recipe`
lists them, so that a later call of the same kind records them again without a look at the loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusewright.base.values import dataclass
from fusewright.frontends.arrays import trace
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import MAP, VIEW, Node, scalar


@dataclass(frozen=True, slots=True)
class Step:
    """One node; its operands are numbers of values."""

    kind: int
    op: str
    args: tuple[int, ...]
    dtype: DType
    shape: tuple[int, ...]
    attr: Any = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """Values are numbered: first the arrays', then the numbers', the constants, the steps'.

    `writes` are the arrays that get a new value, and which; `loops` and `arrays` count what was
    raised and what it touches.
    """

    arrays: int
    numbers: tuple[int, ...]
    constants: tuple[Node, ...]
    steps: tuple[Step, ...]
    writes: tuple[tuple[int, int], ...]
    loops: int

    def record(self, arrays: Sequence[Node], numbers: Mapping[int, Node]) -> list[tuple[int, Node]]:
        """Record it: the written arrays' new values.  `numbers` are the kernel's scalars."""
        values = [*arrays, *[numbers[number] for number in self.numbers], *self.constants]
        for step in self.steps:
            args = tuple([values[number] for number in step.args])
            node = Node(step.kind, step.op, args, step.dtype, step.shape, step.attr)
            values.append(trace.record(node))
        return [(array, values[number]) for array, number in self.writes]


class Writing:
    """A recipe being written.  Equal steps are one; what nothing needs is left out in the end."""

    def __init__(self, arrays: Sequence[tuple[DType, tuple[int, ...]]]) -> None:
        self.arrays = len(arrays)
        self.types: list[tuple[DType, tuple[int, ...]]] = list(arrays)
        self.sources: list[Any] = [None] * len(arrays)
        self._known: dict[Any, int] = {}

    def number(self, param: int, dtype: DType) -> int:
        """A scalar argument of the kernel."""
        return self._add(("number", param), dtype, (), param)

    def constant(self, value: Any, dtype: DType) -> int:
        """A literal."""
        key = ("constant", repr(value), dtype)
        return self._add(key, dtype, (), scalar(value, dtype))

    def step(self, step: Step) -> int:
        return self._add(step, step.dtype, step.shape, step)

    def map(self, op: str, dtype: DType, *args: int) -> int:
        """An element-wise operation on values of one shape, or without dims."""
        shape = next((shape for a in args if (shape := self.types[a][1])), ())
        return self.step(Step(MAP, op, args, dtype, shape))

    def view(self, source: int, attr: tuple[tuple[int, int, int], ...], shape: Any) -> int:
        """A view; the source itself where it is all of it."""
        dtype, own = self.types[source]
        # A bare number is no array's value: memory is made for it in place.
        is_bare = self.sources[source] is not None and not isinstance(self.sources[source], Step)
        if own == shape and not is_bare and all(p == (d, 0, 1) for d, p in enumerate(attr)):
            return source
        return self.step(Step(VIEW, "", (source,), dtype, shape, attr))

    def _add(self, key: Any, dtype: DType, shape: tuple[int, ...], source: Any) -> int:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.types)
            self.types.append((dtype, shape))
            self.sources.append(source)
        return found

    def finish(self, writes: dict[int, int], loops: int) -> Recipe:
        """The recipe of these new values."""
        needed: set[int] = set()
        stack = list(writes.values())
        while stack:
            number = stack.pop()
            if number not in needed:
                needed.add(number)
                source = self.sources[number]
                stack += source.args if isinstance(source, Step) else ()
        place = {number: number for number in range(self.arrays)}
        parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        for part, kind in zip(parts, (int, Node, Step), strict=True):
            for number in sorted(needed):
                if isinstance(self.sources[number], kind):
                    place[number] = len(place)
                    part.append(self.sources[number])
        numbers, constants, steps = parts
        moved = [
            Step(s.kind, s.op, tuple(place[a] for a in s.args), s.dtype, s.shape, s.attr)
            for s in steps
        ]
        return Recipe(
            self.arrays,
            tuple(numbers),
            tuple(constants),
            tuple(moved),
            tuple((array, place[number]) for array, number in writes.items()),
            loops,
        )
