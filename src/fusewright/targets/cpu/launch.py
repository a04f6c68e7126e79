"""Running a plan on the CPU: memory for results, argument words, the call, and what is left for
the next step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from fusewright.base.figures import LINE, NEAR, TINY_ELEMENTS
from fusewright.base.values import dataclass
from fusewright.codegen.module import Module, Scratch, Word
from fusewright.ir import ops
from fusewright.ir.dtypes import INT64, component
from fusewright.ir.expr import Expr, const, op
from fusewright.ir.graph import Memory
from fusewright.ir.nest import Program
from fusewright.machine import record as machine
from fusewright.plan.plan import Kernel, counts_tiles
from fusewright.plan.units import (
    ceiling,
    largest,
    least,
    most,
    product,
    quotient,
    unit_elements,
    units_of,
)
from fusewright.runtime.arguments import (
    ADDRESS,
    NUMBER,
    VALUE,
    Integer,
    Values,
    WordSource,
    filled,
    integer,
)
from fusewright.runtime.buffers import allocate
from fusewright.runtime.image import Executable, Image
from fusewright.targets.cpu import threads
from fusewright.targets.cpu.compiled import CompiledKernel

Memories = dict[int, tuple[Memory, int]]

BLOCK = 16_384
"""Elements that one block of a reduction over rows collects, at least."""
LEAST_STRETCH = 8
"""A stretch is at least this many times its halo, which is computed twice."""
PARTIAL_ROOM = 1 << 20
"""Elements of the partial results of such a reduction, all blocks together, unless
`LONGEST_BLOCK` asks for more."""
MOST_BLOCKS = 64
"""Blocks of a reduction that keeps inner dims: each needs room for a partial result."""
LONGEST_BLOCK = 1024
"""Rows that one block of such a reduction collects, at most, however many blocks that makes: their
room is then a thousandth of the operand's."""


