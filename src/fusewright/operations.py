"""The operations that are compiled when the package is installed (`targets.cpu.ahead`):
`python -m fusewright.operations` writes them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, permutations, product
from typing import Any

import numpy as np

from fusewright import driver
from fusewright.base.errors import FusewrightError
from fusewright.base.options import current, options
from fusewright.frontends.arrays.record import map_node
from fusewright.ir import graph, ops
from fusewright.ir.dtypes import by_name
from fusewright.ir.exactness import is_exact
from fusewright.ir.graph import Node
from fusewright.public import asarray
from fusewright.runtime.trace import take

_REAL = ("float64", "float32")
_MIXED = (
    ("complex128", "float64"), ("float64", "complex128"), ("complex128", "int64"),
    ("int64", "complex128"), ("complex128", "complex64"), ("complex64", "complex128"),
    ("complex64", "float32"), ("float64", "float32"), ("int64", "float64"), ("float64", "int64"),
    ("bool", "complex128"),
)  # fmt: skip
_CASTS = ("bool", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128")
_REDUCED = ("sum", "max", "min")
_ROWS = (600, 5000, 40_000)
"""Elements of a row, one for each kind of plan (`base.figures.ROWS`)."""
_MOST_DIMS = {"float64": 4, "float32": 4, "complex128": 3}
"""Images are reduced in blocks and by channel."""


def operations() -> Iterator[Node]:
    """One node for each structure: a function of each element in one dim, as the core runs it; a
    reduction along every choice of dims, a running sum along any.
    """
    for node in chain(_maps(), _casts(), _reductions(), _scans()):
        alone = all(arg.kind in (graph.LEAF, graph.SCALAR) for arg in node.args)
        if alone and node.args and not is_exact(node):
            yield node


def _maps() -> Iterator[Node]:
    for row in ops.MAP.values():
        if row.name in ("cast", "where"):
            continue
        for dtype in (*_REAL, "complex128", "complex64", "int64", "int32", "uint8"):
            yield from _with_numbers(row.name, (dtype,) * row.arity)
        if row.arity == 2:
            for dtypes in _MIXED:
                yield from _with_numbers(row.name, dtypes)


def _with_numbers(name: str, dtypes: Sequence[str]) -> Iterator[Node]:
    """On arrays, and with a number in the place of each."""
    places: list[int] = [-1, *range(len(dtypes))] if len(dtypes) == 2 else [-1]
    for place in places:
        operands = [
            by_name(dtype).numpy.type(3) if number == place else _array((600,), dtype)
            for number, dtype in enumerate(dtypes)
        ]
        try:
            yield map_node(name, *operands)
        except (TypeError, ValueError, FusewrightError):
            continue  # NumPy has no such function either


def _casts() -> Iterator[Node]:
    for source, target in permutations(_CASTS, 2):
        yield _array((600,), source).astype(target)._node


def _reductions() -> Iterator[Node]:
    kinds = [(dtype, rank) for dtype, most in _MOST_DIMS.items() for rank in range(1, most + 1)]
    for (dtype, rank), row in product(kinds, _ROWS):
        array = _array((4, *(2,) * (rank - 2), row >> max(rank - 2, 0))[-rank:], dtype)
        chosen = [axes for many in range(rank) for axes in combinations(range(rank), many + 1)]
        for axes, keepdims in product(chosen, (False, True)):
            for name in _REDUCED if rank > 2 else (*_REDUCED, "prod"):
                yield getattr(array, name)(axis=axes, keepdims=keepdims)._node


def _scans() -> Iterator[Node]:
    for dtype, rank, row in product((*_REAL, "complex128"), (1, 2, 3), _ROWS):
        array = _array((4, 2, row)[-rank:], dtype)
        for axis in range(rank):
            yield array.cumsum(axis=axis)._node
            yield array.cumprod(axis=axis)._node


def _array(shape: tuple[int, ...], dtype: str) -> Any:
    return asarray(np.ones(shape, dtype))


def main(path: str | None = None) -> None:
    """Compile them all, for the processor that this runs on."""
    with options(background=False, interpret=False, small=0):
        count = driver.write_ahead((take([node]) for node in operations()), current(), path)
    print(f"{count} operations compiled ahead")


if __name__ == "__main__":
    main(*sys.argv[1:])
