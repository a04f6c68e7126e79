"""Fusewright: many small steps in, a few large, fast kernels out."""

from typing import TYPE_CHECKING, Any

from fusewright.api import (
    cache_clear,
    cache_info,
    evaluate,
    explain,
    info,
    jit,
    show,
    sync,
)
from fusewright.base.errors import FusewrightError, InternalError
from fusewright.base.options import options
from fusewright.frontends.arrays import Array, asarray, lazy
from fusewright.frontends.kernels.language import (
    assume_unique,
    atomic_add,
    atomic_and,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_sub,
    atomic_xor,
    grouped,
    local,
    max,
    min,
    ndrange,
    nofuse,
    random,
    static,
    vector,
)
from fusewright.kernels.kernel import func, kernel

if TYPE_CHECKING:
    from fusewright import numpy

__version__ = "0.1.0"

__all__ = [
    "Array",
    "FusewrightError",
    "InternalError",
    "__version__",
    "asarray",
    "assume_unique",
    "atomic_add",
    "atomic_and",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "cache_clear",
    "cache_info",
    "evaluate",
    "explain",
    "func",
    "grouped",
    "info",
    "jit",
    "kernel",
    "lazy",
    "local",
    "max",
    "min",
    "ndrange",
    "nofuse",
    "numpy",
    "options",
    "random",
    "show",
    "static",
    "sync",
    "vector",
]


def __getattr__(name: str) -> Any:
    if name == "numpy":
        # The drop-in is a large module; its import sets the attribute and takes this function away.
        import importlib

        return importlib.import_module("fusewright.numpy")
    raise AttributeError(f"module 'fusewright' has no attribute {name!r}")
