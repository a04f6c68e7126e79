"""Loop trees of kernels of arrays as C: what they have beside those of kernels of loops
(`c_printer.py`).  One function runs a part of the units, another combines what was reduced in
blocks of them.  Scalars only: lanes of a reduction are an array of accumulators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from tests.c_printer import PRELUDE, TYPES, CPrinter, literal

from fusewright.codegen.pairs import updated
from fusewright.ir import ops
from fusewright.ir.dtypes import DType, component
from fusewright.ir.expr import Expr, local, typed_op
from fusewright.ir.identity import of_reduction
from fusewright.ir.loops.statements import Store
from fusewright.ir.tree.nodes import (
    OrderedReduction,
    PairedStore,
    RepeatedStep,
    Section,
    Together,
    Tree,
    stores_in,
    walk,
)
from fusewright.ir.tree.units import (
    IndexLet,
    PartialResults,
    WindowStart,
    closes_block,
    opens_block,
)

HEAD = (
    "void kernel(char **given, char *params, char **partial, "
    "int64_t i100, int64_t i101, int64_t i102, int64_t i103) {"
)
FINISH = "void finish(char **given, char *params, char **partial, int64_t blocks) {"
Range = tuple[int, Expr, Expr]
"""A dim and its bounds."""


class ArrayPrinter(CPrinter):
    """One kernel of arrays."""

    printed: ClassVar[dict[type, Callable[..., None]]]

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        assert tree.units is not None
        self.units = tree.units
        self.rooms = {room.number: room for room in tree.units.rooms}
        self.shapes: dict[int, list[str]] = {}
        self.accumulators: list[str] = []

    def text(self) -> str:
        """The module."""
        self._given()
        self._make_rooms()
        self.block(self.tree.body)
        self.lines += [f"free(b{number});" for number in self.rooms]
        kernel = [HEAD, *self._indices(), *self.accumulators, *self.lines, "}"]
        self.lines = []
        self._given()
        for place, each in enumerate(self.units.partials):
            self._finish(place, each)
        return PRELUDE + "\n".join([*kernel, FINISH, *self.lines, "}"]) + "\n"

    def _indices(self) -> list[str]:
        """Those that no loop declares."""
        numbers: set[int] = set()
        for node in walk(self.tree.body):
            if isinstance(node, IndexLet):
                numbers.add(node.index)
            elif isinstance(node, OrderedReduction):
                numbers.update(range(node.outer, len(node.extents)))
        starts = [f"int64_t start{number} = 0;" for number in self.rooms]
        return [*starts, *(f"int64_t i{number} = 0;" for number in sorted(numbers))]

    # -- memory ---------------------------------------------------------------------------------

    def _given(self) -> None:
        for place, number in enumerate(self.kernel.given):
            self.lines.append(f"char *b{number} = given[{place}];")
        for number, buffer in enumerate(self.kernel.buffers):
            parts = ["2"] if buffer.dtype.is_complex else []
            if number not in self.rooms:
                self.shapes[number] = [*map(self.value, buffer.extents), *parts]

    def _make_rooms(self) -> None:
        for number, room in self.rooms.items():
            buffer = self.kernel.buffers[number]
            inner = [self.value(e) for e in buffer.extents[max(room.dropped, 1) :]]
            if room.halo >= 0:
                inner[0] = f"(i103 + {room.halo})"
            parts = ["2"] if buffer.dtype.is_complex else []
            shape = [str(max(room.rows, 1)), *([] if room.tile else inner), *parts]
            self.shapes[number] = shape
            size = component(buffer.dtype).itemsize
            self.lines.append(f"char *b{number} = malloc({'*'.join(shape)} * {size} + 1);")

    def address(self, number: int, indices: Sequence[Expr]) -> str:
        """Complex numbers are reals with one more dim; one index may count all dims."""
        buffer, places = self.kernel.buffers[number], list(map(self.value, indices))
        size, shape = component(buffer.dtype).itemsize, self.shapes[number]
        if any(each.buffer == number for each in self.units.partials):
            return self._in_block(number, places[0], places[1:])
        room = self.rooms.get(number)
        if room is not None and room.tile:
            places[0] = f"({places[0]} - start{number})"
        elif room is not None:
            if room.halo >= 0:
                places[1] = f"({places[1]} - start{number})"
            places = [f"({places[0]} % {max(room.rows, 1)})", *places[max(room.dropped, 1) :]]
        elif buffer.strides is not None:
            strides = [*map(self.value, buffer.strides), str(size)]
            terms = [f"{p} * {s}" for p, s in zip(places, strides, strict=False)]
            return f"b{number} + {' + '.join(terms) or '0'}"
        total = "0"
        for place, extent in zip(
            places, shape if len(places) == len(shape) else "12", strict=False
        ):
            total = f"({total} * {extent} + {place})"
        return f"b{number} + {total} * {size}"

    def _in_block(self, number: int, block: str, places: Sequence[str]) -> str:
        """A number of a block's partial results."""
        flat = "0"
        for place, extent in zip(places, self.shapes[number], strict=False):
            flat = f"({flat} * {extent} + {place})"
        return self._partial(number, block, flat)

    def _partial(self, number: int, block: str, place: str) -> str:
        order = [each.buffer for each in self.units.partials]
        size = self.value(self.units.partials[order.index(number)].size)
        width = component(self.kernel.buffers[number].dtype).itemsize
        return f"partial[{order.index(number)}] + ({block} * {size} + {place}) * {width}"

    def cell(self, number: int, indices: Sequence[Expr], dtype: DType) -> str:
        """An element, as what is read or set."""
        return f"*({TYPES[dtype.name]} *)({self.address(number, indices)})"

    # -- nodes ----------------------------------------------------------------------------------

    def together(self, node: Together | RepeatedStep) -> None:
        self.stored(stores_in(node.body))

    def single(self, node: Store | PairedStore) -> None:
        self.stored(stores_in((node,)))

    def stored(self, stores: Sequence[Store]) -> None:
        """All values, then all stores."""
        values = [self.value(updated(store)) for store in stores]
        for store, value in zip(stores, values, strict=True):
            cell = self.cell(store.buffer, store.indices, store.value.dtype)
            self.lines.append(f"{cell} = {value};")

    def section(self, node: Section) -> None:
        self.block(node.body)

    def index(self, node: IndexLet) -> None:
        self.lines.append(f"i{node.index} = {self.value(node.value)};")

    def window(self, node: WindowStart) -> None:
        self.lines.append(f"start{node.buffer} = {self.value(node.place)};")

    # -- reductions -----------------------------------------------------------------------------

    @contextmanager
    def over(self, ranges: Sequence[Range]) -> Iterator[None]:
        """Loops inside each other."""
        for dim, low, high in ranges:
            begin, end = self.value(low), self.value(high)
            self.lines.append(f"for (i{dim} = {begin}; i{dim} < {end}; i{dim}++) {{")
        yield
        self.lines.append("}" * len(ranges))

    @contextmanager
    def when(self, test: str) -> Iterator[None]:
        self.lines.append(f"if ({test}) {{")
        yield
        self.lines.append("}")

    def combined(self, by: str, dtype: DType, a: str, b: str) -> str:
        """Two numbers, as a reduction or scan of this name combines them."""
        row = ops.REDUCE.get(by) or ops.SCAN[by]
        operands = []
        for text in (a, b):
            operands.append(local(10_000 + next(self.numbers), dtype))
            self.lines.append(f"{TYPES[dtype.name]} v{operands[-1].attr} = {text};")
        return self.value(typed_op(row.combine, dtype, *operands))

    def reduction(self, node: OrderedReduction) -> None:
        self.lines += [f"i{dim} = 0;" for dim in range(node.outer, node.last + 1)]
        (self._in_lanes if node.order == "lanes" else self._in_sequence)(node)

    def _over(self, node: OrderedReduction, dims: Sequence[int]) -> list[Range]:
        ends = [*zip(node.low[:-1], node.high[:-1], strict=True), node.ends]
        return [(dim, *ends[dim]) for dim in dims]

    def _target(self, node: OrderedReduction, fold: Store) -> str:
        """Where a fold accumulates: the result, or its block."""
        block = () if node.unit is None else (node.block,)
        return self.cell(fold.buffer, (*block, *fold.indices), fold.value.dtype)

    def _in_sequence(self, node: OrderedReduction) -> None:
        (fold,) = node.folds
        dtype, total = fold.value.dtype, f"s{next(self.numbers)}"
        self.accumulators.append(f"{TYPES[dtype.name]} {total};")
        with self.over(self._over(node, range(node.outer, node.last))):
            self.lines.append(f"{total} = {_start(fold)};")
            with self.over(self._over(node, [node.last])):
                both = self.combined(fold.combine, dtype, total, self.value(fold.value))
                self.lines.append(f"{total} = {both};")
                self.lines.append(f"{self.cell(fold.buffer, fold.indices, dtype)} = {total};")

    # -- reductions in lanes --------------------------------------------------------------------

    def _in_lanes(self, node: OrderedReduction) -> None:
        lanes = _Lanes(self, node)
        with self.over(self._over(node, node.kept)):
            if node.spans_units:
                self._run_of_units(node, lanes)
                return
            lanes.start()
            with self.over(self._over(node, node.before)):
                self.lines.append(f"{lanes.name}p = 0;")
                self._rows(node, lanes)
                lanes.close()
            self.lines += [f"i{dim} = 0;" for dim in (*node.before, *node.run, node.last)]
            self._finish_lanes(node, lanes)

    def _rows(self, node: OrderedReduction, lanes: _Lanes) -> None:
        with self.over(self._over(node, [*node.run, node.last])):
            self.stored(node.stores)
            lanes.add([self.value(fold.value) for fold in node.folds])

    def _run_of_units(self, node: OrderedReduction, lanes: _Lanes) -> None:
        assert node.unit is not None
        with self.when(self.value(opens_block(node.unit))):
            lanes.start()
        self.lines.append(f"{lanes.name}p = {self.value(node.offset)};")
        self._rows(node, lanes)
        with self.when(self.value(closes_block(node.unit))):
            lanes.close()
            self._into_block(node, lanes)

    def _into_block(self, node: OrderedReduction, lanes: _Lanes) -> None:
        parts, block = dict[int, int](), self.value(node.block)
        for number, fold in enumerate(node.folds):
            part = parts[fold.buffer] = parts.get(fold.buffer, -1) + 1
            for lane in range(lanes.width):
                each = self._partial(fold.buffer, block, str(part * lanes.width + lane))
                kind = TYPES[fold.value.dtype.name]
                self.lines.append(f"*({kind} *)({each}) = {lanes.name}a{number}[{lane}];")

    def _finish_lanes(self, node: OrderedReduction, lanes: _Lanes) -> None:
        if node.unit is not None and not node.kept:
            self._into_block(node, lanes)
            return
        for number, fold in enumerate(node.folds):
            dtype, found = fold.value.dtype, f"{lanes.name}a{number}"
            self.halved(fold.combine, dtype, found, lanes.width)
            target = self._target(node, fold)
            if node.unit is None:
                self.lines.append(f"{target} = {found}[0];")
                continue
            with self.when(f"!{self.value(opens_block(node.unit))}"):
                both = self.combined(fold.combine, dtype, target, f"{found}[0]")
                self.lines.append(f"{found}[0] = {both};")
            self.lines.append(f"{target} = {found}[0];")

    def halved(self, by: str, dtype: DType, lanes: str, width: int) -> None:
        """All lanes, the upper half onto the lower until one is left."""
        self.lines.append(f"for (int64_t h = {width // 2}; h; h /= 2)")
        self.lines.append("for (int64_t l = 0; l < h; l++) {")
        both = self.combined(by, dtype, f"{lanes}[l]", f"{lanes}[l + h]")
        self.lines.append(f"{lanes}[l] = {both}; }}")

    # -- blocks ---------------------------------------------------------------------------------

    def _finish(self, place: int, each: PartialResults) -> None:
        """Combine the blocks by halving, and their lanes."""
        dtype = component(self.kernel.buffers[each.buffer].dtype)
        kind, size = TYPES[dtype.name], self.value(each.size)
        mine = f"p{place}"
        self.lines += [
            f"{kind} *{mine} = (void *)partial[{place}];",
            "for (int64_t left = blocks; left > 1;) { int64_t half = (left + 1) / 2;",
            f"for (int64_t k = half * {size}; k < left * {size}; k++) {{",
        ]
        both = self.combined(each.by, dtype, f"{mine}[k - half * {size}]", f"{mine}[k]")
        self.lines.append(f"{mine}[k - half * {size}] = {both}; }} left = half; }}")
        if not each.are_lanes:
            self.lines.append(f"memcpy(b{each.buffer}, {mine}, {size} * {dtype.itemsize});")
            return
        for part in range(each.parts):
            self.halved(each.by, dtype, f"({mine} + {part * each.width})", each.width)
            self.lines.append(f"(({kind} *)b{each.buffer})[{part}] = {mine}[{part * each.width}];")


