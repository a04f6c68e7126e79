"""`numpy.lib.scimath`: NumPy's own; functions given arrays of ours compute them first."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("lib.scimath")
