"""Which part of a product's result stays in registers: a table by instruction set.

A tile is `rows` times `vectors` accumulators: at each k one number of each row is broadcast and
multiplied with `vectors` vectors of columns.  The rest of the registers hold these vectors and the
broadcast numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from fusewright.ir.dtypes import DType


class RegisterTile(NamedTuple):
    """`lanes` numbers are in a vector; `sizes` are the numbers of rows there is code for, the
    largest first: a remainder of rows takes the smallest that holds it.
    """

    lanes: int
    vectors: int
    sizes: tuple[int, ...]

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


def tile_for(dtype: DType, vector_bytes: int) -> RegisterTile:
    """The row for a dtype and the widest register's bytes."""
    vectors, sizes = _BY_VECTOR_BYTES[vector_bytes]
    return RegisterTile(vector_bytes // dtype.itemsize, vectors, sizes)
