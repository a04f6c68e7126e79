"""What the parts of a loop on threads collect apart: variables and arrays that every iteration
updates, in any order the same.

Each call of a task has a variable of its own that starts from the operation's identity, and updates
the common one in a single step when it ends; likewise copies of arrays, where they are small
beside the work.  Else one thread does it all, in place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from fusewright.codegen.associative import join_in_memory
from fusewright.codegen.derived import Derived
from fusewright.codegen.lanes import InLanes
from fusewright.codegen.spell import literal, llvm_type
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT8, INT64, DType
from fusewright.ir.expr import Expr, const
from fusewright.ir.identity import of_update
from fusewright.ir.tree.nodes import MappedLoop, Reduction, Tree

ELEMENTS_OF_LEAST = 60
"""Elements of a copy that cost as much as the least work that is worth waking a thread: each of the
parts fills and joins them.
"""


def variables_of(loop: MappedLoop) -> list[Reduction]:
    """The variables that the parts of a task collect apart."""
    return [each for each in loop.reductions if each.what == "variable"]


def arrays_of(loop: MappedLoop) -> list[Reduction]:
    """The arrays that they copy."""
    return [each for each in loop.reductions if each.what == "array"]


class Privatised(InLanes):
    """A kernel being written; words of a task's frame hold where the common values are, and
    whether arrays are copied.
    """

    def __init__(self, tree: Tree, avx512: bool, derived: Derived | None = None) -> None:
        super().__init__(tree, avx512, derived)
        self.copied = ""

    def apart(self, loop: MappedLoop) -> int:
        """How many words of the frame that takes."""
        return len(variables_of(loop)) + bool(arrays_of(loop))

    def fill(self, frame: str, place: int, register: str, kind: str) -> None:
        """Put a value into a frame."""
        pointer = self.builder.value(f"getelementptr i64, ptr {frame}, i64 {place}")
        if kind == "i1":
            register, kind = self.builder.value(f"zext i1 {register} to i8"), "i8"
        self.builder.line(f"store {kind} {register}, ptr {pointer}, align 8")

    def frame_value(self, place: int, dtype: DType | None) -> str:
        """What the frame holds at a place; a pointer where there is no dtype."""
        return self.argument(place, dtype, "%frame")

    # -- where the task is called ---------------------------------------------------------------

    def hand_over(self, loop: MappedLoop, frame: str, place: int) -> None:
        """The words of the frame; arrays are not copied unless the work is found to be large."""
        for each in variables_of(loop):
            self.fill(frame, place, self.cell(each.number), "ptr")
            place += 1
        if arrays_of(loop):
            self.fill(frame, place, "0", "i64")

    def is_large(self, loop: MappedLoop, frame: str, place: int, total: str, least: str) -> str:
        """Whether the work is large enough, also beside the copies; then they are made."""
        builder = self.builder
        large = builder.value(f"icmp ugt i64 {total}, {least}")
        if not arrays_of(loop):
            return large
        each = builder.value(f"udiv i64 {least}, {ELEMENTS_OF_LEAST}")
        for array in arrays_of(loop):
            size = self.scalar(self._elements(array.number))
            cost = builder.value(f"mul i64 {size}, {each}")
            tests = (
                builder.value(f"icmp ule i64 {size}, {array.most}"),
                builder.value(f"icmp ugt i64 {total}, {cost}"),
            )
            for test in tests:
                large = builder.value(f"and i1 {large}, {test}")
        word = builder.value(f"zext i1 {large} to i64")
        self.fill(frame, place + len(variables_of(loop)), word, "i64")
        return large

    def _elements(self, number: int) -> Expr:
        extents = self.kernel.buffers[number].extents
        return reduce(linear.times, extents, const(1, INT64))

    # -- in the task ----------------------------------------------------------------------------

    def start_apart(self, loop: MappedLoop, place: int) -> Callable[[], None]:
        """Begin collecting; the result, called after the loop, joins what has been collected."""
        builder = self.builder
        ends: list[Callable[[], None]] = []
        for each in variables_of(loop):
            ends.append(self._start_variable(each.number, each.by, place))
            place += 1
        if arrays_of(loop):
            word = self.frame_value(place, INT64)
            self.copied = builder.value(f"icmp ne i64 {word}, 0")
            ends += [self._start_array(each.number, each.by) for each in arrays_of(loop)]

        def join() -> None:
            for end in ends:
                end()

        return join

    def _start_variable(self, number: int, kind: str, place: int) -> Callable[[], None]:
        dtype = self.kernel.locals[number].dtype
        start = literal(of_update(kind, dtype), dtype, 1)
        self.builder.line(f"store {llvm_type(dtype, 1)} {start}, ptr {self.cell(number)}")
        common = self.frame_value(place, None)

        def join() -> None:
            own = self.builder.value(f"load {llvm_type(dtype, 1)}, ptr {self.cell(number)}")
            join_in_memory(self.builder, kind, dtype, common, own)

        return join

    def _start_array(self, number: int, kind: str) -> Callable[[], None]:
        builder, layout = self.builder, self.memory.layouts[number]
        dtype = layout.buffer.dtype
        start, scalar = literal(of_update(kind, dtype), dtype, 1), llvm_type(dtype, 1)
        if dtype is BOOL:
            start, scalar = str(int(of_update(kind, dtype))), "i8"
        size = self.scalar(self._elements(number))
        place = builder.slot("ptr")
        builder.line(f"store ptr {layout.base}, ptr {place}")
        with builder.when(self.copied):
            nbytes = builder.value(f"mul i64 {size}, {dtype.itemsize}")
            fresh = builder.value(f"call ptr @malloc(i64 {nbytes})")
            builder.line(f"store ptr {fresh}, ptr {place}")
            with builder.loop("0", size, 1) as here:
                cell = builder.value(f"getelementptr {scalar}, ptr {fresh}, i64 {here.register}")
                builder.line(f"store {scalar} {start}, ptr {cell}")
        own = builder.value(f"load ptr, ptr {place}")
        self.memory.layouts[number] = layout._replace(base=own)

        def join() -> None:
            with builder.when(self.copied):
                with builder.loop("0", size, 1) as here:
                    at = f"i64 {here.register}"
                    cell = builder.value(f"getelementptr {scalar}, ptr {own}, {at}")
                    value = builder.value(f"load {scalar}, ptr {cell}")
                    with builder.when(builder.value(f"icmp ne {scalar} {value}, {start}")):
                        common = builder.value(f"getelementptr {scalar}, ptr {layout.base}, {at}")
                        kept = INT8 if dtype is BOOL else dtype
                        join_in_memory(builder, kind, kept, common, value)
                builder.line(f"call void @free(ptr {own})")

        return join
