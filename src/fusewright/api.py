"""What a program calls: values asked for, options, and the record of what happened."""

from __future__ import annotations

from typing import Any

from fusewright import driver
from fusewright.base import hooks
from fusewright.frontends.arrays import Array, trace

hooks.set_evaluate(driver.evaluate)


def evaluate(*arrays: Any) -> Any:
    """Compute all the arrays given, as few kernels as possible; returns them.

    Anything that is not a lazy array passes through unchanged.  One argument is returned as it is, several as a tuple.
    """
    trace.evaluate(*(array._node for array in arrays if isinstance(array, Array)))
    return arrays[0] if len(arrays) == 1 else arrays