class _Lanes:
    """The accumulators of a reduction in lanes: the chunk's, those of all before, and how many
    elements there were.
    """

    def __init__(self, printer: ArrayPrinter, node: OrderedReduction) -> None:
        self.printer, self.node = printer, node
        self.width = node.lanes.width
        self.name = f"r{next(printer.numbers)}"
        printer.accumulators.append(f"int64_t {self.name}p = 0;")
        for number, fold in enumerate(node.folds):
            kind, name = TYPES[fold.value.dtype.name], self.name
            arrays = f"{name}a{number}[{self.width}], {name}c{number}[{self.width}]"
            printer.accumulators.append(f"{kind} {arrays};")

    def _each(self, text: Callable[[Store, str, str], str]) -> None:
        """For each lane of each fold: its total and what its chunk has."""
        lines = self.printer.lines
        for number, fold in enumerate(self.node.folds):
            lines.append(f"for (int64_t l = 0; l < {self.width}; l++) {{")
            made = text(fold, f"{self.name}a{number}[l]", f"{self.name}c{number}[l]")
            lines += [made, "}"]

    def start(self) -> None:
        self._each(lambda fold, total, chunk: f"{total} = {chunk} = {_start(fold)};")

    def close(self) -> None:
        """Add the chunk to what was before it."""

        def closed(fold: Store, total: str, chunk: str) -> str:
            both = self.printer.combined(fold.combine, fold.value.dtype, total, chunk)
            return f"{total} = {both}; {chunk} = {_start(fold)};"

        self._each(closed)

    def add(self, values: Sequence[str]) -> None:
        """The next element."""
        printer, place = self.printer, f"{self.name}p"
        with printer.when(f"{place} && {place} % {self.node.chunk} == 0"):
            self.close()
        for number, (fold, value) in enumerate(zip(self.node.folds, values, strict=True)):
            lane = f"{self.name}c{number}[{place} % {self.width}]"
            both = printer.combined(fold.combine, fold.value.dtype, lane, value)
            printer.lines.append(f"{lane} = {both};")
        printer.lines.append(f"{place}++;")


def _start(fold: Store) -> str:
    return literal(of_reduction(fold.combine, fold.value.dtype), fold.value.dtype)


ArrayPrinter.printed = CPrinter.printed | {
    Store: ArrayPrinter.single, PairedStore: ArrayPrinter.single, Together: ArrayPrinter.together,
    RepeatedStep: ArrayPrinter.together, Section: ArrayPrinter.section,
    IndexLet: ArrayPrinter.index, WindowStart: ArrayPrinter.window,
    OrderedReduction: ArrayPrinter.reduction,
}  # fmt: skip
