"""`numpy.rec`: NumPy's record arrays."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("rec")
