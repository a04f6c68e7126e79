"""`numpy.strings`: NumPy's text functions."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("strings")
