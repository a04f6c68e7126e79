"""The versions of what generates code, one for each kind of program: a digest of the sources that
decide its text, or what is kept of it on disk.

A version is a part of the names of compiled code (`disk_keys`), and says whether the operations
compiled ahead belong to this package (`ahead`).  Installed packages bring them along: they were
found when the package was built (`setup.py` runs this file).  In a copy of the repository they are
found anew whenever a file has changed, and remembered in the cache under the files' times and
sizes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "generator.digest")
"""What an installed package brings along: a line for each kind of program."""
_CODE = (
    "base/figures.py", "ir/store.py", "runtime/elf.py", "runtime/image.py", "targets/cpu/llvm.py",
)  # fmt: skip
"""Figures of all, and from text to what is kept and loaded."""
_EXPRESSIONS = (
    *_CODE, "codegen/far.py", "codegen/rare.py", "codegen/scaling.py", "codegen/spell.py",
    "codegen/text.py", "ir/bfloat16.py", "ir/dtypes.py", "ir/expr.py", "ir/fused.py",
    "ir/interpret.py", "rules/decompose/coefficients.py", "rules/decompose/lengths.py",
    "rules/decompose/terms.py", "rules/decompose/trigonometric.py",
)  # fmt: skip
_TREES = (
    *_CODE, "base/values.py", "codegen/*", "codegen/trees", "ir/*", "ir/loops", "ir/tree",
    "machine/record.py", "rules", "runtime/arguments.py",
)  # fmt: skip
GENERATORS = {
    "arrays": (
        *_TREES, "_core/launch.c", "_core/launch.h", "_core/program.c", "analysis/liveness.py",
        "plan/*", "runtime/trace.py", "targets/cpu/build.py", "targets/cpu/compiled.py",
        "targets/cpu/finishing.py", "targets/cpu/launch.py", "targets/cpu/native.py",
        "targets/cpu/runner.py", "targets/cpu/stored_programs.py",
    ),
    "loops": (*_TREES, "analysis", "plan/loops", "targets/cpu/loops.py", "targets/executable.py"),
    "products": (
        *_EXPRESSIONS, "codegen/products", "codegen/recurrences/vectors.py", "ir/graph.py",
        "ir/products.py", "targets/cpu/products.py",
    ),
    "recurrences": (
        *_EXPRESSIONS, "codegen/recurrences", "frontends/recurrences", "integrals/classes.py",
        "integrals/families.py", "integrals/harmonics.py", "integrals/narrow.py",
        "ir/recurrences", "machine/steps.py", "plan/recurrences",
        "rules/decompose/exponential.py", "targets/cpu/recurrences.py", "targets/executable.py",
    ),
}  # fmt: skip
"""What each kind of code depends on, but through the structure or text that it is the code of.  A
folder counts with all that is in it, with `/*` its files alone.  Nothing else may have code
compiled anew.  (Classes of integrals are named by their angular momenta, so what their recurrences
are belongs here.)
"""
_SOURCES = (".py", ".c", ".h")


@cache
def version(kind: str) -> str:
    """The digest of all that the code of a kind of program depends on."""
    try:
        with open(FILE, encoding="ascii") as file:
            return dict(line.split() for line in file)[kind]
    except OSError:
        return _of_sources(GENERATORS[kind])


def _of_sources(names: tuple[str, ...]) -> str:
    from fusewright.runtime import cache as disk  # Not at the top: `setup.py` needs none of it.

    stamps = sorted((path, s.st_mtime_ns, s.st_size) for path, s in files(ROOT, names))
    key = disk.digest(f"generator\n{ROOT}\n{stamps}".encode())
    known = disk.get(key)
    if known is None:
        known = contents(ROOT, names).encode()
        disk.put(key, known)
    return known.decode()


def versions(root: str) -> str:
    """What the package at a place brings along when it is installed."""
    return "".join(f"{kind} {contents(root, names)}\n" for kind, names in GENERATORS.items())


def contents(root: str, names: tuple[str, ...]) -> str:
    """A digest of every source file: its name in the package and its content."""
    # Not at the top: it loads OpenSSL, 3 ms of a process's start.
    from hashlib import blake2b

    found = blake2b(digest_size=32)
    for name, _ in sorted(files(root, names)):
        with open(root + name, "rb") as file:
            content = file.read()
        found.update(f"{name}\n{len(content)}\n".encode() + content)
    return found.hexdigest()


def files(root: str, names: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """The source files by their names in the package; in one loop, since it is a tenth of a
    process's first call (`pathlib` would take 5 ms longer).
    """
    folders = [os.path.join(root, name) for name in names]
    for folder in folders:
        if folder.endswith(_SOURCES):
            yield folder.removeprefix(root).replace(os.sep, "/"), os.stat(folder)
            continue
        is_deep = not folder.endswith("*")
        with os.scandir(folder.removesuffix("*")) as entries:
            for entry in entries:
                if entry.name.endswith(_SOURCES):
                    name = entry.path.removeprefix(root).replace(os.sep, "/")
                    yield name, entry.stat()
                elif is_deep and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
