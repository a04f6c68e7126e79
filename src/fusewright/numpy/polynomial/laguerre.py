"""`numpy.polynomial.laguerre`: NumPy's functions for these polynomials."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("polynomial.laguerre")
