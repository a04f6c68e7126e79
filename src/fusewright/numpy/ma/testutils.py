"""`numpy.ma.testutils`: NumPy's assertions on masked arrays, with our arrays computed first."""

from __future__ import annotations

import numpy.ma.testutils

from fusewright.numpy.testing import computing_first

__getattr__ = computing_first(numpy.ma.testutils, __name__)
