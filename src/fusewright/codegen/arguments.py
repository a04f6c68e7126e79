"""What a kernel is handed: its argument words, and where each value lies in memory or scratch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusewright.codegen.boxes import boxes, halo_of
from fusewright.codegen.fold import Folding
from fusewright.codegen.loops import Loops
from fusewright.codegen.memory import Layout
from fusewright.codegen.module import Scratch, Word
from fusewright.codegen.repeat import Repeat, Table, repeated
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op, postorder
from fusewright.ir.nest import Buffer, Nest, Program
from fusewright.plan.plan import TILE, Kernel, Member, is_sink
from fusewright.rules.decompose import decompose_all

Bodies = tuple[Expr, ...]
Index = tuple[Expr, ...]
AVX2 = 32
"""Bytes of a vector."""
LIGHT = 24
"""Expressions in a body: below this, two machine vectors at a time hide the latency of one."""


class Arguments(Loops):
    """The arguments and layouts of one kernel, read before its loops are written."""

    def __init__(self, program: Program, kernel: Kernel, vector_bytes: int, large: bool) -> None:
        super().__init__(avx512=vector_bytes == 64)
        self.large = large
        self.program = program
        self.kernel = kernel
        self.vector_bytes = vector_bytes
        self.words: list[Word] = []
        self._places: dict[Word, int] = {}
        self.scratch: list[Scratch] = []
        self.memo: dict[Expr, Expr] = {}
        self.folding = Folding(self.memory)
        self.used: dict[Expr, None] = {}
        self.block_size: Expr = const(1, INT64)
        self.stretch: Expr = const(0, INT64)
        self._turned: set[Expr] = set()
        self.repeats: dict[Bodies, Repeat] = {}
        self.words_of: dict[Bodies, int] = {}
        self.tables: dict[Bodies, Table] = {}

    def _word(self, word: Word) -> int:
        """The place of an argument."""
        place = self._places.get(word)
        if place is None:
            place = self._places[word] = len(self.words)
            self.words.append(word)
        return place

    def _arguments(self) -> None:
        """Read every run-time parameter the kernel's expressions name."""
        self._find_repeats()
        for root in self._written():
            for node in postorder([root]):
                if node.name == "param" and node not in self._turned:
                    self.used.setdefault(node)
        for node in self.used:
            register = self.argument(self._word(Word.param(node.attr)), node.dtype)
            self.builder.scopes[0].memo[(node, 1)] = register

    def _find_repeats(self) -> None:
        """Bodies that repeat a step; the scalars of its turns are argument words in a row."""
        for nests in self._groups():
            bodies = tuple(nest.body for nest in nests)
            if bodies in self.repeats:
                continue
            one = repeated(bodies, index(len(nests[0].box.low) - 1), self.memo)
            if one is not None:
                self.repeats[bodies] = one
                self.words_of[bodies] = len(self.words)
                for turn in one.found.values:
                    for scalar in turn:
                        word = Word.param(scalar.attr)
                        self._places.setdefault(word, len(self.words))
                        self.words.append(word)
                self._turned.update(one.found.varying)

    def _groups(self) -> Iterator[list[Nest]]:
        """The nests of each innermost vector loop."""
        shared = 0 if self.kernel.form == "tiles" else self.kernel.shared
        for phase in self.kernel.phases:
            if all(m.stage.form == "map" for m in phase) and len(phase[0].stage.extents) > shared:
                yield from (nests for _, nests in boxes(phase))

    def _groups_of_repeats(self) -> Iterator[Nest]:
        for nests in self._groups():
            if tuple(nest.body for nest in nests) in self.repeats:
                yield from nests

    def _written(self) -> Iterator[Expr]:
        """What the kernel computes: of a body that repeats a step, the step."""
        loops = set(map(id, self._groups_of_repeats()))
        plain = {n.body for m in self.kernel.members for n in m.stage.nests if id(n) not in loops}
        hidden = {body for bodies in self.repeats for body in bodies} - plain
        yield from (root for root in self._expressions() if root not in hidden)
        for one in self.repeats.values():
            yield from (*one.start, *one.step, *one.roots)

    def _expressions(self) -> Iterator[Expr]:
        slots = set()
        for member in self.kernel.members:
            stage = member.stage
            slots.add(stage.slot)
            yield from stage.extents
            for nest in stage.nests:
                yield nest.body
                yield from (*nest.store, *nest.box.low, *nest.box.high)
                slots.update(e.attr for e in postorder([nest.body]) if e.name == "load")
        for slot in slots:
            buffer = self.program.buffers[slot]
            yield from buffer.extents
            yield from buffer.strides or ()
        for group in self.kernel.extents:
            yield from group

    def _layouts(self) -> None:
        if self.kernel.tiled:
            stretch = self.argument(self._word(Word("tile")), INT64)
            self.stretch = self.builder.variable(stretch)
        inside = {m.stage.slot: m for m in self.kernel.members}
        reads = {
            node.attr
            for root in self._expressions()
            for node in postorder([root])
            if node.name == "load"
        }
        for slot in sorted(reads | set(inside)):
            member = inside.get(slot)
            buffer = self.program.buffers[slot]
            if member is not None and is_sink(member.stage):
                pointer = self.argument(self._word(Word("partial", slot)), None)
                self.folding.partials[slot] = pointer
                blocks = (const(1, INT64), *buffer.extents)
                self.memory.layouts[slot] = Layout(pointer, Buffer(slot, buffer.dtype, blocks))
            elif member is not None and member.place == "row":
                self._row_layout(member, buffer)
            else:
                pointer = self.argument(self._word(Word("pointer", slot)), None)
                self.memory.layouts[slot] = Layout(pointer, buffer, streamed=member is None)
        if self.kernel.sinks:
            block = self.argument(self._word(Word("block")), INT64)
            self.block_size = self.builder.variable(block)

    def _row_layout(self, member: Member, buffer: Buffer) -> None:
        """Carve a row, ring or tile buffer out of scratch (64-byte aligned)."""
        shared = self.kernel.shared
        extents: tuple[Expr, ...]
        if self.kernel.form == "tiles":
            rows, extents = TILE + member.high - member.low, ()
        else:
            rows, extents = member.ring, buffer.extents[shared:]
        halo = -1
        if self.kernel.tiled:
            extents, halo = extents[1:], halo_of(member)
        piece = Scratch(buffer.slot, rows, extents, buffer.dtype.itemsize, halo)
        base = "%scratch"
        if self.scratch:
            offset = self._scratch_bytes(self.scratch)
            base = self.builder.value(
                f"getelementptr i8, ptr %scratch, i64 {self.builder.scalar(offset)}"
            )
        self.scratch.append(piece)
        self.memory.layouts[buffer.slot] = Layout(base, buffer, member.ring, shared)

    def _scratch_bytes(self, pieces: Sequence[Scratch]) -> Expr:
        total: Expr = const(0, INT64)
        for piece in pieces:
            size: Expr = const(piece.rows * piece.itemsize, INT64)
            for extent in piece.extents:
                size = op("multiply", size, extent)
            if piece.halo >= 0:
                width = op("add", self.stretch, const(piece.halo, INT64))
                size = op("multiply", size, width)
            padded = op("bitwise_and", op("add", size, const(63, INT64)), const(-64, INT64))
            total = op("add", total, padded)
        return total

    def origin(self, phase: Sequence[Member], outer: Index) -> str | None:
        """Where in memory the row begins that a phase writes, in elements; None if it does not
        matter.
        """
        if self.kernel.tiled:
            return "0"
        if self.kernel.form == "tiles" or not self.memory.past & {m.stage.slot for m in phase}:
            return None
        total: Expr = const(0, INT64)
        for place, extent in zip((*outer, total), phase[0].stage.extents, strict=True):
            total = linear.plus(linear.times(total, extent), place)
        return self.position(total)

    def bodies(self, nests: Sequence[Nest]) -> list[Expr]:
        """The nests' bodies in primitives."""
        return decompose_all([nest.body for nest in nests], self.memo)

    def width(self, bodies: Sequence[Expr]) -> int:
        """Lanes of a vector loop: one machine vector of the widest type, two where the body is
        light; a vector of AVX2 where it does little but move, which from the second level of cache
        is quicker (an addition by 8 %).
        """
        nodes = list(postorder(bodies))
        sizes = {n.dtype.itemsize for n in nodes if n.name not in ("const", "index")}
        widest = max(sizes | {body.dtype.itemsize for body in bodies})
        light = len(nodes) < LIGHT
        inner = sum(n.name not in ("const", "index", "load", "param") for n in nodes)
        if not self.large and inner <= sum(n.name == "load" for n in nodes):
            return min(self.vector_bytes, AVX2) // max(widest, 1)
        return self.vector_bytes * (2 if light else 1) // max(widest, 1)
