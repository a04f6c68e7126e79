"""`numpy.lib`: NumPy's corner of less used tools."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("lib")
