"""All functions for products of one dtype, as one module: every layout, all extents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fusewright.codegen.products.blocks import (
    MultipliedBlock,
    MultiplyKernel,
    PackedPanels,
    PackKernel,
    WholeKernel,
)
from fusewright.codegen.products.chain import PanelsKernel, RowBlocksKernel
from fusewright.codegen.products.matrix import MatrixBlock, matrix_functions
from fusewright.codegen.products.packing import PackFunction
from fusewright.codegen.products.pairs import PairedBlock, PairedTile, WideningPack
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.products.stacks import stack_functions
from fusewright.codegen.products.tile import TileFunction
from fusewright.codegen.recurrences.vectors import ATTRIBUTES
from fusewright.ir.dtypes import BFLOAT16, DType

_LOOPS = (
    PackedPanels, PackKernel, MultiplyKernel, WholeKernel, RowBlocksKernel, PanelsKernel,
)  # fmt: skip


def product_module(dtype: DType, tile: RegisterTile) -> str:
    """The module's text."""
    if tile.is_matrix:
        parts = [*matrix_functions(tile), MatrixBlock(dtype, tile).text()]
    elif dtype is BFLOAT16:
        parts = [_tiles(partial(PairedTile, tile), tile)]
        parts += (WideningPack(tile.lanes, width).text() for width in (tile.columns, tile.rows))
        parts.append(PairedBlock(dtype, tile).text())
    else:
        parts = [_tiles(partial(TileFunction, dtype, tile), tile)]
        packings = (PackFunction(dtype, tile.lanes, width) for width in (tile.columns, tile.rows))
        parts += (packing.text() for packing in packings)
        parts += [MultipliedBlock(dtype, tile).text(), stack_functions(dtype, tile)]
    parts += (made(dtype, tile).text() for made in _LOOPS)
    return "".join(parts) + ATTRIBUTES


def _tiles(made: Callable[[int, int, int], TileFunction], tile: RegisterTile) -> str:
    """All sizes."""
    return "".join(
        made(rows, vectors, least).text()
        for rows, least in tile.covers()
        for vectors in range(tile.vectors, 0, -1)
    )
