"""What SQLite keeps of a number of ours: what it keeps of NumPy's."""

from __future__ import annotations

from sqlite3 import register_adapter

from fusewright.frontends.arrays import Scalar
from fusewright.numpy.border import lend

register_adapter(Scalar, lend)
