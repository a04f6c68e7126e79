"""`numpy.polynomial`: NumPy's polynomial classes; they compute with our arrays as they are."""

from fusewright.numpy.modules import lookup

__getattr__ = lookup("polynomial")
