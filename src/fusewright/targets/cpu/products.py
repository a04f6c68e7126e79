"""Products of float32, float64 and bfloat16 matrices on the CPU: kernels compiled, and called.

Which blocks there are decides time and memory only: the order of summation is that of
`ir.products`, whatever the layout, the number of threads, and the instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.errors import DTypeError, ReadOnlyError, ShapeError
from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.codegen.products.registers import tile_for
from fusewright.ir.dtypes import BFLOAT16, FLOAT32, DType
from fusewright.ir.graph import PRODUCT, Node
from fusewright.ir.products import DTYPES
from fusewright.machine import record
from fusewright.machine.record import Machine
from fusewright.runtime.buffers import allocate
from fusewright.runtime.image import Image, load
from fusewright.runtime.kept import Kept
from fusewright.targets.cpu import ahead, compiler, tile_registers
from fusewright.targets.cpu.disk_keys import disk_key
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.product_blocks import Operand, ProductKernel, calls_for, is_turned
from fusewright.targets.cpu.product_calls import Address

if TYPE_CHECKING:
    from fusewright.codegen.products import module
else:  # the code is on disk
    module = later("fusewright.codegen.products.module")

LEVEL = 2

Array = np.ndarray[Any, Any]

_DTYPES = {dtype.numpy: dtype for dtype in DTYPES}


def product(a: Any, b: Any, out: Array | None = None) -> Array:
    """`a @ b` of arrays (..., m, k) and (..., k, n) of one dtype, float32, float64 or bfloat16,
    whose leading dims broadcast: (..., m, n), in any layout.

    The bits are those of `targets.reference.products.product`.  `out` has the result's shape and
    dtype (of bfloat16, that or float32); it may share memory with the operands.

    Raises `DTypeError`, `ShapeError`, `ReadOnlyError`.
    """
    a, b = np.asarray(a), np.asarray(b)
    dtype = _DTYPES.get(a.dtype)
    if dtype is None or b.dtype != a.dtype:
        raise DTypeError(f"no product of {a.dtype} and {b.dtype}: two of the same floats")
    shape = _shape(a, b)
    if out is not None:
        _check(out, shape, dtype)
    overlaps = out is not None and (np.may_share_memory(a, out) or np.may_share_memory(b, out))
    result = dtype if out is None else _DTYPES[out.dtype]
    target = _fresh(shape, result) if out is None or overlaps else out
    if target.size:
        if a.shape[-1]:
            compute(a, b, target)
        else:
            target[...] = np.zeros((), target.dtype)
    if out is None or not overlaps:
        return target
    out[...] = target
    return out


def compute(a: Array, b: Array, out: Array) -> None:
    """The same where it is known that the operands fit, are not empty, and no memory of `out`."""
    _compute(a, b, out, kernel_for(_DTYPES[a.dtype], _DTYPES[out.dtype]))


def kernel_for(dtype: DType, result: DType | None = None) -> ProductKernel:
    """The code for a dtype, and another one of the result if that is given, with the instructions
    that the options name.
    """
    result, features = result or dtype, features_for(dtype)
    found = _kernels.get((dtype, result, features))
    if found is None:
        image = load(_image(dtype, result, features))
        tile = tile_for(dtype, features.vector_bytes, features.has_tiles, result)
        names = ("whole_products", "columns_packed", "rows_multiplied")
        stacked = 0 if dtype is BFLOAT16 else image.address("stacked_products")
        chained = map(image.address, ("row_blocks", "rows_by_panels"))
        starts = (*map(image.address, names), stacked, *chained)
        found = ProductKernel(dtype, result, tile, image, *starts)
        _kernels[dtype, result, features] = found
    return found


def features_for(dtype: DType, option: str = "") -> FeatureSet:
    """The instructions for products of a dtype, as the options, or this one, name them."""
    features = select(option or current().features)
    return tile_registers.usable(features) if dtype is BFLOAT16 else features


def machine_at_hand(order: Sequence[Node]) -> Machine:
    """The machine's record for a program: `half` is the rate of what multiplies bfloat16."""
    machine = record.current()
    if not any(node.kind == PRODUCT and node.args[0].dtype is BFLOAT16 for node in order):
        return machine
    has_tiles = features_for(BFLOAT16).has_tiles
    return machine._replace(half=machine.tiles) if has_tiles else machine


def image_name(dtype: DType, result: DType, features: FeatureSet) -> str:
    """That of the code."""
    return disk_key("products", (dtype.name, result.name, features.llvm_features))


def compiled_image(dtype: DType, result: DType, features: FeatureSet) -> Image:
    """The code, made anew."""
    tile = tile_for(dtype, features.vector_bytes, features.has_tiles, result)
    return compiler.compile_ir(module.product_module(dtype, tile), features, LEVEL, scalars=True)


def _image(dtype: DType, result: DType, features: FeatureSet) -> Image:
    name = image_name(dtype, result, features)
    stored = ahead.entry(name)
    if stored is not None:
        return Image.from_bytes(stored)
    make = partial(compiled_image, dtype, result, features)
    return _kept.obtain(name, lambda: name, make).value


_kernels: dict[tuple[DType, DType, FeatureSet], ProductKernel] = {}
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


def _check(out: Array, shape: tuple[int, ...], dtype: DType) -> None:
    if out.shape != shape:
        raise ShapeError(f"`out` has the shape {out.shape}; the result's is {shape}")
    if _DTYPES.get(out.dtype) not in (dtype, FLOAT32 if dtype is BFLOAT16 else dtype):
        raise DTypeError(f"`out` is {out.dtype}; the result is {dtype}")
    if not out.flags.writeable:
        raise ReadOnlyError("`out` cannot be written")


def _fresh(shape: tuple[int, ...], dtype: DType) -> Array:
    """An array over a block of the pool."""
    memory = allocate(max(prod(shape) * dtype.itemsize, 1))
    return np.frombuffer(memory.owner, dtype.numpy, prod(shape)).reshape(shape)


def _compute(a: Array, b: Array, out: Array, kernel: ProductKernel) -> None:
    """The same with a kernel."""
    left, right, result = (
        Operand(Address(place), each.shape, each.strides) for place, each in enumerate((a, b, out))
    )
    calls = calls_for(left, right, result, kernel)
    if calls is not None:
        calls.run([each.ctypes.data for each in (a, b, out)])
        return
    target = _fresh(out.shape, kernel.result)
    if is_turned(left, right, result, kernel):
        target = _fresh(out.swapaxes(-1, -2).shape, kernel.result).swapaxes(-1, -2)
    _compute(a, b, target, kernel)
    out[...] = target
