"""`numpy.exceptions`: NumPy's errors; ours derive from them."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("exceptions")
