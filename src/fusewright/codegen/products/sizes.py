"""What the code of products and those who call it agree on: bytes of panels and of scratch, and the
words that a step of a chain reads.  Who finds the code on disk needs no more of its generator.
"""

from __future__ import annotations

from fusewright.codegen.products.registers import RegisterTile
from fusewright.ir.dtypes import DType

STEP_WORDS = ("code", "words", "length", "units", "patches", "patched", "scratch")
"""A step: the kernel, its argument words and how many, its units; which words are addresses
(`chain.PATCH_WORDS`), how many; bytes of scratch before its own.
"""
PANEL_WORDS = (
    "from", "along", "across", "rows", "panels", "panel", "columns", "out", "step", "depth",
    "chunk", "every",
)  # fmt: skip
"""What `rows_by_panels` reads: rows as `rows_multiplied` does; packed panels and the bytes of one,
columns; the result and the bytes between its rows; all k's, those of a chunk, and the bytes of the
panels of a chunk.
"""


def rounded_up(count: int, unit: int) -> int:
    """The least multiple of a unit that is not below a count."""
    return -(-count // unit) * unit


def panel_bytes(tile: RegisterTile, k: int, width: int) -> int:
    """Bytes of a panel."""
    return rounded_up(k, tile.deep) * width * tile.number


def stack_bytes(dtype: DType, tile: RegisterTile, m: int, k: int, n: int) -> int:
    """Scratch of a unit; packing writes whole blocks of a vector's lanes."""
    numbers = sum(count + tile.lanes for count in (m * k, k * n, m * n))
    return numbers * tile.columns * dtype.itemsize
