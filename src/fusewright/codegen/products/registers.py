"""Which part of a product's result stays in registers: a table by instruction set.

A tile is `rows` times `vectors` accumulators: at each k one number of each row is broadcast and
multiplied with `vectors` vectors of columns.  The rest of the registers hold these vectors and the
broadcast numbers.

bfloat16 has two accumulators for each element, of even and odd k's, in float32, to which panels are
widened; or, where the processor has them (AMX), the tile registers multiply: 16 by 16 results in
each of four, from panels of bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from fusewright.ir.dtypes import BFLOAT16, DType
from fusewright.ir.products import PAIRED


class RegisterTile(NamedTuple):
    """`lanes` numbers are in a vector; `sizes` are the numbers of rows there is code for, the
    largest first: a remainder of rows takes the smallest that holds it.

    A panel has numbers of `number` bytes, for a multiple of `deep` k's; the result's have `result`.
    `per_cycle` are multiplications, at best.
    """

    lanes: int
    vectors: int
    sizes: tuple[int, ...]
    number: int
    deep: int
    result: int
    per_cycle: int
    is_matrix: bool = False
    """Whether tile registers multiply."""

    @property
    def rows(self) -> int:
        return self.sizes[0]

    @property
    def columns(self) -> int:
        return self.lanes * self.vectors

    def covers(self) -> Iterator[tuple[int, int]]:
        """The rows of each size, and the fewest that it is taken for."""
        for size, below in pairwise((*self.sizes, 0)):
            yield size, below + 1


_BY_VECTOR_BYTES = {
    64: (2, (12, 8, 4, 2, 1)),  # of 32 registers 24 accumulate
    32: (2, (6, 4, 2, 1)),  # 12 of 16
}
_OF_PAIRS = {64: (2, (6, 4, 2, 1)), 32: (2, (3, 2, 1))}
"""The same with two accumulators for each element."""
MATRIX = RegisterTile(16, 2, (32, 16), 2, PAIRED, 2, 512, True)
"""Two by two tile registers, of 16 rows of 64 bytes each."""


def tile_for(
    dtype: DType, vector_bytes: int, has_tiles: bool = False, result: DType | None = None
) -> RegisterTile:
    """The row for a dtype and the widest register's bytes, and whether there are tile registers;
    that of bfloat16 may have a result of float32.
    """
    size = (result or dtype).itemsize
    if dtype is BFLOAT16 and has_tiles:
        return MATRIX._replace(result=size)
    if dtype is BFLOAT16:
        lanes = vector_bytes // 4
        return RegisterTile(lanes, *_OF_PAIRS[vector_bytes], 4, PAIRED, size, 2 * lanes)
    lanes, (vectors, sizes) = vector_bytes // dtype.itemsize, _BY_VECTOR_BYTES[vector_bytes]
    return RegisterTile(lanes, vectors, sizes, dtype.itemsize, lanes, size, 2 * lanes)
