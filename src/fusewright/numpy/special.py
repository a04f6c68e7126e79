"""Special functions: SciPy's `scipy.special` calls a namespace's own `special` where there is
one.
"""

from fusewright.numpy.elementwise import erf, erfc

__all__ = ["erf", "erfc"]
