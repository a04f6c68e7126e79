"""`numpy.testing`: NumPy's assertions, with our arrays computed first."""

from __future__ import annotations

from typing import Any

import numpy.testing

from fusewright.numpy.files import on_host

__all__ = list(numpy.testing.__all__)


def __getattr__(name: str) -> Any:
    original = getattr(numpy.testing, name)
    if isinstance(original, type) or not callable(original):
        return original
    return on_host(original)
