"""Special functions: SciPy's `scipy.special` calls a namespace's own `special` where there is
one.
"""

from fusewright.numpy.elementwise import SPECIAL
from fusewright.numpy.modules import listing

erf, erfc, gamma, gammaln, j0, j1 = (
    SPECIAL[name] for name in ("erf", "erfc", "gamma", "lgamma", "j0", "j1")
)

__all__ = ["erf", "erfc", "gamma", "gammaln", "j0", "j1"]
__dir__ = listing("special")
