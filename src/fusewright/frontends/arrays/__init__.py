"""Lazy, mutable arrays with NumPy's semantics: operations are recorded, values computed when
asked for.
"""

from fusewright.frontends.arrays.core import evaluate
from fusewright.frontends.arrays.creation import (
    arange,
    array,
    asarray,
    empty,
    eye,
    full,
    linspace,
    ones,
    zeros,
)
from fusewright.frontends.arrays.handle import Array, Scalar, View
from fusewright.frontends.arrays.sharing import lazy
from fusewright.frontends.arrays.trace import flush

__all__ = [
    "Array",
    "Scalar",
    "View",
    "arange",
    "array",
    "asarray",
    "empty",
    "evaluate",
    "eye",
    "flush",
    "full",
    "lazy",
    "linspace",
    "ones",
    "zeros",
]
