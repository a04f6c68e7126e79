"""Runs one program under the package on `PYTHONPATH` and writes down what it compiled, moved and
computed: `python -m tools.replay_worker KIND WHAT FILE`, in a process of its own.

The program runs twice.  The first run is as users have it, with an empty cache: its structures,
the bits of its results and its allocations are recorded.  During the second one a profile listens,
which gives the kernels and their bytes.  A result that is not the same in both (a time, an unseeded
random number) says nothing about the package, and is left out of comparisons.
"""

from __future__ import annotations

import contextlib
import gc
import gzip
import hashlib
import io
import json
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tools.replay_programs import KINDS, Run

SETTINGS = {
    "FUSEWRIGHT_INTERPRET": "0",
    "FUSEWRIGHT_BACKGROUND": "0",
    "FUSEWRIGHT_MEASURE": "0",
    "FUSEWRIGHT_SMALL": "0",
    "FUSEWRIGHT_THREADS": "2",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}
"""What makes a run depend on the program alone: everything is compiled, at once and for good, and
nothing is decided by a clock.
"""
DEEPEST = 4


class Observed(NamedTuple):
    """One run: digests of results by name, of what it printed, and blocks of memory handed out."""

    results: dict[str, str]
    printed: str
    allocations: int


def record(kind: str, what: str) -> dict[str, Any]:
    """What `tools.replay` keeps of a program."""
    from fusewright.runtime import listening, profile

    # When garbage is collected depends on how many objects the package makes; a value that only
    # garbage refers to counts as held until then, and what is held is stored.
    gc.disable()
    if not hasattr(listening, "compilations"):
        sys.exit("this commit is older than what tells of compilations (runtime/listening.py)")
    structures: list[list[Any]] = []
    listening.compilations.append(lambda texts: structures.append([*texts]))
    run = KINDS[kind](what)
    first = observe(run)
    compiled = len(structures)
    with profile.listen() as told:
        second = observe(run)
    steps = [step for flush in told.flushes for step in flush.steps]
    return {
        "structures": structures,
        "compilations": [compiled, len(structures)],
        "kernels": _counted(map(_kernel, steps)),
        "bytes": _counted(_bytes(step) for step in told.kernels),
        "allocations": first.allocations,
        "results": _stable(first.results, second.results),
        "printed": first.printed if first.printed == second.printed else "",
    }


def observe(run: Run) -> Observed:
    """Run a program and take what can be seen of it."""
    random.seed(0)
    np.random.seed(0)
    before = _allocations()
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            results = run()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - how a program ends is a result
            results = {"raised": f"{type(error).__name__}: {error}"}
        digests = dict(_digests(results))
    text = hashlib.sha256(printed.getvalue().encode()).hexdigest()
    return Observed(digests, text, _allocations() - before)


def _allocations() -> int:
    from fusewright._core import native

    return 0 if native is None else int(native.allocations())


def _stable(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    return {name: found for name, found in first.items() if second.get(name) == found}


def _digests(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in results.items():
        content = _content(value, DEEPEST)
        if content is not None:
            yield name, hashlib.sha256(content).hexdigest()


def _content(value: Any, depth: int) -> bytes | None:
    """The bits of a value and its type; None for what is no value (a module, a function)."""
    if isinstance(value, bool | int | float | complex | str | bytes):
        return f"{type(value).__name__} {value!r}".encode()
    if isinstance(value, list | tuple) and depth:
        parts = [_content(each, depth - 1) for each in value]
        return b"(" + b",".join(part or b"?" for part in parts) + b")"
    if isinstance(value, type) or not (hasattr(value, "dtype") and hasattr(value, "__array__")):
        return None
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    head = f"{array.dtype.str} {array.shape} ".encode()
    return head + (repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes())


def _counted(described: Iterator[Any]) -> list[list[Any]]:
    """Each different description and how often it was met."""
    return sorted([*words, count] for words, count in Counter(described).items())


def _kernel(step: Any) -> tuple[str, str]:
    """A kernel by what it holds, a library step by its name."""
    if not hasattr(step, "kind"):
        return "library", step.name
    operations = " ".join(f"{each.name}:{each.place}" for each in step.operations)
    return step.kind, f"{operations} on {'threads' if step.threads > 1 else 'one thread'}"


def _bytes(step: Any) -> tuple[int, int, int]:
    return step.bytes_read, step.bytes_written, step.bytes_unfused


def main() -> int:
    """Record one program into one file."""
    kind, what, file = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FUSEWRIGHT_CACHE_DIR"] = os.path.join(folder, "cache")
        os.mkdir(work := os.path.join(folder, "work"))
        os.chdir(work)
        found = record(kind, what)
        os.chdir(os.sep)
    Path(file).write_bytes(gzip.compress(json.dumps(found).encode(), 1, mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
