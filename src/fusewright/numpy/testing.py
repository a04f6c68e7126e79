"""`numpy.testing`: NumPy's assertions, with our arrays computed first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy.testing

from fusewright.frontends.arrays.front import dispatched
from fusewright.numpy.files import on_host
from fusewright.numpy.modules import listing

__all__ = list(numpy.testing.__all__)
CALL = frozenset(
    ("assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings", "rundocs",
     "measure", "assert_no_gc_cycles",
     "suppress_warnings", "decorate_methods", "run_threaded", "runstring")
)  # fmt: skip
"""Functions that call another one: what they hand to it is what they are given."""


def computing_first(module: ModuleType, home: str) -> Callable[[str], Any]:
    """A module's `__getattr__`: NumPy's functions of the same module, with our arrays computed."""
    ours = vars(sys.modules[home])
    ours["__dir__"] = listing(module.__name__, ours)

    def find(name: str) -> Any:
        original = getattr(module, name)
        if isinstance(original, type) or not callable(original) or name in CALL:
            return original
        made = ours[name] = dispatched(original, on_host(original), keeps=True)
        return made

    return find


__getattr__ = computing_first(numpy.testing, __name__)
