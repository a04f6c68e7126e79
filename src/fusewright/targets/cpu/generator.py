"""The version of what generates code: a digest of the content of its packages.

It is a part of every name of compiled code (`disk_keys`), and says whether the operations compiled
ahead belong to this package (`ahead`).  Installed packages bring it along: it was found when they
were built (`setup.py` runs this file).  In a copy of the repository it is found anew whenever a
file has changed, and remembered in the cache under the files' times and sizes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "generator.digest")
"""What an installed package brings along."""
PACKAGES = (
    "_core", "analysis", "base", "codegen", "frontends/recurrences", "integrals", "ir", "machine",
    "plan", "rules", "runtime", "targets",
)  # fmt: skip
"""All that code depends on, but through the structure that it is the code of.  (Classes of
integrals are named by their angular momenta, so what their recurrences are belongs here.)
"""
RECURRENCES = (
    "codegen/far.py", "codegen/rare.py", "codegen/recurrences", "codegen/scaling.py",
    "codegen/spell.py", "codegen/text.py", "frontends/recurrences", "integrals/classes.py",
    "integrals/families.py", "integrals/harmonics.py", "integrals/narrow.py", "ir",
    "machine/steps.py", "plan/recurrences", "rules/decompose", "runtime/elf.py",
    "runtime/image.py", "targets/cpu/llvm.py", "targets/cpu/recurrences.py",
    "targets/executable.py",
)  # fmt: skip
"""What the code of recurrences depends on: nothing else may have them compiled anew."""
_SOURCES = (".py", ".c", ".h")


@cache
def version() -> str:
    """The digest of all that code of arrays and loops depends on."""
    try:
        with open(FILE, encoding="ascii") as file:
            return file.read()
    except OSError:
        return of_sources(PACKAGES)


@cache
def of_sources(packages: tuple[str, ...]) -> str:
    """The digest of some folders and files of this package."""
    from fusewright.runtime import cache as disk  # Not at the top: `setup.py` needs none of it.

    files = _files(ROOT, packages)
    stamps = sorted((path, state.st_mtime_ns, state.st_size) for path, state in files)
    key = disk.digest(f"generator\n{ROOT}\n{stamps}".encode())
    known = disk.get(key)
    if known is None:
        known = contents(ROOT, packages).encode()
        disk.put(key, known)
    return known.decode()


def contents(root: str, packages: tuple[str, ...] = PACKAGES) -> str:
    """A digest of every source file: its name in the package and its content."""
    # Not at the top: it loads OpenSSL, 3 ms of a process's start.
    from hashlib import blake2b

    found = blake2b(digest_size=32)
    for name, _ in sorted(_files(root, packages)):
        with open(root + name, "rb") as file:
            content = file.read()
        found.update(f"{name}\n{len(content)}\n".encode() + content)
    return found.hexdigest()


def _files(root: str, packages: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """The source files by their names in the package; in one loop, since it is a tenth of a
    process's first call (`pathlib` would take 5 ms longer).
    """
    folders = [os.path.join(root, package) for package in packages]
    for folder in folders:
        if folder.endswith(_SOURCES):
            yield folder.removeprefix(root).replace(os.sep, "/"), os.stat(folder)
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(_SOURCES):
                    name = entry.path.removeprefix(root).replace(os.sep, "/")
                    yield name, entry.stat()
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
