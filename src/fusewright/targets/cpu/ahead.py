"""Single operations, compiled when the package is installed (decision 0026).

New work runs operation by operation (`tiers`).  What NumPy does not compute to the bits of compiled
code is compiled code of that operation alone, which must not be compiled in front of the program:
`fusewright.operations` has had it compiled before, for this processor, all of it in one file beside
this one; `threads` and `products` have their code there, too.  Where the file is missing, or was
made from other sources or for another processor, the operation is compiled when it is met, and kept
on disk.
"""

from __future__ import annotations

import os
import pickle
import zlib
from functools import cache
from typing import Any

from fusewright.base.options import Options
from fusewright.runtime.cache import digest
from fusewright.targets.cpu import generator
from fusewright.targets.cpu.features import select
from fusewright.targets.cpu.stored_programs import decoded, program_of

FILE = os.path.join(os.path.dirname(__file__), "ahead.bin")
MAGIC = b"FWAHEAD1"
OTHERS = 5
"""Entries that are no operations: the threads' code, and that of products by dtype and result."""

Place = tuple[int, int]
"""Where an entry begins in the file, and its bytes."""


def load(key: Any, options: Options) -> Any:
    """The program of a structure; None where it was not made ahead."""
    data = entry(name_of(key, options))
    found = None if data is None else decoded(data)
    return None if found is None else program_of(found, lambda use: None)


def count() -> int:
    """Operations in the file; the code of threads and of products is none."""
    return max(len(entry_places()) - OTHERS, 0)


def is_stale() -> bool:
    """Whether there is a file, of another generator than this package's."""
    return os.path.exists(FILE) and not entry_places()


def entry(name: str) -> bytes | None:
    """What the file has under a name."""
    place = entry_places().get(name)
    if place is None:
        return None
    start, length = place
    try:
        with open(FILE, "rb") as file:
            file.seek(start)
            return zlib.decompress(file.read(length))
    except (OSError, zlib.error):  # replaced since it was looked at
        return None


@cache
def entry_places() -> dict[str, Place]:
    """Of all entries, where this package's generator made the operations (the others' names hold
    theirs); what is written here is code of the package, as trusted as its modules are.
    """
    try:
        with open(FILE, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return {}
            made_from, places = pickle.load(file)
            start = file.tell()
    except (OSError, pickle.UnpicklingError, EOFError, ValueError):
        return {}
    if made_from != generator.version("arrays"):
        return {}
    return {name: (start + at, length) for name, (at, length) in places.items()}


def name_of(key: Any, options: Options) -> str:
    """The name of a structure's code in the file."""
    return digest(repr((key, select(options.features).llvm_features)).encode())
