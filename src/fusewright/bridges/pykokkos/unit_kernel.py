"""The kernel that a work unit becomes."""

from __future__ import annotations

import inspect
from typing import Any

from fusewright.bridges.pykokkos.dialect.units import Program
from fusewright.kernels.kernel import Kernel


class UnitKernel(Kernel[..., Any]):
    """The kernel of a work unit: its source is the driver's tree, its language the dialect."""

    def __init__(self, made: Program) -> None:
        super().__init__(made.function)
        self._source = made.source
        self.dialect = made.dialect
        self._names = made.parameters
        kind = inspect.Parameter.POSITIONAL_ONLY
        words = (f"p{number}" for number in range(len(made.parameters)))
        self.signature = inspect.Signature([inspect.Parameter(word, kind) for word in words])

    @property
    def is_opaque(self) -> bool:
        """Whether it has been called, and no call was recorded as array statements."""
        return not self.recorders and bool(self.specialisations)
