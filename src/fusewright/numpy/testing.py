"""`numpy.testing`: NumPy's assertions, with our arrays computed first."""

from __future__ import annotations

from typing import Any

import numpy.testing

from fusewright.frontends.arrays.front import dispatched
from fusewright.numpy.files import on_host

__all__ = list(numpy.testing.__all__)
CALL = frozenset(
    ("assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings", "rundocs",
     "measure", "assert_no_gc_cycles",
     "suppress_warnings", "decorate_methods", "run_threaded", "runstring")
)  # fmt: skip
"""Functions that call another one: what they hand to it is what they are given."""


def __getattr__(name: str) -> Any:
    original = getattr(numpy.testing, name)
    if isinstance(original, type) or not callable(original) or name in CALL:
        return original
    made = globals()[name] = dispatched(original, on_host(original), keeps=True)
    return made
