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
    return disk_key("arrays", (key, select(features).llvm_features))


def disk_key(kind: str, key: Any) -> str:
    """The name on disk of a program's code: of whatever decides it, the generators of its kind
    (`GENERATORS`) included.
    """
    return disk.digest(f"{_versions(kind)}\n{key!r}".encode())


@cache
def _versions(kind: str) -> str:
    """LLVM and the generators; where types are NumPy's answer and plans are kept, NumPy and Python,
    too.
    """
    made_by = f"{kind} {generator.version(kind)}\n{compiler.version()}"
    if kind not in ("arrays", "loops"):
        return made_by
    return f"{made_by}\n{sys.implementation.cache_tag} {np.__version__}"