@dataclass(slots=True)
class Launch(Executable[Module]):
    """A compiled kernel and how to call it."""

    kernel: Kernel
    units: Integer
    outputs: tuple[tuple[int, Integer], ...]
    partials: tuple[tuple[int, Integer], ...]
    scratch: tuple[tuple[int, Integer], ...]
    block: Integer
    inner: Integer
    work: float
    stretch: Integer
    words: tuple[WordSource, ...]
    slots: int
    call: Callable[[int, int, int, int], int]
    inherits: dict[int, int]
    tell: Callable[[int, int], None] | None = None
    """Hears of better code: the native core keeps the addresses too."""

    def use(self, image: Image) -> None:
        """Run this code from now on."""
        Executable.use(self, image)
        if self.tell is not None:
            self.tell(self.address, self.finish)

    def run(self, values: Values, memories: Memories, limit: int) -> int:
        """Call the kernel; the number of threads used."""
        for slot, size in self.outputs:
            if slot not in memories:  # a patch writes what an earlier step made
                base = self.inherits.get(slot)
                memories[slot] = (allocate(size(values)), 0) if base is None else memories[base]
        units = self.units(values)
        block = self.block(values) if self.partials else 1
        blocks = max(-(-units // block), 1)
        partials = [allocate(size(values) * blocks) for _, size in self.partials]
        addresses = {slot: memory.address + offset for slot, (memory, offset) in memories.items()}
        addresses.update((self.slots + n, memory.address) for n, memory in enumerate(partials))
        given = [*values, block, self.stretch(values)]
        words = filled(self.words, addresses, given, values)
        where = words.buffer_info()[0]
        count = self._call(where, values, units, block, limit)
        if partials:
            threads.call(self.finish, where, blocks, 0)
            self._fill_empty(values, memories)
        return count

    def _call(self, where: int, values: Values, units: int, block: int, limit: int) -> int:
        scratch = 0
        for _, size in self.scratch:
            scratch += -(-size(values) // 64) * 64
        several = units > 1 < limit and not self.kernel.ordered
        if several and self._nanoseconds(values, units) >= machine.current().parallel:
            # whole blocks: two threads must not add to the partial result of one
            grain = -(-self._grain(units, limit) // block) * block
            threads.launch(self.address, where, units, grain, scratch, limit)
            return limit
        self.call(self.address, where, units, threads.own_scratch(scratch) if scratch else 0)
        return 1

    def _fill_empty(self, values: Values, memories: Memories) -> None:
        """Reductions of nothing: no unit ran, or none had elements."""
        for member in self.kernel.sinks:
            stage = member.stage
            if all(integer(stage.extents[dim])(values) for dim in stage.axes):
                continue
            memory, offset = memories[stage.slot]
            array = np.frombuffer(memory.owner, np.uint8)[offset:].view(stage.dtype.numpy)
            array[:] = ops.REDUCE[stage.fold].identity or 0

    def _grain(self, units: int, count: int) -> int:
        """Units that belong together: a range with halo rows is worth its warm-up only when it is
        long.
        """
        if self.kernel.streams:
            return -(-units // count)
        return 1 if self.kernel.form == "rows" or counts_tiles(self.kernel) else TINY_ELEMENTS

    def _nanoseconds(self, values: Values, units: int) -> float:
        return self.work * units * self.inner(values)


def _sources(compiled: CompiledKernel, slots: int, count: int) -> tuple[WordSource, ...]:
    """Where a kernel's words come from: partial results follow the slots, a block's units and the
    stretch the `count` parameters.
    """
    partials = [slot for slot, *_ in compiled.module.partials]
    scalars = compiled.scalars

    def source(word: Word) -> WordSource:
        number = word.number
        match word.what:
            case "pointer":
                return WordSource(ADDRESS, number)
            case "partial":
                return WordSource(ADDRESS, slots + partials.index(number))
            case "block":
                return WordSource(VALUE, count)
            case "tile":
                return WordSource(VALUE, count + 1)
        dtype = scalars.get(number)
        if dtype is None:
            return WordSource(VALUE, number)
        return WordSource(NUMBER, number, component(dtype) if word.part >= 0 else dtype, word.part)

    return tuple(map(source, compiled.module.words))


def prepare(program: Program, compiled: CompiledKernel, slots: int) -> Launch:
    """What can be known of a kernel's calls before the first; so many values the slice has."""
    kernel, module = compiled.kernel, compiled.module
    outputs = tuple(
        (m.stage.slot, _bytes(program.buffers[m.stage.slot].extents, m.stage.dtype.itemsize))
        for m in kernel.members
        if m.place == "memory"
    )
    partials = tuple(
        (slot, _scaled(integer(elements), itemsize)) for slot, elements, itemsize in module.partials
    )
    stretch = stretch_of(kernel, module)
    scratch = tuple((piece.slot, integer(room(piece, stretch))) for piece in module.scratch)
    launch = Launch(
        module,
        kernel,
        integer(units_of(kernel)),
        outputs,
        partials,
        scratch,
        integer(block_units(kernel)),
        integer(unit_elements(kernel)),
        compiled.work,
        integer(stretch),
        _sources(compiled, slots, len(program.arguments)),
        slots,
        threads.code().call,
        _inherited(kernel),
    )
    launch.use(compiled.image)
    return launch


def _inherited(kernel: Kernel) -> dict[int, int]:
    """Whose memory a patched value takes over, in the order of the members."""
    stages = [m.stage for m in kernel.members]
    return {s.slot: s.update for s in stages if s.update not in (-1, s.slot)}


def _bytes(extents: Sequence[Expr], unit: int) -> Integer:
    sizes = [integer(extent) for extent in extents]

    def count(values: Values) -> int:
        total = unit
        for size in sizes:
            total *= size(values)
        return total

    return count


def room(piece: Scratch, stretch: Expr) -> Expr:
    """Bytes of a row or tile buffer."""
    size = product(piece.extents, piece.rows * piece.itemsize)
    if piece.halo < 0:
        return size
    return op("multiply", size, op("add", stretch, const(piece.halo, INT64)))


def stretch_of(kernel: Kernel, module: Module) -> Expr:
    """Elements of dim 1 computed at a time: as many as keep the rows near, but many more than the
    halo.
    """
    if not kernel.tiled:
        return const(0, INT64)
    one = const(1, INT64)
    columns = [product(piece.extents, piece.rows * piece.itemsize) for piece in module.scratch]
    column = reduce(lambda a, b: op("add", a, b), columns, const(0, INT64))
    halo = max(m.right - m.left for m in kernel.members)
    smallest = const(max(LEAST_STRETCH * halo, 1), INT64)
    wanted = most(quotient(const(NEAR, INT64), most(column, one)), smallest)
    width = largest([m.stage.extents[1] for m in kernel.members])
    count = most(ceiling(width, wanted), one)
    unit = const(LINE if len(kernel.members[0].stage.extents) == 2 else 1, INT64)
    return op("multiply", most(ceiling(width, op("multiply", count, unit)), one), unit)


def _scaled(size: Integer, factor: int) -> Integer:
    return lambda values: size(values) * factor


def block_units(kernel: Kernel) -> Expr:
    """Units in one block of the kernel's reductions: a function of shapes alone."""
    one = const(1, INT64)
    if kernel.form == "tiles" or not kernel.sinks:
        return one
    stage = kernel.sinks[0].stage
    kept = [stage.extents[dim] for dim in stage.kept]
    if not kept:
        row = most(product(stage.extents[1:]), one)
        return most(ceiling(const(BLOCK, INT64), row), one)
    room = quotient(const(PARTIAL_ROOM, INT64), most(product(kept), one))
    blocks = least(most(room, one), const(MOST_BLOCKS, INT64))
    rows = least(ceiling(stage.extents[0], blocks), const(LONGEST_BLOCK, INT64))
    return most(rows, one)
