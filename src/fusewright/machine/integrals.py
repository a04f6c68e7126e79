"""What arrays of electron-repulsion integrals cost: seconds on one thread, as measured by
`benchmarks/recurrences/incore.py --fit` with AVX-512; detected or calibrated nowhere yet.
"""

from typing import NamedTuple


class IntegralRates(NamedTuple):
    """Seconds for each of five counts: shells squared; pairs of groups; primitive quartets; the
    same times values of [e0|f0]; integrals.
    """

    shells: float
    groups: float
    primitives: float
    values: float
    integrals: float


OURS = IntegralRates(1.5e-5, 1.9e-4, 0.0, 1.6e-10, 4.9e-9)
LIBCINT = IntegralRates(0.0, 3.3e-5, 1.5e-8, 2.9e-9, 0.0)
"""The build for SSE2 in PySCF's wheel."""
COMPILING = (0.05, 5e-4)
"""Seconds to plan and compile a class, and for each value of its [e0|f0]."""
MARGIN = 1.25
"""By how much ours are predicted to be faster where they are taken: predictions are that exact."""


class FockRates(NamedTuple):
    """Seconds for a Fock matrix: a call; eights of quartets; their primitive quartets (of eight);
    the same times values of [e0|f0]; integrals (of eight).
    """

    call: float
    eights: float
    primitives: float
    values: float
    integrals: float

    @property
    def each(self) -> tuple[float, float, float, float]:
        """Without the call."""
        return self[1:]


FOCK = FockRates(2e-3, 1.5e-7, 0.0, 1.3e-9, 8e-9)
LIBCINT_FOCK = FockRates(5e-4, 4e-7, 1.2e-7, 2.3e-8, 1.2e-8)
IN_MEMORY = 3.6e-9
"""Seconds for each of all integrals in memory (8-fold packed) to be made J and K of by PySCF."""
