"""Loops divided among threads: each is a function of its own, `task(frame, low, high, scratch)`.

The frame holds the arguments' address, the first index, and what the loop uses of the loops and
variables around it.  Where threads are to be had and the work is worth it, the pool runs the task;
else it is called at once.  (The team: `launch`, the pool, the threads, and the least work in
picoseconds.)
"""

from __future__ import annotations

from fusewright.base.values import dataclass
from fusewright.codegen.derived import Derived
from fusewright.codegen.privatise import Privatised
from fusewright.codegen.spell import llvm_type
from fusewright.ir.dtypes import INT64
from fusewright.ir.tree.nodes import MappedLoop, ThreadMapping, Tree


@dataclass(frozen=True, slots=True)
class Task:
    """A function that runs a part of a loop."""

    name: str
    text: str


class Tasks(Privatised):
    """A kernel being written, with loops that are functions."""

    def __init__(self, tree: Tree, avx512: bool, derived: Derived | None = None) -> None:
        super().__init__(tree, avx512, derived)
        self.tasks: list[Task] = []
        self.prefix = ""
        self.team = ""

    def on_threads(self, loop: MappedLoop, task: ThreadMapping) -> None:
        """Call, or have the pool run, the loop's function."""
        builder = self.builder
        low, high = self.scalar(loop.low), self.scalar(loop.high)
        first = 2 + len(task.frame)
        apart = first + len(task.shared)
        frame = builder.slot(f"[{apart + self.apart(loop)} x i64]")
        self.fill(frame, 0, "%args", "ptr")
        self.fill(frame, 1, low, "i64")
        for place, node in enumerate(task.frame, 2):
            value = builder.scalar(self.settled(node))
            self.fill(frame, place, value, llvm_type(node.dtype, 1))
        for place, buffer in enumerate(task.shared, first):
            self.fill(frame, place, self.memory.layouts[buffer].base, "ptr")
        self.hand_over(loop, frame, apart)
        name = f"{self.prefix}task{len(self.tasks)}"
        self.tasks.append(Task(name, self._function(name, loop, task)))
        count = builder.value(f"sub i64 {high}, {low}")
        count = builder.value(f"call i64 @llvm.smax.i64(i64 {count}, i64 0)")
        self._launch(name, loop, task, frame, count, apart)

    def _function(self, name: str, loop: MappedLoop, mapping: ThreadMapping) -> str:
        """The task's text."""
        tree = Tree(self.kernel, (loop,), mapping.streamed)
        task = type(self)(tree, self.builder.avx512)
        task.words = self.words
        builder = task.builder
        builder.entry.append("%args = load ptr, ptr %frame")
        task.arguments()
        first = task.frame_value(1, INT64)
        for place, node in enumerate(mapping.frame, 2):
            value = builder.variable(task.frame_value(place, node.dtype), node.dtype)
            if node.name == "index":
                task.variables[node.attr] = value
            else:
                task.values[node.attr] = value
        place = 2 + len(mapping.frame)
        for buffer in mapping.shared:
            task.lay(buffer, task.frame_value(place, None))
            place += 1
        for room in mapping.own:
            task.allocate(room)
        begin = builder.value(f"add i64 {first}, %lo")
        end = builder.value(f"add i64 {first}, %hi")
        join = task.start_apart(loop, place)
        task.loop(loop, (begin, end))
        join()
        return task.text(name, "%frame")

    def _launch(
        self, name: str, loop: MappedLoop, task: ThreadMapping, frame: str, count: str, apart: int
    ) -> None:
        builder = self.builder
        each = self.scalar(task.work)
        total = builder.value(f"mul i64 {count}, {each}")
        some = builder.value(f"icmp ne ptr {self.team}, null")
        wanted = builder.slot("[6 x i64]")
        label = builder.label()
        builder.line(f"br i1 {some}, label %{label}.look, label %{label}.one")
        builder.line(f"{label}.look:")
        words = [builder.value(f"getelementptr i64, ptr {self.team}, i64 {k}") for k in (1, 2, 3)]
        least = builder.value(f"load i64, ptr {words[2]}")
        large = self.is_large(loop, frame, apart, total, least)
        builder.line(f"br i1 {large}, label %{label}.all, label %{label}.one")
        builder.line(f"{label}.all:")
        parts = ((f"@{name}", "ptr"), (frame, "ptr"), (count, "i64"), (str(task.grain), "i64"),
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
