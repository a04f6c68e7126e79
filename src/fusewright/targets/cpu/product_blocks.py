"""What a product of two matrices calls: which blocks there are, which operand is in lanes.

That decides time and memory only: the order of summation is that of `ir.products`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.values import dataclass
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.products.sizes import panel_bytes, rounded_up, stack_bytes
from fusewright.ir.dtypes import DType
from fusewright.ir.products import chunk_of
from fusewright.machine import record
from fusewright.runtime.image import LoadedImage
from fusewright.runtime.limits import thread_count
from fusewright.targets.cpu.product_calls import Address, ProductCalls, WordTable

Array = np.ndarray[Any, Any]
SMALL = 16
"""Extents up to which products of a stack lie in lanes."""


@dataclass(frozen=True, slots=True)
class ProductKernel:
    """The code for one dtype, and the result's, on this machine, and where it begins."""

    dtype: DType
    result: DType
    tile: RegisterTile
    image: LoadedImage
    whole: int
    pack: int
    multiply: int
    stacked: int
    """0 where there is none."""
    row_blocks: int
    by_panels: int

    def chunk(self, k: int) -> int:
        """Of so many k's, those that are packed and multiplied at a time."""
        return chunk_of(self.dtype, self.result, k)


class Operand(NamedTuple):
    """Matrices in memory: where, and the layout."""

    at: Address
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def turned(self) -> Operand:
        """Rows as columns."""
        *batch, m, n = self.shape
        *steps, down, across = self.strides
        return Operand(self.at, (*batch, n, m), (*steps, across, down))

    def moved(self, offset: int, shape: tuple[int, ...]) -> Operand:
        """As many of the last dims, so many bytes further on."""
        strides = self.strides[len(self.strides) - len(shape) :]
        return Operand(self.at.further(offset), shape, strides)

    def steps(self, batch: tuple[int, ...]) -> tuple[int, ...]:
        """Bytes from one product of a stack to the next, along each of its dims."""
        more = len(batch) - len(self.shape) + 2
        own = zip(self.shape[:-2], self.strides, batch[more:], strict=False)
        return (0,) * more + tuple(0 if n != whole else step for n, step, whole in own)


class _Matrix(NamedTuple):
    """Rows (or columns) `across` bytes apart, each with k numbers `along` bytes apart."""

    at: Address
    across: int
    along: int


class _Task(NamedTuple):
    """One product: `rows` are broadcast, `columns` are in lanes, `out` has columns end to end."""

    rows: _Matrix
    columns: _Matrix
    out: Address
    step: int
    extents: tuple[int, int, int]


def calls_for(a: Operand, b: Operand, out: Operand, kernel: ProductKernel) -> ProductCalls | None:
    """What a product calls; None where the result had better be computed elsewhere and copied."""
    key = (a, b, out, kernel.multiply, thread_count(), record.current())
    if key in _known:
        return _known[key]
    calls = ProductCalls()
    found = calls if _add(a, b, out, kernel, calls) else None
    if prod(out.shape[:-2]) <= LARGEST_KNOWN:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[key] = found
    return found


_known: dict[Any, ProductCalls | None] = {}
MOST_KNOWN = 1024
"""Products whose calls are remembered."""
LARGEST_KNOWN = 4096
"""The longest stack for which they are: they may have words for each of its products."""


def _add(a: Operand, b: Operand, out: Operand, kernel: ProductKernel, calls: ProductCalls) -> bool:
    """Add a product's calls, unless the result has to be copied."""
    if len(out.shape) > 2 and _stacked(a, b, out, kernel, calls):
        return True
    if is_turned(a, b, out, kernel):
        a, b, out = b.turned(), a.turned(), out.turned()
    if out.strides[-1] != kernel.tile.result and out.shape[-1] != 1:
        return False
    _run(a, b, out, kernel, calls)
    return True


def is_turned(a: Operand, b: Operand, out: Operand, kernel: ProductKernel) -> bool:
    """Whether to compute the transposed product: so that lanes lie end to end in the result and few
    of them idle; else the result is copied, a number in each cycle.
    """
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    size, tile = kernel.tile.result, kernel.tile
    is_plain = out.strides[-1] == size
    if is_plain and m >= tile.columns and n >= tile.columns:
        return False
    plain = _cycles(m, k, n, tile) + (0 if is_plain or n == 1 else m * n)
    copied = 0 if out.strides[-2] == size or m == 1 else m * n
    return _cycles(n, k, m, tile) + copied < plain


