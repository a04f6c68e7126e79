"""`numpy.ctypeslib`: NumPy's bridge to ctypes."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("ctypeslib")
