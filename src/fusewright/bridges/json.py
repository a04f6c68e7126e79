"""What JSON is written of a number of ours: that of NumPy's."""

from __future__ import annotations

from json import JSONEncoder
from typing import Any

from fusewright.frontends.arrays import Scalar
from fusewright.numpy.border import lend

_refuse = JSONEncoder.default


def _default(self: JSONEncoder, o: Any) -> Any:
    """A float64 deep within a document; everything else is refused under NumPy's name."""
    if type(o) is not Scalar:
        return _refuse(self, o)
    number = lend(o)
    return float(number) if isinstance(number, float) else _refuse(self, number)


JSONEncoder.default = _default  # type: ignore[method-assign]
