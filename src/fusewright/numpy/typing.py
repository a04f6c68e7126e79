"""`numpy.typing`: NumPy's annotations."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("typing")
