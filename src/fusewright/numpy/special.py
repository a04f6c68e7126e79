"""Special functions that NumPy lacks, compiled and fused like its own: `erf`, `erfc`, `gamma`,
`gammaln` (the logarithm of the absolute value of gamma), and the Bessel functions `j0` and `j1`.

Each takes real numbers of any shape and works on each element; integers give the type that `exp`
gives of them.  SciPy's `scipy.special` calls a namespace's own `special` where there is one.
"""

from fusewright.numpy.elementwise import SPECIAL
from fusewright.numpy.modules import listing

erf, erfc, gamma, gammaln, j0, j1 = (
    SPECIAL[name] for name in ("erf", "erfc", "gamma", "lgamma", "j0", "j1")
)

__all__ = ["erf", "erfc", "gamma", "gammaln", "j0", "j1"]
__dir__ = listing("numpy.special", globals())
