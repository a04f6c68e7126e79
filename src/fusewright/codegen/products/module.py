"""All functions for products of one dtype, as one module: every layout, all extents."""

from __future__ import annotations

from fusewright.codegen.products.blocks import (
    MultipliedBlock,
    MultiplyKernel,
    PackedPanels,
    PackKernel,
    WholeKernel,
)
from fusewright.codegen.products.chain import PanelsKernel, RowBlocksKernel
from fusewright.codegen.products.packing import PackFunction
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.products.stacks import stack_functions
from fusewright.codegen.products.tile import tile_functions
from fusewright.codegen.recurrences.vectors import ATTRIBUTES
from fusewright.ir.dtypes import DType

_LOOPS = (
    PackedPanels, MultipliedBlock, PackKernel, MultiplyKernel, WholeKernel, RowBlocksKernel,
    PanelsKernel,
)  # fmt: skip


def product_module(dtype: DType, tile: RegisterTile) -> str:
    """The module's text."""
    packings = (PackFunction(dtype, tile.lanes, width) for width in (tile.columns, tile.rows))
    parts = [
        tile_functions(dtype, tile),
        *(packing.text() for packing in packings),
        *(made(dtype, tile).text() for made in _LOOPS),
        stack_functions(dtype, tile),
    ]
    return "".join(parts) + ATTRIBUTES
