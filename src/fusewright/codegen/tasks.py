"""Loops divided among threads: each is a function of its own, `task(frame, low, high, scratch)`.

The frame holds the arguments' address, the first index, and what the loop uses of the loops and
variables around it.  Where threads are to be had and the work is worth it, the pool runs the task;
else it is called at once.  (The team: `launch`, the pool, the threads, and the least work in
picoseconds.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fusewright.codegen.privatise import Privatised
from fusewright.codegen.spell import llvm_type
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import For, Let, buffers_of, expressions, walk
from fusewright.plan.loops.plan import LoopPlan

GRAIN = 64
"""Iterations a thread takes at a time where they are elements, at least."""


@dataclass(frozen=True, slots=True)
class Task:
    """A function that runs a part of a loop."""

    name: str
    text: str


class Tasks(Privatised):
    """A kernel being written, with loops that are functions."""

    def __init__(self, plan: LoopPlan, vector_bytes: int) -> None:
        super().__init__(plan, vector_bytes)
        self.tasks: list[Task] = []
        self.prefix = ""
        self.in_task = False
        self.team = ""
        self.shared: dict[int, int] = {}

    def on_threads(self, loop: For) -> None:
        """Call, or have the pool run, the loop's function."""
        builder = self.builder
        bounds = [(self.scalar(dim.low), self.scalar(dim.high)) for dim in loop.dims]
        low, high = bounds[0]
        free = self._free(loop)
        inner = [builder.variable(bound) for pair in bounds[1:] for bound in pair]
        shared = self._shared(loop)
        first = 2 + len(free) + len(inner)
        frame = builder.slot(f"[{first + len(shared) + self.apart(loop)} x i64]")
        self.fill(frame, 0, "%args", "ptr")
        self.fill(frame, 1, low, "i64")
        for place, (dtype, value) in enumerate(self._values(free, inner), 2):
            self.fill(frame, place, builder.scalar(value), llvm_type(dtype, 1))
        for place, buffer in enumerate(shared, first):
            self.fill(frame, place, self.memory.layouts[buffer].base, "ptr")
        self.hand_over(loop, frame, first + len(shared))
        name = f"{self.prefix}task{len(self.tasks)}"
        self.tasks.append(Task(name, ""))
        places = dict(zip(shared, range(first, first + len(shared)), strict=True))
        self.tasks[-1] = Task(name, self._function(name, loop, free, places))
        count = builder.value(f"sub i64 {high}, {low}")
        count = builder.value(f"call i64 @llvm.smax.i64(i64 {count}, i64 0)")
        self._launch(name, loop, frame, count, first + len(shared))
        leave = self.inside(loop.body, again=True)
        leave()

    def _free(self, loop: For) -> tuple[Expr, ...]:
        """What the loop's body uses of the loops and variables around it.

        The loop's own bounds are computed before the task is called; where the body uses the same
        expression (equal ones are one object), that is a use like any other.
        """
        own = {dim.index for s in walk((loop,)) if isinstance(s, For) for dim in s.dims}
        made = {s.local for s in walk(loop.body) if isinstance(s, Let)}
        found: dict[Expr, None] = {}
        roots = [e for s in walk(loop.body) for e in expressions(s)]
        for node in postorder(roots):
            outside = node.name == "index" and node.attr not in own
            if outside or (node.name == "local" and node.attr not in made):
                found[node] = None
        return tuple(found)

    def _shared(self, loop: For) -> list[int]:
        """The kernel's own arrays that the loop shares with what is around it."""
        inside = self.kernel.scratch & frozenset(b for s in walk((loop,)) for b in buffers_of(s))
        return sorted(n for n in inside if not self.is_within(n, loop))

    def is_within(self, buffer: int, loop: For) -> bool:
        """Whether only this loop uses a buffer."""
        seen, total = (
            sum(buffer in buffers_of(s) for s in walk(body))
            for body in ((loop,), self.plan.kernel.body)
        )
        return seen == total

    def _scratch(self, number: int) -> str:
        if number in self.shared:
            return self.frame_value(self.shared[number], None)
        return super()._scratch(number)

    def _values(self, free: tuple[Expr, ...], inner: list[Expr]) -> list[tuple[DType, Expr]]:
        values = [(node.dtype, self.settled(node)) for node in free]
        return [*values, *((INT64, each) for each in inner)]

    def _function(
        self, name: str, loop: For, free: tuple[Expr, ...], shared: dict[int, int]
    ) -> str:
        """The task's text."""
        part = replace(self.kernel, body=(loop,))
        task = type(self)(replace(self.plan, kernel=part), self.vector_bytes)
        task.in_task, task.shared, task.words = True, shared, self.words
        builder = task.builder
        builder.entry.append("%args = load ptr, ptr %frame")
        task.arguments()
        cells = [task.frame_value(1, INT64)]
        for place, node in enumerate(free, 2):
            value = builder.variable(task.frame_value(place, node.dtype), node.dtype)
            if node.name == "index":
                task.variables[node.attr] = value
            else:
                task.values[node.attr] = value
        first = 2 + len(free)
        cells += [task.frame_value(first + k, INT64) for k in range(2 * len(loop.dims) - 2)]
        begin = builder.value(f"add i64 {cells[0]}, %lo")
        end = builder.value(f"add i64 {cells[0]}, %hi")
        bounds = [(begin, end), *zip(cells[1::2], cells[2::2], strict=True)]
        place = 2 + len(free) + 2 * len(loop.dims) - 2 + len(shared)
        join = task.start_apart(loop, place)
        task.loops(loop, bounds)
        join()
        return task.text(name, "%frame")

    def _launch(self, name: str, loop: For, frame: str, count: str, apart: int) -> None:
        builder = self.builder
        first = loop.dims[0].index
        each = self.scalar(self.plan.work[first])
        total = builder.value(f"mul i64 {count}, {each}")
        some = builder.value(f"icmp ne ptr {self.team}, null")
        grain = GRAIN if first in self.plan.vectors else 1
        wanted = builder.slot("[6 x i64]")
        label = builder.label()
        builder.line(f"br i1 {some}, label %{label}.look, label %{label}.one")
        builder.line(f"{label}.look:")
        words = [builder.value(f"getelementptr i64, ptr {self.team}, i64 {k}") for k in (1, 2, 3)]
        least = builder.value(f"load i64, ptr {words[2]}")
        large = self.is_large(loop, frame, apart, total, least)
        builder.line(f"br i1 {large}, label %{label}.all, label %{label}.one")
        builder.line(f"{label}.all:")
        parts = ((f"@{name}", "ptr"), (frame, "ptr"), (count, "i64"), (str(grain), "i64"),
                 ("0", "i64"), ("0", "i64"))  # fmt: skip
        for place, (register, kind) in enumerate(parts):
            self.fill(wanted, place, register, kind)
        launch = builder.value(f"load ptr, ptr {self.team}")
        pool = builder.value(f"load ptr, ptr {words[0]}")
        threads = builder.value(f"load i64, ptr {words[1]}")
        builder.line(f"call void {launch}(ptr {pool}, ptr {wanted}, i64 {threads})")
        builder.line(f"br label %{label}.end")
        builder.line(f"{label}.one:")
        builder.line(f"call void @{name}(ptr {frame}, i64 0, i64 {count}, ptr null)")
        builder.line(f"br label %{label}.end")
        builder.line(f"{label}.end:")
