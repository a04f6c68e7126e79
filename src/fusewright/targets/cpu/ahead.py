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
from collections.abc import Iterable
from functools import cache
from typing import Any

from fusewright.base.options import Options
from fusewright.runtime.cache import digest
from fusewright.runtime.trace import Slice
from fusewright.targets.cpu import generator
from fusewright.targets.cpu.features import select
from fusewright.targets.cpu.stored_programs import decoded, encoded, program_of

FILE = os.path.join(os.path.dirname(__file__), "ahead.bin")
_MAGIC = b"FWAHEAD1"
OTHERS = 3
"""Entries that are no operations: the threads' code, and that of products of each dtype."""

Place = tuple[int, int]
"""Where an entry begins in the file, and its bytes."""


def load(key: Any, options: Options) -> Any:
    """The program of a structure; None where it was not made ahead."""
    data = entry(_name(key, options))
    found = None if data is None else decoded(data)
    return None if found is None else program_of(found, lambda use: None)


def count() -> int:
    """Operations in the file; the code of threads and of products is none."""
    return max(len(_places()) - OTHERS, 0)


def is_stale() -> bool:
    """Whether there is a file, of another generator than this package's."""
    return os.path.exists(FILE) and not _places()


def entry(name: str) -> bytes | None:
    """What the file has under a name."""
    place = _places().get(name)
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
def _places() -> dict[str, Place]:
    """Of all entries, where this package's generator made them; what is written here is code of the
    package, as trusted as its modules are.
    """
    try:
        with open(FILE, "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return {}
            made_from, places = pickle.load(file)
            start = file.tell()
    except (OSError, pickle.UnpicklingError, EOFError, ValueError):
        return {}
    if made_from != generator.version():
        return {}
    return {name: (start + at, length) for name, (at, length) in places.items()}


def _name(key: Any, options: Options) -> str:
    return digest(repr((key, select(options.features).llvm_features)).encode())


def write(slices: Iterable[Slice], options: Options, path: str = FILE) -> int:
    """Compile these for this processor, and the code of threads and of products, for a package as
    installed at the path's; how many operations there are.
    """
    # Imported here: who reads the file need not compile.
    from fusewright.ir.products import DTYPES
    from fusewright.targets.cpu import products, threads
    from fusewright.targets.cpu.build import build
    from fusewright.targets.cpu.native import form
    from fusewright.targets.cpu.obtaining import kernels_of
    from fusewright.targets.cpu.runner import assemble

    features = select(options.features)
    images = {threads.image_name(): threads.compiled_image()}
    for dtype in DTYPES:
        images[products.image_name(dtype, features)] = products.compiled_image(dtype, features)
    assert len(images) == OTHERS
    entries = {name: zlib.compress(image.to_bytes()) for name, image in images.items()}
    for slice_ in slices:
        name = _name((slice_.key, options.fuse, options.features), options)
        if name not in entries:
            compiled = build(slice_, options)
            program = form(assemble(compiled))
            if program is not None:
                entries[name] = zlib.compress(encoded(program, kernels_of(compiled), 0.0))
    places, at = {}, 0
    for name, data in entries.items():
        places[name] = (at, len(data))
        at += len(data)
    beside = f"{path}.{os.getpid()}"
    with open(beside, "wb") as file:
        file.write(_MAGIC + pickle.dumps((generator.version(), places), protocol=5))
        file.writelines(entries.values())
    os.replace(beside, path)  # another process may be reading it
    return len(entries) - OTHERS
