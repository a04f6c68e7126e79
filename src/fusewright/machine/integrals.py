"""What arrays of electron-repulsion integrals cost: seconds on one thread, as measured by
`benchmarks/recurrences/incore.py --fit` with AVX-512; detected or calibrated nowhere yet.
"""

from typing import NamedTuple

from fusewright.base import figures
from fusewright.machine.record import DEFAULT


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
LOADING = 0.03
"""Seconds to load, once in a process, what finds code of classes on disk and runs it."""
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


FOCK = FockRates(1e-3, 0.0, 2.1e-8, 1.3e-9, 5.5e-9)
LIBCINT_FOCK = FockRates(0.0, 2.2e-6, 4.5e-8, 7.9e-9, 6e-8)
"""As measured by `benchmarks/recurrences/direct.py --fit`, one thread, AVX-512; a call of ours is
rounded up, since pairs are made anew for each geometry.
"""
IN_MEMORY = 3.6e-9
"""Seconds for each of all integrals in memory (8-fold packed) to be made J and K of by PySCF."""
BATCH_BYTES = figures.FIRST
"""Integrals that are evaluated before they are digested: what the first-level cache holds."""
CHUNK_BYTES = DEFAULT.third
"""Integrals that are evaluated before they are put in order: what the last cache holds."""
UNITS = 8
"""Units, each a pair of the bra and a vector of the ket, that a thread takes at a time."""
