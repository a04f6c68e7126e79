"""Recurrences by their meaning: the lists of a plan, run by NumPy one statement at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fusewright.ir.fused import Array
from fusewright.ir.recurrences.phases import Phases, run_phases


def compile_phases(phases: Phases) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Array]:
    """What the CPU target's function of this name gives, without machine code."""
    return partial(run_phases, phases)
