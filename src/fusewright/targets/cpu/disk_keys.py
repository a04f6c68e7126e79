"""The names of compiled code on disk: another one for whatever may change the code, and for nothing
else.  Copies of a package at several places, and later versions with the same generator, share it.
"""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from typing import Any

import numpy as np

from fusewright.base.options import Options
from fusewright.runtime import cache as disk
from fusewright.targets.cpu import compiler, generator
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


def recurrence_key(key: Any) -> str:
    """That of a recurrence's code: neither Python nor NumPy nor what makes other code counts."""
    made_by = f"{compiler.version()}\n{generator.of_sources(generator.RECURRENCES)}"
    return disk.digest(f"{made_by}\n{key!r}".encode())


@cache
def _versions() -> str:
    """Python, NumPy, LLVM, and the packages that generate code."""
    return f"{sys.version}\n{np.__version__}\n{compiler.version()}\n{generator.version()}"
