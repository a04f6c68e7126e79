"""`numpy.lib.recfunctions`: NumPy's tools for structured arrays."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("lib.recfunctions")
