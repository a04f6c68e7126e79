"""Functions under jit whose Python runs are counted."""

from __future__ import annotations

from typing import Any

import numpy

import fusewright as fw


def array(*values: float) -> Any:
    return fw.asarray(numpy.array(values))


def counting(function: Any) -> tuple[Any, list[int]]:
    """The function under jit, and how often its Python code ran (counted around jit's back)."""
    jitted, runs = fw.jit(function), [0]

    def counted(method: Any) -> Any:
        def run(*args: Any) -> Any:
            runs[0] += 1
            return method(*args)

        return run

    jitted._record, jitted._run_plain = counted(jitted._record), counted(jitted._run_plain)
    return jitted, runs