def _stacked(
    a: Operand, b: Operand, out: Operand, kernel: ProductKernel, calls: ProductCalls
) -> bool:
    """Small products with one in each lane; whether they are many, and lie evenly."""
    *batch, m, n = out.shape
    k, items, width, size = a.shape[-1], prod(batch), kernel.tile.columns, kernel.tile.result
    if max(m, k, n) > SMALL or items < width or not kernel.stacked:
        return False
    steps = [_even(each, tuple(batch)) for each in (a, b, out)]
    is_straight = (n == 1 or out.strides[-1] == size) and (m == 1 or out.strides[-2] == n * size)
    if UNEVEN in steps or not is_straight:
        return False
    words = list[Any]()
    for operand, step in ((a, steps[0]), (b, steps[1])):
        (rows, columns), (outer, inner) = operand.shape[-2:], operand.strides[-2:]
        runs, length = (1, rows * columns) if outer == inner * columns else (rows, columns)
        words += (operand.at, step, inner, runs, length, outer)
    words += (out.at, steps[2], m, k, n, items)
    scratch = stack_bytes(kernel.dtype, kernel.tile, m, k, n)
    threads = threads_for(items * (m * k + k * n + m * n) / 2)
    calls.add(kernel.stacked, words, -(-items // width), 16, scratch, threads)
    return True


UNEVEN = -1


def _even(operand: Operand, batch: tuple[int, ...]) -> int:
    """Bytes from one product of a batch to the next; `UNEVEN` where they differ."""
    strides = operand.steps(batch)
    step = strides[-1]
    for dim in range(len(batch) - 1):
        if batch[dim] > 1 and strides[dim] != step * prod(batch[dim + 1 :]):
            return UNEVEN
    return step


def _cycles(m: int, k: int, n: int, tile: RegisterTile) -> float:
    """Two fused vector operations a cycle; remainders fill a register tile of some size."""
    whole, rest = divmod(m, tile.rows)
    padded = next((size for size in reversed(tile.sizes) if size >= rest), 0) if rest else 0
    return (whole * tile.rows + padded) * -(-n // tile.lanes) * k / 2


def _run(a: Operand, b: Operand, out: Operand, kernel: ProductKernel, calls: ProductCalls) -> None:
    *batch, m, n = out.shape
    k, items, tile = a.shape[-1], prod(batch), kernel.tile
    task = _task(a, b, out)
    threads = threads_for(m * k * n * items / tile.per_cycle)
    if not batch and m <= 4 * tile.rows and n > tile.columns:
        _strips(a, b, out, kernel, threads, calls)
    elif not batch and threads == 1:
        _whole(task, _NOWHERE, kernel, 1, calls)
    elif items >= threads:
        _whole(task, _offsets((a, b, out), tuple(batch)), kernel, threads, calls)
    else:
        for steps in _offsets((a, b, out), tuple(batch)).tolist():
            pairs = zip((a, b, out), steps, strict=True)
            one = [each.moved(step, each.shape[-2:]) for each, step in pairs]
            _shared(_task(*one), kernel, threads, calls)


def _strips(
    a: Operand, b: Operand, out: Operand, kernel: ProductKernel, threads: int, calls: ProductCalls
) -> None:
    """Few rows, for which packed columns are read so seldom that they should not leave the
    second-level cache: strips of columns, each packed and multiplied by itself, as a stack.
    """
    k, n = b.shape
    size, tile = kernel.tile.result, kernel.tile
    deep = min(k, kernel.chunk(k))
    width = record.current().second // 2 // (deep * tile.number)
    width = max(width // tile.columns, 1) * tile.columns
    many = n // width
    for start, items, wide in ((0, many, width), (many * width, 1, n - many * width)):
        if items and wide:
            strip = b.moved(start * b.strides[1], (k, wide))
            task = _task(a, strip, out.moved(start * size, (out.shape[0], wide)))
            steps = np.array([0, width * b.strides[1], width * size], np.int64)
            _whole(task, np.arange(items)[:, None] * steps, kernel, threads, calls)


def _task(a: Operand, b: Operand, out: Operand) -> _Task:
    """The first product of a stack."""
    return _Task(
        _Matrix(a.at, a.strides[-2], a.strides[-1]),
        _Matrix(b.at, b.strides[-1], b.strides[-2]),
        out.at,
        out.strides[-2],
        (out.shape[-2], a.shape[-1], out.shape[-1]),
    )


_NOWHERE = np.zeros((1, 3), np.int64)


def _offsets(operands: tuple[Operand, ...], batch: tuple[int, ...]) -> Array:
    """Bytes from the first product of a batch to each, in each operand: (items, operands)."""
    found = np.zeros((*batch, len(operands)), np.int64)
    for place, each in enumerate(operands):
        for dim, (extent, stride) in enumerate(zip(batch, each.steps(batch), strict=True)):
            steps = np.arange(extent) * stride
            found[..., place] += steps.reshape(-1, *(1,) * (len(batch) - dim - 1))
    return found.reshape(-1, len(operands))


def threads_for(cycles: float) -> int:
    """One where the work is not worth a fork; a cycle is about a third of a nanosecond."""
    return thread_count() if cycles > 3.0 * record.current().parallel else 1


class _Blocking(NamedTuple):
    """Rows in a block, columns in a strip, bytes of a panel, of a strip's panels and a block's."""

    rows: int
    columns: int
    panel: int
    strip: int
    block: int


def _blocks(task: _Task, kernel: ProductKernel, threads: int) -> _Blocking:
    """A block's rows take half of the second-level cache, a strip of columns a quarter of the
    third; blocks are of equal size.
    """
    machine, tile = record.current(), kernel.tile
    m, k, n = task.extents
    k = min(k, kernel.chunk(k))
    most = max(machine.second // 2 // (k * tile.number), tile.rows)
    many = -(-m // most)
    if threads > 1:
        many = max(many, min(2 * threads, m // (4 * tile.rows)))
    rows = rounded_up(-(-m // many), tile.rows)
    wide = max(machine.third // 4 // (k * tile.number), tile.columns)
    columns = rounded_up(-(-n // -(-n // wide)), tile.columns)
    panel = panel_bytes(tile, k, tile.columns)
    return _Blocking(
        rows,
        columns,
        panel,
        columns // tile.columns * panel,
        rows // tile.rows * panel_bytes(tile, k, tile.rows) + 64,
    )


def _whole(
    task: _Task, offsets: Array, kernel: ProductKernel, threads: int, calls: ProductCalls
) -> None:
    """Each product on one thread; `offsets` as from `_offsets`."""
    m, k, n = task.extents
    blocks, chunk = _blocks(task, kernel, 1), kernel.chunk(k)
    rows, columns = task.rows, task.columns
    words = (
        rows.at, rows.along, rows.across, m, blocks.rows,
        columns.at, columns.along, columns.across, n, blocks.columns,
        task.out, task.step, k, chunk, blocks.panel, blocks.strip, WordTable(offsets),
    )  # fmt: skip
    calls.add(kernel.whole, words, len(offsets), 1, blocks.strip + blocks.block, threads)


def _shared(task: _Task, kernel: ProductKernel, threads: int, calls: ProductCalls) -> None:
    """One product on several threads."""
    _, k, n = task.extents
    blocks = _blocks(task, kernel, threads)
    panels, chunk = calls.room(blocks.strip), kernel.chunk(k)
    for column in range(0, n, blocks.columns):
        for start in range(0, k, chunk):
            wide, deep = min(blocks.columns, n - column), min(chunk, k - start)
            _chunk(task, column, wide, start, deep, blocks, panels, kernel, threads, calls)


def _chunk(
    task: _Task, column: int, wide: int, start: int, deep: int, blocks: _Blocking, panels: Address,
    kernel: ProductKernel, threads: int, calls: ProductCalls,
) -> None:  # fmt: skip
    """A strip of columns and a chunk of k: its panels, then all blocks of rows."""
    rows, columns, m = task.rows, task.columns, task.extents[0]
    width, size = kernel.tile.columns, kernel.tile.result
    source = columns.at.further(start * columns.along + column * columns.across)
    count = -(-wide // width)
    words: Sequence[Any] = (
        source, columns.along, columns.across, deep, wide, panels, blocks.panel,
    )  # fmt: skip
    calls.add(kernel.pack, words, count, 1, 0, threads)
    many = -(-m // blocks.rows)
    strips = max(min(-(-2 * threads // many), count), 1)
    strip = -(-count // strips) * width
    strips = -(-wide // strip)
    words = (
        rows.at.further(start * rows.along), rows.along, rows.across, deep, m, blocks.rows,
        panels, blocks.panel, wide, strip, strips, task.out.further(column * size), task.step,
        int(start > 0),
    )  # fmt: skip
    calls.add(kernel.multiply, words, many * strips, 1, blocks.block, threads)
