"""Products of float32 and float64 matrices on the CPU: blocks chosen, kernels compiled and called.

Which blocks there are decides time and memory only: the order of summation is that of
`ir.products`, whatever the layout, the number of threads, and the instructions.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.errors import DTypeError, ReadOnlyError, ShapeError
from fusewright.base.options import current
from fusewright.codegen.products.blocks import panel_bytes, rounded_up
from fusewright.codegen.products.module import product_module
from fusewright.codegen.products.registers import RegisterTile, tile_for
from fusewright.codegen.products.stacks import stack_bytes
from fusewright.ir.dtypes import DType
from fusewright.ir.products import CHUNK, DTYPES
from fusewright.machine import record
from fusewright.runtime import cache as disk
from fusewright.runtime.buffers import allocate
from fusewright.runtime.image import Image, LoadedImage, load
from fusewright.runtime.kept import Kept
from fusewright.runtime.limits import thread_count
from fusewright.targets.cpu import ahead, compiler
from fusewright.targets.cpu.disk_keys import disk_key
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.threads import launch

LEVEL = 2

Array = np.ndarray[Any, Any]

_DTYPES = {dtype.numpy: dtype for dtype in DTYPES}
SMALL = 16
"""Extents up to which products of a stack lie in lanes."""


@dataclass(frozen=True, slots=True)
class ProductKernel:
    """The code for one dtype on this machine, and where it begins."""

    dtype: DType
    tile: RegisterTile
    image: LoadedImage
    whole: int
    pack: int
    multiply: int
    stacked: int
    row_blocks: int
    by_panels: int


class _Matrix(NamedTuple):
    """Rows (or columns) `across` bytes apart, each with k numbers `along` bytes apart."""

    address: int
    across: int
    along: int


class _Task(NamedTuple):
    """One product: `rows` are broadcast, `columns` are in lanes, `out` has columns end to end."""

    rows: _Matrix
    columns: _Matrix
    out: int
    step: int
    extents: tuple[int, int, int]


def product(a: Any, b: Any, out: Array | None = None) -> Array:
    """`a @ b` of arrays (..., m, k) and (..., k, n) of one dtype, float32 or float64, whose leading
    dims broadcast: (..., m, n), in any layout.

    The bits are those of `targets.reference.products.product`.  `out` has the result's shape and
    dtype; it may share memory with the operands.

    Raises `DTypeError`, `ShapeError`, `ReadOnlyError`.
    """
    a, b = np.asarray(a), np.asarray(b)
    dtype = _DTYPES.get(a.dtype)
    if dtype is None or b.dtype != a.dtype:
        raise DTypeError(f"no product of {a.dtype} and {b.dtype}: float32 or float64, both alike")
    shape = _shape(a, b)
    if out is not None:
        _check(out, shape, a.dtype)
    overlaps = out is not None and (np.may_share_memory(a, out) or np.may_share_memory(b, out))
    target = _fresh(shape, dtype) if out is None or overlaps else out
    if target.size:
        if a.shape[-1]:
            compute(a, b, target)
        else:
            target[...] = 0.0
    if out is None or not overlaps:
        return target
    out[...] = target
    return out


def compute(a: Array, b: Array, out: Array) -> None:
    """The same where it is known that the operands fit, are not empty, and no memory of `out`."""
    _compute(a, b, out, kernel_for(_DTYPES[a.dtype]))


def kernel_for(dtype: DType) -> ProductKernel:
    """The code for a dtype, with the instructions that the options name."""
    options = current()
    features = select(options.features)
    found = _kernels.get((dtype, features))
    if found is None:
        image = load(_image(dtype, features))
        tile = tile_for(dtype, features.vector_bytes)
        names = (
            "whole_products", "columns_packed", "rows_multiplied", "stacked_products",
            "row_blocks", "rows_by_panels",
        )  # fmt: skip
        found = ProductKernel(dtype, tile, image, *(image.address(name) for name in names))
        _kernels[dtype, features] = found
    return found


def image_name(dtype: DType, features: FeatureSet) -> str:
    """That of the code among what was compiled ahead."""
    return disk.digest(f"products {dtype.name} {features.llvm_features}".encode())


def compiled_image(dtype: DType, features: FeatureSet) -> Image:
    """The code, made anew."""
    text = product_module(dtype, tile_for(dtype, features.vector_bytes))
    return compiler.compile_ir(text, features, LEVEL, scalars=True)


def _image(dtype: DType, features: FeatureSet) -> Image:
    stored = ahead.entry(image_name(dtype, features))
    if stored is not None:
        return Image.from_bytes(stored)
    key = ("products", dtype.name, features)
    return _kept.obtain(key, lambda: disk_key(key), partial(compiled_image, dtype, features)).value


_kernels: dict[tuple[DType, FeatureSet], ProductKernel] = {}
_kept: Kept[Image] = Kept()


def _shape(a: Array, b: Array) -> tuple[int, ...]:
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ShapeError(f"no product of shapes {a.shape} and {b.shape}: (..., m, k), (..., k, n)")
    if a.ndim == b.ndim == 2:
        return a.shape[0], b.shape[1]
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        why = f"{a.shape[:-2]} and {b.shape[:-2]} do not fit together"
        raise ShapeError(f"no product of shapes {a.shape} and {b.shape}: {why}") from None
    return (*batch, a.shape[-2], b.shape[-1])


def _check(out: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if out.shape != shape:
        raise ShapeError(f"`out` has the shape {out.shape}; the result's is {shape}")
    if out.dtype != dtype:
        raise DTypeError(f"`out` is {out.dtype}; the result is {dtype}")
    if not out.flags.writeable:
        raise ReadOnlyError("`out` cannot be written")


def _fresh(shape: tuple[int, ...], dtype: DType) -> Array:
    """An array over a block of the pool."""
    memory = allocate(max(prod(shape) * dtype.itemsize, 1))
    return np.frombuffer(memory.owner, dtype.numpy, prod(shape)).reshape(shape)


def _compute(a: Array, b: Array, out: Array, kernel: ProductKernel) -> None:
    """Turn the product so that lanes lie end to end in the result and few of them idle; else the
    result is copied, a number in each cycle.
    """
    if out.ndim > 2 and _stacked(a, b, out, kernel):
        return
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    size, tile = kernel.dtype.itemsize, kernel.tile
    is_plain = out.strides[-1] == size
    if not is_plain or m < tile.columns or n < tile.columns:
        plain = _cycles(m, k, n, tile) + (0 if is_plain or n == 1 else m * n)
        is_turned = out.strides[-2] == size or m == 1
        if _cycles(n, k, m, tile) + (0 if is_turned else m * n) < plain:
            a, b, out = b.swapaxes(-1, -2), a.swapaxes(-1, -2), out.swapaxes(-1, -2)
    if out.strides[-1] == size or out.shape[-1] == 1:
        _run(a, b, out, kernel)
    else:
        target = _fresh(out.shape, kernel.dtype)
        _run(a, b, target, kernel)
        out[...] = target


def _stacked(a: Array, b: Array, out: Array, kernel: ProductKernel) -> bool:
    """Small products with one in each lane; whether they are many, and lie evenly."""
    *batch, m, n = out.shape
    k, items, width = a.shape[-1], prod(batch), kernel.tile.columns
    if max(m, k, n) > SMALL or items < width:
        return False
    steps = [_even(each, tuple(batch)) for each in (a, b, out)]
    if UNEVEN in steps or not out[(0,) * len(batch)].flags.c_contiguous:
        return False
    words = array("q")
    for operand, step in ((a, steps[0]), (b, steps[1])):
        (rows, columns), (outer, inner) = operand.shape[-2:], operand.strides[-2:]
        runs, length = (1, rows * columns) if outer == inner * columns else (rows, columns)
        words.extend((operand.ctypes.data, step, inner, runs, length, outer))
    words.extend((out.ctypes.data, steps[2], m, k, n, items))
    scratch = stack_bytes(kernel.dtype, kernel.tile, m, k, n)
    threads = threads_for(items * (m * k + k * n + m * n) / 2)
    launch(kernel.stacked, words.buffer_info()[0], -(-items // width), 16, scratch, threads)
    return True


UNEVEN = -1


def _even(array: Array, batch: tuple[int, ...]) -> int:
    """Bytes from one product of a batch to the next; `UNEVEN` where they differ."""
    strides = np.broadcast_to(array, (*batch, *array.shape[-2:])).strides[: len(batch)]
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


def _run(a: Array, b: Array, out: Array, kernel: ProductKernel) -> None:
    *batch, m, n = out.shape
    k, items, tile = a.shape[-1], prod(batch), kernel.tile
    task = _task(a, b, out)
    threads = threads_for(m * k * n * items / (2 * tile.lanes))
    if not batch and m <= 4 * tile.rows and n > tile.columns:
        _strips(a, b, out, kernel, threads)
    elif not batch and threads == 1:
        _whole(task, _NOWHERE, kernel, 1)
    elif items >= threads:
        _whole(task, _offsets((a, b, out), tuple(batch)), kernel, threads)
    else:
        for index in np.ndindex(*batch):
            left, right = (np.broadcast_to(x, (*batch, *x.shape[-2:]))[index] for x in (a, b))
            _shared(_task(left, right, out[index]), kernel, threads)


def _strips(a: Array, b: Array, out: Array, kernel: ProductKernel, threads: int) -> None:
    """Few rows, for which packed columns are read so seldom that they should not leave the
    second-level cache: strips of columns, each packed and multiplied by itself, as a stack.
    """
    k, n = b.shape
    size, tile = out.itemsize, kernel.tile
    width = record.current().second // 2 // (min(k, CHUNK) * size)
    width = max(width // tile.columns, 1) * tile.columns
    many = n // width
    for start, items, wide in ((0, many, width), (many * width, 1, n - many * width)):
        if items and wide:
            task = _task(a, b[:, start : start + wide], out[:, start : start + wide])
            steps = np.array([0, width * b.strides[1], width * size], np.int64)
            _whole(task, np.arange(items)[:, None] * steps, kernel, threads)


def _task(a: Array, b: Array, out: Array) -> _Task:
    """The first product of a stack."""
    return _Task(
        _Matrix(a.ctypes.data, a.strides[-2], a.strides[-1]),
        _Matrix(b.ctypes.data, b.strides[-1], b.strides[-2]),
        out.ctypes.data,
        out.strides[-2],
        (out.shape[-2], a.shape[-1], out.shape[-1]),
    )


_NOWHERE = np.zeros((1, 3), np.int64)


def _offsets(arrays: tuple[Array, ...], batch: tuple[int, ...]) -> Array:
    """Bytes from the first product of a batch to each, in each array: (items, arrays)."""
    found = np.zeros((*batch, len(arrays)), np.int64)
    for place, each in enumerate(arrays):
        whole = np.broadcast_to(each, (*batch, *each.shape[-2:]))
        for dim, extent in enumerate(batch):
            steps = np.arange(extent) * whole.strides[dim]
            found[..., place] += steps.reshape(-1, *(1,) * (len(batch) - dim - 1))
    return found.reshape(-1, len(arrays))


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
    machine, tile, dtype = record.current(), kernel.tile, kernel.dtype
    m, k, n = task.extents
    k = min(k, CHUNK)
    most = max(machine.second // 2 // (k * dtype.itemsize), tile.rows)
    many = -(-m // most)
    if threads > 1:
        many = max(many, min(2 * threads, m // (4 * tile.rows)))
    rows = rounded_up(-(-m // many), tile.rows)
    wide = max(machine.third // 4 // (k * dtype.itemsize), tile.columns)
    columns = rounded_up(-(-n // -(-n // wide)), tile.columns)
    panel = panel_bytes(dtype, tile, k, tile.columns)
    return _Blocking(
        rows,
        columns,
        panel,
        columns // tile.columns * panel,
        rows // tile.rows * panel_bytes(dtype, tile, k, tile.rows) + 64,
    )


def _whole(task: _Task, offsets: Array, kernel: ProductKernel, threads: int) -> None:
    """Each product on one thread; `offsets` as from `_offsets`."""
    m, k, n = task.extents
    blocks = _blocks(task, kernel, 1)
    rows, columns = task.rows, task.columns
    words = array("q", (
        rows.address, rows.along, rows.across, m, blocks.rows,
        columns.address, columns.along, columns.across, n, blocks.columns,
        task.out, task.step, k, CHUNK, blocks.panel, blocks.strip, offsets.ctypes.data,
    ))  # fmt: skip
    scratch = blocks.strip + blocks.block
    launch(kernel.whole, words.buffer_info()[0], len(offsets), 1, scratch, threads)


def _shared(task: _Task, kernel: ProductKernel, threads: int) -> None:
    """One product on several threads."""
    _, k, n = task.extents
    blocks = _blocks(task, kernel, threads)
    memory = allocate(blocks.strip)
    for column in range(0, n, blocks.columns):
        for start in range(0, k, CHUNK):
            wide, deep = min(blocks.columns, n - column), min(CHUNK, k - start)
            _chunk(task, column, wide, start, deep, blocks, memory.address, kernel, threads)


def _chunk(
    task: _Task, column: int, wide: int, start: int, deep: int, blocks: _Blocking, panels: int,
    kernel: ProductKernel, threads: int,
) -> None:  # fmt: skip
    """A strip of columns and a chunk of k: its panels, then all blocks of rows."""
    rows, columns, m = task.rows, task.columns, task.extents[0]
    width, size = kernel.tile.columns, kernel.dtype.itemsize
    source = columns.address + start * columns.along + column * columns.across
    count = -(-wide // width)
    words = array("q", (source, columns.along, columns.across, deep, wide, panels, blocks.panel))
    launch(kernel.pack, words.buffer_info()[0], count, 1, 0, threads)
    many = -(-m // blocks.rows)
    strips = max(min(-(-2 * threads // many), count), 1)
    strip = -(-count // strips) * width
    strips = -(-wide // strip)
    words = array("q", (
        rows.address + start * rows.along, rows.along, rows.across, deep, m, blocks.rows,
        panels, blocks.panel, wide, strip, strips, task.out + column * size, task.step, start > 0,
    ))  # fmt: skip
    launch(kernel.multiply, words.buffer_info()[0], many * strips, 1, blocks.block, threads)
