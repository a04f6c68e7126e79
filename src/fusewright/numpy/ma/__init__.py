"""`numpy.ma`: NumPy's masked arrays; functions given arrays of ours compute them first."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("ma")
