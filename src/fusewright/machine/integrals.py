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
DIGESTION = 1e-9
"""Seconds to add one integral to J and K of one density matrix."""
