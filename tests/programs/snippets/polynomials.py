"""polynomials char lib"""

import numpy as np

R = []
from numpy.polynomial import Polynomial as P, Chebyshev

p = P([1, 2, 3])
print(
    p(2.0),
    p.deriv()(1),
    p.roots().shape,
    np.round(P.fit(np.arange(5.0), np.arange(5.0) ** 2, 2).convert().coef, 6),
)
R += [
    p(np.linspace(0, 1, 3)),
    np.polynomial.polynomial.polyval(np.arange(3.0), [1, 2]),
    np.polyval([1, 2, 3], np.arange(3)),
    np.poly1d([1, 2])(np.arange(3)),
    Chebyshev([1, 2, 3])(np.arange(3.0)),
    np.polynomial.legendre.leggauss(3),
    np.polymul([1, 2], [1, 3]),
    np.roots([1, -3, 2]),
]
from numpy.lib.stride_tricks import as_strided, sliding_window_view

R += [as_strided(np.arange(6), (3, 2), (8, 8)), sliding_window_view(np.arange(5), 3)]
from numpy import sin, pi, float64, newaxis, linalg as la

print(sin(pi / 2), float64(2), la.norm([3, 4]), np.arange(2)[newaxis].shape)
import numpy.random as npr, numpy.fft

print(
    npr.default_rng(0).integers(5),
    np.inf > 1,
    np.e,
    np.euler_gamma,
    np.newaxis,
    np.__version__ == __import__("numpy").__version__,
)
