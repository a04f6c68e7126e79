"""Watches one run of a program of the corpus: when it began, when it ended, what it computed.

The materialised program calls `start` on its first line and `finish` on its last; a program that
ends by `sys.exit()` is finished on the way out.  What was seen is written to the folder named by
`CORPUS_RECORD`: the results with NumPy's pickles, then `record.json` with the times in seconds and
the peak memory in bytes.  Where `CORPUS_SAMPLER` names the library made of `sampler.c`, it looks
at every tick of the CPU's clock where the program is (`samples.txt`).
"""

import atexit
import ctypes
import json
import os
import pickle
import sys
import time
from pathlib import Path
from types import ModuleType

SAVED_ELEMENTS = 4_000_000
"""Of a larger result only every k-th element is kept."""
_KINDS = "biufcSUmM"
_state = {"start": 0.0, "done": False}
drawn = []
"""One number for each array that the program has drawn: the sum of its magnitudes."""


def start():
    """The program begins now."""
    atexit.register(_finish_late)
    if os.environ.get("CORPUS_SAMPLER"):
        _state["sampler"] = ctypes.CDLL(os.environ["CORPUS_SAMPLER"])
        _state["sampler"].begin()
    _state["start"] = time.perf_counter()


def draw(values):
    """Convert what is drawn, as a plotting library would; remember one number of each array."""
    for value in values:
        if isinstance(value, list | tuple) and value and len(value) < 1000:
            draw(value if not isinstance(value[0], int | float) else [_converted(value)])
        elif hasattr(value, "__array__") and hasattr(value, "dtype"):
            _remember(_converted(value))


def finish(namespace):
    """The program has ended, with these global names."""
    if _state["done"] or not os.environ.get("CORPUS_RECORD"):
        return
    _state["done"] = True
    results = {
        name: array
        for name, value in namespace.items()
        if _wanted(name, value) and (array := _converted(value)) is not None
    }
    seconds = time.perf_counter() - _state["start"]
    peak = _peak()
    if sampler := _state.get("sampler"):
        sampler.end(str(Path(os.environ["CORPUS_RECORD"], "samples.txt")).encode())
    begun = time.perf_counter()
    if drawn:
        results["drawn()"] = _converted(drawn)
    folder = Path(os.environ["CORPUS_RECORD"])
    folder.joinpath("results.pickle").write_bytes(
        pickle.dumps({name: _thinned(array) for name, array in results.items()})
    )
    record = {"seconds": seconds, "peak": peak, "saving": time.perf_counter() - begun}
    folder.joinpath("record.json").write_text(json.dumps(record), encoding="utf-8")


def _finish_late():
    main = sys.modules.get("__main__")
    if main is not None and not hasattr(sys, "last_value"):
        finish(dict(vars(main)))


def _wanted(name, value):
    if name.startswith("_") or isinstance(value, type | ModuleType) or callable(value):
        return False
    if isinstance(value, list | tuple):
        return bool(value) and (_number(value[0]) or isinstance(value[0], list | tuple))
    return _number(value)


def _number(value):
    return isinstance(value, bool | int | float | complex) or (
        hasattr(value, "dtype") and hasattr(value, "__array__")
    )


def _converted(value):
    """As an array of NumPy's; None for what is not numbers or text."""
    import numpy

    try:
        array = numpy.asarray(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.dtype.kind in _KINDS else None


def _remember(array):
    if array is not None and array.dtype.kind in "biufc":
        import numpy

        drawn.append(float(numpy.nansum(numpy.abs(array.astype(numpy.complex128)))))


def _thinned(array):
    """A large result as every k-th of its elements, after its shape."""
    if array.size <= SAVED_ELEMENTS:
        return array
    return array.reshape(-1)[:: array.size // SAVED_ELEMENTS + 1].copy()


def _peak():
    """The largest resident set so far, in bytes.

    Linux counts the parent's pages in a child's `ru_maxrss`, so its own figure is preferred.
    """
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
        return int(text.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
