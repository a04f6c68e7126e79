"""The element types, one row each.

A `DType` is a singleton, so `is` compares and hashing is by identity (both matter while recording).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.ir import bfloat16


class DType:
    """One element type.

    `kind` is NumPy's letter (`b` bool, `i`, `u`, `f`, `c`).  `llvm` is the register type; a bool
    lives in memory as one byte.  A `storage` type is loaded, computed in `compute`, and rounded
    back after each operation.

    `numpy` is what its elements are in memory; bfloat16, which NumPy lacks, has two bytes there
    that nothing computes with (`ir.bfloat16`).
    """

    __slots__ = ("compute", "itemsize", "kind", "llvm", "name", "numpy")

    def __init__(
        self, name: str, kind: str, itemsize: int, numpy: np.dtype[Any], llvm: str, compute: str
    ) -> None:
        self.name = name
        self.kind = kind
        self.itemsize = itemsize
        self.numpy = numpy
        self.llvm = llvm
        self.compute = compute

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return (by_name, (self.name,))

    @property
    def bits(self) -> int:
        return 8 * self.itemsize

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_stored_only(self) -> bool:
        """Whether it is loaded, stored and converted, and nothing else."""
        return self.compute != self.name

    def number(self, value: Any) -> Any:
        """A number of Python's, rounded to the type."""
        if self is BFLOAT16:
            return bfloat16.rounded(value)
        return self.numpy.type(value).item()

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"


def _row(name: str, llvm: str, compute: str = "") -> DType:
    dtype = np.dtype(name)
    return DType(name, dtype.kind, dtype.itemsize, dtype, llvm, compute or name)


BOOL = _row("bool", "i1")
INT8, INT16, INT32, INT64 = (_row(f"int{n}", f"i{n}") for n in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (_row(f"uint{n}", f"i{n}") for n in (8, 16, 32, 64))
FLOAT16 = _row("float16", "half", "float32")
FLOAT32 = _row("float32", "float")
FLOAT64 = _row("float64", "double")
BFLOAT16 = DType("bfloat16", "f", 2, bfloat16.STORED, "i16", "float32")
COMPLEX64 = _row("complex64", "")
COMPLEX128 = _row("complex128", "")

ALL = (
    BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    FLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128,
)  # fmt: skip
"""The types that NumPy has."""
ROWS = (*ALL, BFLOAT16)
"""All."""
BY_NAME = {dtype.name: dtype for dtype in ROWS}
_BY_NUMPY = {dtype.numpy: dtype for dtype in ALL}


def by_name(name: str) -> DType:
    """The row of a name."""
    return BY_NAME[name]


def from_numpy(dtype: Any) -> DType | None:
    """The row of a NumPy dtype (native byte order), or None where there is none (objects, strings,
    dates, longdouble).
    """
    return _BY_NUMPY.get(np.dtype(dtype))


def component(dtype: DType) -> DType:
    """The real type of a complex type's parts; any other type itself."""
    return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(dtype, dtype)
