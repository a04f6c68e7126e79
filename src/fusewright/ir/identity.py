"""The values that an operation's updates and reductions start from."""

from __future__ import annotations

from typing import Any

from fusewright.ir.dtypes import BOOL, DType

_REDUCTIONS = {
    "add": "cumsum", "bitwise_or": "sum", "bitwise_xor": "sum", "multiply": "prod",
    "minimum": "min", "imin": "min", "fmin": "min", "maximum": "max", "imax": "max", "fmax": "max",
}  # fmt: skip
"""Those that start from a value that an update by the operation does not change: -0.0 for `add`."""


def of_reduction(name: str, dtype: DType) -> Any:
    """The value that a reduction starts from: 0.0 for a sum, so that the sum of -0.0 is 0.0, as in
    NumPy; running sums begin with their first element.
    """
    if name == "sum":
        return 0.0 if dtype.is_float else 0
    if name == "cumsum":
        return -0.0 if dtype.is_float else 0
    if name in ("prod", "cumprod"):
        return 1
    if name in ("any", "all"):
        return name == "all"
    least = name in ("max", "cummax")
    if dtype is BOOL:
        return not least
    if dtype.is_float:
        return float("-inf") if least else float("inf")
    bits = dtype.bits
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype.kind == "i" else (0, 2**bits - 1)
    return low if least else high


def of_update(kind: str, dtype: DType) -> Any:
    """The value that an update by the operation `kind` does not change."""
    if kind == "bitwise_and":
        unsigned = 2**dtype.bits - 1
        return True if dtype is BOOL else -1 if dtype.kind == "i" else unsigned
    found = False if dtype is BOOL else of_reduction(_REDUCTIONS[kind], dtype)
    return float(found) if dtype.is_float else found
