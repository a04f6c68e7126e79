"""Fusewright: many small steps in, a few large, fast kernels out."""

from fusewright.api import evaluate
from fusewright.base.options import options
from fusewright.frontends.arrays import Array, asarray, lazy

__version__ = "0.1.0"

__all__ = ["Array", "__version__", "asarray", "evaluate", "lazy", "options"]
