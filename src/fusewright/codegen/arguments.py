"""What a kernel of arrays is handed: its argument words, and where each value lies in memory or
scratch.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.codegen.derived import Bodies, Derived
from fusewright.codegen.fold import Folding
from fusewright.codegen.memory import Layout
from fusewright.codegen.module import Scratch, Word
from fusewright.codegen.repeat import Repeat, Table
from fusewright.codegen.statements import Emission
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op
from fusewright.ir.nest import Buffer
from fusewright.ir.tree.nodes import MappedLoop, RepeatedStep, Tree, stores_in, walk
from fusewright.ir.tree.units import BLOCK, HIGH, LOW, STRETCH, RowBuffer, Units, WindowStart


class UnitArguments(Emission):
    """The arguments and layouts of one tree, read before its loops are written."""

    def __init__(self, tree: Tree, avx512: bool, derived: Derived | None = None) -> None:
        super().__init__(tree, avx512, derived)
        assert tree.units is not None, "kernels of loops are printed by `codegen.statements`"
        self.units: Units = tree.units
        self.scratch: list[Scratch] = []
        self.folding = Folding(self.memory)
        self.repeats: dict[Bodies, Repeat] = {}
        self.words_of: dict[Bodies, int] = {}
        self.tables: dict[Bodies, Table] = {}

    def arguments(self) -> None:
        """Read the argument words, and know where values lie."""
        for node in walk(self.tree.body):
            if isinstance(node, MappedLoop) and isinstance(node.body[0], RepeatedStep):
                self._turns_of(node.body[0], index(node.index))
        for param in self.units.params:
            register = self.given(Word.param(param.attr), param.dtype)
            self.builder.scopes[0].memo[(param, 1)] = register
        for given, register in ((LOW, "%lo"), (HIGH, "%hi")):
            self.variables[given.attr] = self.builder.variable(register)
        self._layouts()

    def _turns_of(self, node: RepeatedStep, along: Expr) -> None:
        """The scalars of a step's turns are argument words in a row."""
        bodies = tuple(store.value for store in stores_in(node.body))
        one = self.derived.repeat(bodies, along)
        assert one is not None, "a repeated step repeats one"
        if bodies in self.repeats:
            return
        self.repeats[bodies] = one
        scalars = (scalar for turn in one.found.values for scalar in turn)
        self.words_of[bodies] = self.words.row([Word.param(each.attr) for each in scalars])

    def _layouts(self) -> None:
        if self.units.is_stretched:
            self._bind(STRETCH, Word("tile"))
        rooms = {room.number: room for room in self.units.rooms}
        blocks = {each.buffer for each in self.units.partials}
        self.memory.fetches = bool(self.tree.streamed)
        for number, buffer in enumerate(self.tree.declared.buffers):
            if number in blocks:
                pointer = self.given(Word("partial", number), None)
                self.folding.partials[number] = pointer
                extents = (const(1, INT64), *buffer.extents)
                self.memory.layouts[number] = Layout(pointer, Buffer(number, buffer.dtype, extents))
            elif number in rooms:
                self._row_layout(rooms[number], buffer)
            else:
                pointer = self.given(Word("pointer", number), None)
                streamed = number in self.tree.streamed
                self.memory.layouts[number] = Layout(pointer, buffer, streamed=streamed)
        if blocks:
            self._bind(BLOCK, Word("block"))

    def _bind(self, name: Expr, word: Word) -> None:
        register = self.given(word, INT64)
        self.variables[name.attr] = self.builder.variable(register)

    def _row_layout(self, room: RowBuffer, buffer: Buffer) -> None:
        """Carve a row, ring or tile buffer out of scratch (64-byte aligned)."""
        extents = () if room.tile else buffer.extents[room.dropped :]
        if room.halo >= 0:
            extents = extents[1:]
        piece = Scratch(room.number, room.rows, extents, buffer.dtype.itemsize, room.halo)
        base = "%scratch"
        if self.scratch:
            offset = self._scratch_bytes(self.scratch)
            base = self.builder.value(
                f"getelementptr i8, ptr %scratch, i64 {self.builder.scalar(offset)}"
            )
        self.scratch.append(piece)
        layout = Layout(base, buffer, 0 if room.tile else room.rows, room.dropped)
        if room.halo >= 0:
            layout = layout._replace(stretch=linear.plus(self.variables[STRETCH.attr], room.halo))
        self.memory.layouts[room.number] = layout

    def open_window(self, node: WindowStart) -> None:
        """From now on a row buffer begins with this place."""
        layout, place = self.memory.layouts[node.buffer], self.settled(node.place)
        if layout.stretch is not None:
            layout = layout._replace(start=place)
        else:
            layout = Layout(layout.base, layout.buffer, origin=place)
        self.memory.layouts[node.buffer] = layout

    def _scratch_bytes(self, pieces: Sequence[Scratch]) -> Expr:
        total: Expr = const(0, INT64)
        for piece in pieces:
            size: Expr = const(piece.rows * piece.itemsize, INT64)
            for extent in piece.extents:
                size = op("multiply", size, extent)
            if piece.halo >= 0:
                stretch = self.variables[STRETCH.attr]
                size = op("multiply", size, op("add", stretch, const(piece.halo, INT64)))
            padded = op("bitwise_and", op("add", size, const(63, INT64)), const(-64, INT64))
            total = op("add", total, padded)
        return total
