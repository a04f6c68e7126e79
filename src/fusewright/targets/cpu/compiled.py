"""A slice compiled, as data: what the disk keeps so that a new process need not plan or compile."""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from fusewright.codegen.module import Module
from fusewright.ir.dtypes import DType
from fusewright.ir.nest import Program
from fusewright.plan.plan import Kernel, Plan
from fusewright.runtime import cache as disk
from fusewright.runtime.image import Image
from fusewright.targets.cpu import compiler


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """One kernel's text and machine code.  `work` is nanoseconds for one element, roughly;
    `scalars` the dtypes of parameters that are not integers of the structure; `final` whether the
    code is the best we make.
    """

    kernel: Kernel
    module: Module
    image: Image
    work: float
    scalars: dict[int, DType]
    final: bool


@dataclass(frozen=True, slots=True)
class Compiled:
    """A slice's program, plan, and code; `kernels` stands in the order of the plan's steps, None
    for a library step.

    `kinds` are the kinds of the slice's nodes; `worth_best` says that a process has run it for as
    long as the best code takes to make: the next one need not find out again.
    """

    program: Program
    plan: Plan
    kernels: tuple[CompiledKernel | None, ...]
    kinds: tuple[int, ...]
    worth_best: bool = False

    def improved(self, number: int, kernel: CompiledKernel) -> Compiled:
        """The same with better code for one kernel."""
        kernels = (*self.kernels[:number], kernel, *self.kernels[number + 1 :])
        return replace(self, kernels=kernels)


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


def fetch(key: str) -> Compiled | None:
    """From the disk; what cannot be read is made again."""
    data = disk.get(key)
    if data is None:
        return None
    try:
        found = pickle.loads(data)
    except Exception:  # noqa: BLE001 - whatever a damaged file makes pickle raise
        return None
    return found if isinstance(found, Compiled) else None


def keep(key: str, compiled: Compiled) -> None:
    """To the disk."""
    try:
        data = pickle.dumps(compiled, protocol=5)
    except RecursionError:
        return  # an expression too deep for pickle: compiled anew in each process
    disk.put(key, data)


def note_due(key: str) -> None:
    """For later processes: compiling it is worth while, whether or not this one gets that far."""
    disk.put(key + _DUE, b"")


def was_due(key: str) -> bool:
    """Whether a process has said so."""
    return disk.get(key + _DUE) is not None


_DUE = "due"
