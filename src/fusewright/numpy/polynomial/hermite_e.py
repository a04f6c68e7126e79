"""`numpy.polynomial.hermite_e`: NumPy's functions for these polynomials."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("polynomial.hermite_e")
