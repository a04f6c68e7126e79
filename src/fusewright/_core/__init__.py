"""The native core: recording, look-up and launch compiled ahead of time, where a C compiler was at
hand when the package was installed.

`native` is the module `_native`, or None.  Everything in it has a Python form next to its use that
means the same; `FUSEWRIGHT_NATIVE=0`, read once, at import, chooses that form.

Both forms rest on the interpreter's lock (the GIL).  A free-threaded Python runs without it until a
compiled module asks for it, as the core does; where it stays off the import fails: nothing else
would keep threads from each other's half-made lists, and results could be wrong.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

_NO_GIL = """Fusewright does not run without the global interpreter lock (GIL)
why: what threads record and compute is kept in order by it alone; this free-threaded Python has \
it switched off (PYTHON_GIL=0, -X gil=0), or the native core, which switches it on, is not there
help: run with PYTHON_GIL=1 or -X gil=1"""
_TURNED_ON = """Fusewright needs the global interpreter lock (GIL) and has switched it on: from \
here on the threads of this process run Python code one at a time (kernels still use all CPUs). \
PYTHON_GIL=1 or -X gil=1 says so from the start, without this warning."""


def _has_gil() -> bool:
    asked = getattr(sys, "_is_gil_enabled", None)  # from CPython 3.13 on
    return asked is None or bool(asked())


def _load() -> Any:
    with suppress(ImportError):  # No compiler at installation: slower, and the same in all else.
        return import_module("fusewright._core._native")
    return None


def _load_quietly() -> Any:
    """Without CPython's own warning: it recommends PYTHON_GIL=0."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The global interpreter lock", RuntimeWarning)
        return _load()


_had_gil = _has_gil()
native: Any = None
if os.environ.get("FUSEWRIGHT_NATIVE", "1") != "0":
    native = _load() if _had_gil else _load_quietly()
if not _has_gil():
    raise ImportError(_NO_GIL)
if not _had_gil:
    # At the user's import, not at ours of this module.
    ours: Any = {"skip_file_prefixes": (os.path.dirname(os.path.dirname(__file__)),)}
    warnings.warn(_TURNED_ON, RuntimeWarning, **ours)
