"""Where the elements of a kernel's values are: addresses, loads and stores at a vector width.

Three layouts: `memory` (an argument's pointer; C order, or one byte stride for each dim), `row` (a
ring of rows in scratch) and `tile` (the elements around the current tile in scratch).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fusewright.base.figures import LINE, PREFETCH
from fusewright.codegen.builder import Builder, mask_type
from fusewright.codegen.spell import llvm_type
from fusewright.codegen.text import suffix_of
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64, UINT8, DType, component
from fusewright.ir.expr import Expr, const, op
from fusewright.ir.nest import Buffer, in_pairs


class Layout(NamedTuple):
    """How an index becomes an address.

    `base` is a register.  `leading` dims are the ring (`ring` rows, a power of two; only of dim 0)
    or, in a tile, dim 0 counted from `origin`.  `dropped` leading dims of a row buffer have no
    storage of their own.  In tiled rows dim 1 is `stretch` wide, counted from `start`.  `streamed`
    values come from memory: the kernel only reads them.
    """

    base: str
    buffer: Buffer
    ring: int = 0
    dropped: int = 0
    origin: Expr | None = None
    stretch: Expr | None = None
    start: Expr | None = None
    streamed: bool = False


class Memory:
    """Emits loads and stores of a kernel's values."""

    def __init__(self, avx512: bool) -> None:
        self.layouts: dict[int, Layout] = {}
        self.past: frozenset[int] = frozenset()
        """Values written past the caches, where whole aligned vectors are stored."""
        self.aligned = False
        """Whether the loop being written stores such vectors."""
        self.fetches = False
        self.writes = 0
        """A number for the content of memory: it changes when something may have been written."""
        self.builder = Builder(self.load, avx512)

    def _offset(self, layout: Layout, indices: Sequence[Expr]) -> tuple[Expr, int]:
        """The position of an element, and in how many bytes it counts."""
        buffer = layout.buffer
        size = buffer.dtype.itemsize
        part = None
        if buffer.dtype.is_complex:  # seen as reals with one more dim
            indices, part = indices[:-1], indices[-1]
        if buffer.strides is not None:
            total: Expr = const(0, INT64)
            for index, stride in zip(indices, buffer.strides, strict=False):
                total = linear.plus(total, linear.times(index, stride))
            half = component(buffer.dtype).itemsize
            return (total if part is None else linear.plus(total, linear.times(part, half))), 1
        total = self._linear(layout, list(indices))
        if part is not None:
            total = linear.plus(linear.times(total, 2), part)
            size //= 2
        return total, size

    def _linear(self, layout: Layout, indices: list[Expr]) -> Expr:
        extents = layout.buffer.extents
        if len(indices) < len(extents):  # a collapsed iteration space: one index for all dims
            return indices[0] if indices else const(0, INT64)
        if layout.origin is not None:
            return linear.minus(indices[0], layout.origin)
        total: Expr = const(0, INT64)
        if layout.ring > 1:
            total = op("bitwise_and", indices[0], const(layout.ring - 1, INT64))
        elif not layout.ring and indices:
            total = indices[0]
        first = max(layout.dropped, 1)
        if layout.stretch is not None and layout.start is not None:
            extents = (extents[0], layout.stretch, *extents[2:])
            indices = [indices[0], linear.minus(indices[1], layout.start), *indices[2:]]
        for index, extent in zip(indices[first:], extents[first:], strict=True):
            total = linear.plus(linear.times(total, extent), index)
        return total

    def element(self, slot: int, indices: Sequence[Expr]) -> str:
        """The number of an element, counted from address 0 (where elements lie so)."""
        layout = self.layouts[slot]
        offset, size = self._offset(layout, indices)
        address = self.builder.value(f"ptrtoint ptr {self._pointer(layout, offset, size)} to i64")
        return self.builder.value(f"udiv i64 {address}, {size}")

    def load(self, node: Expr, width: int) -> str:
        """An element, or `width` of them along the vector loop."""
        layout = self.layouts[node.attr]
        offset, size = self._offset(layout, node.args)
        dtype = node.dtype
        if width == 1:
            raw = self._read(self._pointer(layout, offset, size), dtype, 1)
        else:
            raw = self._load_lanes(layout, offset, size, dtype, width)
        if dtype is BOOL:
            kind = llvm_type(UINT8, width)
            zero = "0" if width == 1 else "zeroinitializer"
            return self.builder.value(f"icmp ne {kind} {raw}, {zero}")
        return raw

    def _load_lanes(self, layout: Layout, offset: Expr, size: int, dtype: DType, width: int) -> str:
        lanes = self.builder.lanes
        assert lanes is not None
        pace, rest = self._pace(offset)
        if pace is not None and pace * size == dtype.itemsize:
            pointer = self._moving(layout, rest, size, dtype)
            if self.fetches and layout.streamed and lanes.mask is None:
                self._fetch(layout, rest, pointer, width * dtype.itemsize)
            return self._read(pointer, dtype, width)
        if pace is not None and pace * size == -dtype.itemsize and lanes.mask is None:
            back = linear.minus(rest, (width - 1) * -pace)
            raw = self._read(self._moving(layout, back, size, dtype, -1), dtype, width)
            order = ", ".join(f"i32 {lane}" for lane in reversed(range(width)))
            kind = llvm_type(_memory_type(dtype), width)
            return self.builder.value(
                f"shufflevector {kind} {raw}, {kind} poison, <{width} x i32> <{order}>"
            )
        if pace is not None and pace * size == 2 * dtype.itemsize and _is_part(layout.buffer, rest):
            return self._load_part(layout, rest, size, dtype, width)
        return self._gather(layout, offset, size, dtype, width)

    def _load_part(self, layout: Layout, rest: Expr, size: int, dtype: DType, width: int) -> str:
        """The real or imaginary parts of complex numbers side by side: both are read at once."""
        builder, lanes = self.builder, self.builder.lanes
        assert lanes is not None
        half = dtype.itemsize // size
        part = linear.terms(rest).get(const(1, INT64), 0) % (2 * half) // half
        rest = linear.minus(rest, part * half)
        key = (layout.base, rest, size, lanes.start, lanes.mask, width, self.writes)
        both = builder.scopes[-1].memo.get(key)
        kind = llvm_type(dtype, 2 * width)
        if both is None:
            both = self._read(self._moving(layout, rest, size, dtype, 2), dtype, 2 * width)
            builder.scopes[-1].memo[key] = both
        order = ", ".join(f"i32 {2 * lane + part}" for lane in range(width))
        return builder.value(
            f"shufflevector {kind} {both}, {kind} poison, <{width} x i32> <{order}>"
        )

    def _fetch(self, layout: Layout, rest: Expr, pointer: str, nbytes: int) -> None:
        """Ask for the lines this stream reads a few iterations later, once for all its loads."""
        if nbytes < LINE // 2:
            return
        around = tuple(item for item in linear.terms(rest).items() if item[0].name != "const")
        known = self.builder.scopes[-1].memo
        if known.setdefault(("fetched", layout.base, around), pointer) != pointer:
            return
        for ahead, cache in PREFETCH:
            for start in range(ahead, ahead + nbytes, LINE):
                place = self.builder.value(f"getelementptr i8, ptr {pointer}, i64 {start}")
                self.builder.line(
                    f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 {cache}, i32 1)"
                )

    def _pace(self, offset: Expr) -> tuple[int | None, Expr]:
        """The literal step of an offset from lane to lane (None: not literal), and the offset
        without it.
        """
        lanes = self.builder.lanes
        assert lanes is not None
        total = linear.terms(offset)
        pace: int | None = 0
        rest = {}
        for term, count in total.items():
            if lanes.variable not in self.builder.depends(term):
                rest[term] = count
            elif term.name == "index" and pace is not None:
                pace += count
            else:
                pace = None
        return pace, linear.build(rest)

    def _moving(
        self, layout: Layout, rest: Expr, size: int, dtype: DType, direction: int = 1
    ) -> str:
        """The address of the current lanes: a loop-invariant pointer plus the loop variable."""
        lanes = self.builder.lanes
        assert lanes is not None
        pointer = self._pointer(layout, rest, size)
        start = lanes.start
        if direction != 1:
            start = self.builder.value(f"mul i64 {start}, {direction}")
        memory = llvm_type(_memory_type(dtype), 1)
        return self.builder.value(f"getelementptr {memory}, ptr {pointer}, i64 {start}")

    def _pointer(self, layout: Layout, offset: Expr, size: int) -> str:
        """A scalar address, as far out as the offset may stand."""
        builder = self.builder
        depth = builder.depth(offset)
        key = (layout.base, offset, size)
        for scope in reversed(builder.scopes):
            if key in scope.memo:
                return scope.memo[key]
        distance = builder.scalar(offset)

        def write() -> str:
            return builder.value(f"getelementptr [{size} x i8], ptr {layout.base}, i64 {distance}")

        pointer = builder.at(depth, write)
        builder.scopes[depth].memo[key] = pointer
        return pointer

    def _read(self, pointer: str, dtype: DType, width: int) -> str:
        memory = _memory_type(dtype)
        kind = llvm_type(memory, width)
        align = memory.itemsize
        lanes = self.builder.lanes
        if width == 1 or lanes is None or lanes.mask is None:
            return self.builder.value(f"load {kind}, ptr {pointer}, align {align}")
        name = f"@llvm.masked.load.v{width}{suffix_of(memory)}.p0"
        return self.builder.value(
            f"call {kind} {name}(ptr align {align} {pointer}, {self._lanes_of(width)}, "
            f"{kind} zeroinitializer)"
        )

    def _addresses(self, layout: Layout, offset: Expr, size: int, width: int) -> str:
        distance = self.builder.emit(offset)
        return self.builder.value(
            f"getelementptr [{size} x i8], ptr {layout.base}, <{width} x i64> {distance}"
        )

    def _gather(self, layout: Layout, offset: Expr, size: int, dtype: DType, width: int) -> str:
        memory = _memory_type(dtype)
        kind = llvm_type(memory, width)
        where = self._addresses(layout, offset, size, width)
        name = f"@llvm.masked.gather.v{width}{suffix_of(memory)}.v{width}p0"
        return self.builder.value(
            f"call {kind} {name}(<{width} x ptr> align {memory.itemsize} {where}, "
            f"{self._lanes_of(width)}, {kind} zeroinitializer)"
        )

    def _lanes_of(self, width: int) -> str:
        """The mask operand of a read or write; each lane twice where both parts are moved."""
        lanes, kind = self.builder.lanes, mask_type(width)
        assert lanes is not None
        if lanes.mask is None:
            return f"{kind} splat (i1 true)"
        if width == lanes.width:
            return f"{kind} {lanes.mask}"
        order = ", ".join(f"i32 {lane // 2}" for lane in range(width))
        own = mask_type(lanes.width)
        twice = self.builder.value(
            f"shufflevector {own} {lanes.mask}, {own} poison, <{width} x i32> <{order}>"
        )
        return f"{kind} {twice}"

    def store_parts(
        self, slot: int, indices: Sequence[Expr], values: tuple[str, str], dtype: DType
    ) -> None:
        """Write a real and an imaginary part; side by side along the vector loop in one go."""
        layout, lanes = self.layouts[slot], self.builder.lanes
        offset, size = self._offset(layout, (*indices, const(0, INT64)))
        pace, rest = self._pace(offset) if lanes is not None else (None, offset)
        if lanes is None or pace is None or pace * size != 2 * dtype.itemsize:
            for part, value in enumerate(values):
                self.store(slot, (*indices, const(part, INT64)), value, dtype)
            return
        width = lanes.width
        order = ", ".join(f"i32 {lane}, i32 {lane + width}" for lane in range(width))
        kind = llvm_type(dtype, width)
        both = self.builder.value(
            f"shufflevector {kind} {values[0]}, {kind} {values[1]}, <{2 * width} x i32> <{order}>"
        )
        past = self.aligned and slot in self.past
        self._write(self._moving(layout, rest, size, dtype, 2), both, dtype, 2 * width, past)

    def store(self, slot: int, indices: Sequence[Expr], value: str, dtype: DType) -> None:
        """Write a register to an element, or its lanes along the vector loop."""
        layout = self.layouts[slot]
        offset, size = self._offset(layout, indices)
        width = self.builder.lanes.width if self.builder.lanes else 1
        memory = _memory_type(dtype)
        if dtype is BOOL:
            value = self.builder.value(
                f"zext {mask_type(width)} {value} to {llvm_type(memory, width)}"
            )
        if width == 1:
            pointer = self._pointer(layout, offset, size)
            self.builder.line(
                f"store {memory.llvm} {value}, ptr {pointer}, align {memory.itemsize}"
            )
            return
        pace, rest = self._pace(offset)
        if pace is not None and pace * size == dtype.itemsize:
            past = self.aligned and slot in self.past
            self._write(self._moving(layout, rest, size, dtype), value, memory, width, past)
        else:
            self._scatter(self._addresses(layout, offset, size, width), value, memory, width)

    def _write(self, pointer: str, value: str, memory: DType, width: int, past: bool) -> None:
        lanes = self.builder.lanes
        kind = llvm_type(memory, width)
        if (lanes is None or lanes.mask is None) and past:
            align = min(width * memory.itemsize, 64)
            self.builder.line(
                f"store {kind} {value}, ptr {pointer}, align {align}, !nontemporal !0"
            )
            return
        if lanes is None or lanes.mask is None:
            self.builder.line(f"store {kind} {value}, ptr {pointer}, align {memory.itemsize}")
            return
        self.builder.line(
            f"call void @llvm.masked.store.v{width}{suffix_of(memory)}.p0({kind} {value}, "
            f"ptr align {memory.itemsize} {pointer}, {self._lanes_of(width)})"
        )

    def _scatter(self, where: str, value: str, memory: DType, width: int) -> None:
        kind = llvm_type(memory, width)
        self.builder.line(
            f"call void @llvm.masked.scatter.v{width}{suffix_of(memory)}.v{width}p0("
            f"{kind} {value}, <{width} x ptr> align {memory.itemsize} {where}, "
            f"{self._lanes_of(width)})"
        )


def _is_part(buffer: Buffer, offset: Expr) -> bool:
    """Whether an offset is that of one part in each of some pairs: of `x[i, j]` with two columns,
    `j` tells which part, and both are read only where that is a literal.
    """
    if buffer.dtype.is_complex or buffer.strides is not None or not in_pairs(buffer):
        return buffer.dtype.is_complex
    return all(n % 2 == 0 or term.name == "const" for term, n in linear.terms(offset).items())


def _memory_type(dtype: DType) -> DType:
    """A bool takes one byte."""
    return UINT8 if dtype is BOOL else dtype
