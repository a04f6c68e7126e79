"""The library steps that Fusewright leaves to NumPy on purpose: one table for `strict=True`, for
`explain` and for the page on coverage.

`strict=True` lets these pass and refuses everything else that is not compiled; `strict="all"`
refuses them, too.
"""

from __future__ import annotations

from typing import NamedTuple


class StepFamily(NamedTuple):
    """Library steps of one kind: names with their module (`fft.*`: all of it), and why."""

    title: str
    names: frozenset[str]
    why: str


def _family(title: str, names: str, why: str) -> StepFamily:
    return StepFamily(title, frozenset(names.split()), why)


FAMILIES = (
    _family(
        "products",
        "dot matmul inner vdot tensordot einsum",
        "large ones of floats have kernels of our own, NumPy's BLAS computes the others",
    ),
    _family("linear algebra", "linalg.*", "NumPy calls LAPACK"),
    _family("Fourier transforms", "fft.*", "NumPy calls pocketfft"),
    _family(
        "sorting and sets",
        "sort argsort partition argpartition lexsort sort_complex isin unique unique_all "
        "unique_counts unique_inverse unique_values union1d intersect1d setdiff1d setxor1d",
        "NumPy sorts with the vector instructions of the processor",
    ),
    _family(
        "selecting",
        "nonzero flatnonzero argwhere a[mask]",
        "how large the result is depends on the values",
    ),
    _family("random numbers", "random.*", "the streams are NumPy's, number for number"),
)
_BY_NAME = {name: family for family in FAMILIES for name in family.names}


def family_of(name: str) -> StepFamily | None:
    """The family of a step by its name (`sort`, `fft.rfft`); None where it is none on purpose."""
    module, dot, _ = name.rpartition(".")
    return _BY_NAME.get(name) or (_BY_NAME.get(f"{module}.*") if dot else None)


ON_PURPOSE = "a library step"
"""Why a step is not compiled that is the library's by design."""
UNCOMPILED = "it has no compiled form: NumPy's own code runs it"
"""Why any other step of NumPy's is not compiled."""
