"""`numpy.dtypes`: NumPy's dtype classes."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("dtypes")
