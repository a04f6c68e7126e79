"""The names of compiled code on disk: another one for whatever may change the code."""

from __future__ import annotations

import os
import sys
from functools import cache, lru_cache
from typing import Any

import numpy as np

from fusewright.base.options import Options
from fusewright.runtime import cache as disk
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.features import select


def name_of(key: Any, options: Options) -> str:
    """That of a structure's code for this machine."""
    return _name_of(key, options.features)


@lru_cache(maxsize=16)  # of one structure it is asked for several times in a row
def _name_of(key: Any, features: str) -> str:
    return disk_key((key, select(features).llvm_features))


def disk_key(key: Any) -> str:
    """The name on disk of everything that can change the code."""
    return disk.digest(f"{_versions()}\n{key!r}".encode())


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_ELSEWHERE = frozenset(("__pycache__", "bridges", "cli", "numpy"))
"""Folders whose files only record and show: no code depends on them but through the structure."""


@cache
def _versions() -> str:
    """Python, NumPy, LLVM, and this package as its files are."""
    stamps = sorted((path.removeprefix(ROOT), *state) for path, *state in installed() or sources())
    return f"{sys.version}\n{np.__version__}\n{compiler.version()}\n{stamps}"


@cache
def installed() -> list[tuple[str, int, int]]:
    """What an installer wrote about this package; nothing in a copy of the repository."""
    return _installed(ROOT)


@cache
def sources() -> list[tuple[str, int, int]]:
    """Every source file of this package, and the core, with time and size."""
    return _stamps(ROOT)


def _installed(root: str) -> list[tuple[str, int, int]]:
    """What an installer has written about the files of the package beside it, with time and size:
    anew whenever it changes them.  Nothing for a copy of the repository.
    """
    home = os.path.dirname(root)
    records = [
        os.path.join(home, name, "RECORD")
        for name in os.listdir(home)
        if name.startswith("fusewright-") and name.endswith(".dist-info")
    ]
    found = [(path, os.stat(path)) for path in records if os.path.isfile(path)]
    return [(path, state.st_mtime_ns, state.st_size) for path, state in found]


def _stamps(root: str) -> list[tuple[str, int, int]]:
    """Every source file, and the core, with time and size; in one loop, since it is a tenth of a
    process's first call (`pathlib` would take 5 ms longer).
    """
    stamps, folders = [], [root]
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith((".py", ".so")):
                    state = entry.stat()
                    stamps.append((entry.path, state.st_mtime_ns, state.st_size))
                elif name not in _ELSEWHERE and entry.is_dir():
                    folders.append(entry.path)
    return stamps
