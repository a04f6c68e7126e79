"""What `fusewright doctor` checks, one function for each line."""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fusewright.base.options import TABLE, defaults, options
from fusewright.base.words import count, seconds, size
from fusewright.cli.console import version_of
from fusewright.cli.failures import CheckFailed
from fusewright.runtime import cache, limits
from fusewright.runtime.profile import listen
from fusewright.targets.target import target

OLDEST_PYTHON = (3, 11)
OLDEST_NUMPY = (2, 0)
PROBE = "d0c70"
"""The key of a cache entry written, read and removed again."""

LEAST_MEMORY = 256 << 20
SLOW_FORK = 1e-3


def _python() -> str:
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        raise CheckFailed(f"Python {platform.python_version()}", f"use Python {wanted} or newer")
    return f"{platform.python_version()} at {sys.executable}"


def _numpy() -> str:
    if tuple(int(part) for part in np.__version__.split(".")[:2]) < OLDEST_NUMPY:
        raise CheckFailed(f"NumPy {np.__version__}", "pip install 'numpy>=2.0'")
    return np.__version__


def _llvm() -> str:
    return f"{target('cpu').describe().compiler} in llvmlite {version_of('llvmlite')}"


def _settings() -> str:
    values = defaults()
    changed = [row for row in TABLE.values() if row.variable in os.environ]
    return ", ".join(f"{row.name}={getattr(values, row.name)}" for row in changed) or "all default"


def _processor() -> str:
    chosen = target("cpu").features(defaults().features)
    return f"{chosen.name}, vectors of {8 * chosen.vector_bytes} bits"


def _memory() -> str:
    free = limits.available_memory()
    if free < LEAST_MEMORY:
        raise CheckFailed(f"only {size(free)} free", "end other programs or raise the limit")
    return f"{size(free)} free of {size(limits.total_memory())}"


def _cache() -> str:
    info = cache.info()
    help = (
        "mend the folder, or name another with FUSEWRIGHT_CACHE_DIR; "
        "until then every process compiles anew"
    )
    if info.unusable:
        raise CheckFailed(f"{info.folder}: {info.unusable}", help)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cache.put(PROBE, b"probe")
        found = cache.get(PROBE)
    if caught or found != b"probe":
        reason = cache.info().unusable or "what was written cannot be read back"
        raise CheckFailed(f"{info.folder}: {reason}", help)
    for left in Path(info.folder).glob(f"{PROBE}*"):
        left.unlink(missing_ok=True)
    return f"{info.folder} can be written; {count(info.entries, 'file')}, {size(info.nbytes)}"


def _ahead() -> str:
    about = target("cpu").describe()
    if about.is_stale:
        raise CheckFailed(
            "the operations compiled ahead are those of other sources",
            "install Fusewright again (in a copy of the repository: `python -m "
            "fusewright.operations`); until then each is compiled when a program meets it",
        )
    return (
        f"{count(about.ahead, 'operation')} compiled ahead"
        if about.ahead
        else "none, for want of a compiler"
    )


def _kernel() -> str:
    import fusewright as fw
    import fusewright.numpy as fnp

    values = np.linspace(0.0, 1.0, 1 << 16)
    with options(target="cpu", background=False), listen() as profile:
        x = fw.asarray(values)
        total = np.asarray(fnp.sqrt(x * x + 1.0) - 0.5)
    if not profile.kernels:
        raise CheckFailed("nothing was compiled", "see `fusewright explain` on a small program")
    if not np.array_equal(total, np.sqrt(values * values + 1.0) - 0.5):
        raise CheckFailed("a kernel gave wrong values", "please report this")
    ran = profile.kernels[0]
    return f"right values; {ran.origin}, {seconds(ran.compile_seconds)} compiling"


def _threads() -> str:
    number = limits.thread_count()
    cost = target("cpu").describe().launch_seconds()
    if cost > SLOW_FORK:
        raise CheckFailed(
            f"starting work on {count(number, 'thread')} takes {seconds(cost)}",
            "another program keeps the processors busy, or fewer are free than "
            "FUSEWRIGHT_THREADS says",
        )
    return f"{count(number, 'thread')}, {seconds(cost)} to start and join work"


CHECKS: dict[str, Callable[[], str]] = {
    "python": _python,
    "numpy": _numpy,
    "llvm": _llvm,
    "settings": _settings,
    "processor": _processor,
    "memory": _memory,
    "cache": _cache,
    "ahead": _ahead,
    "threads": _threads,
    "kernel": _kernel,
}
"""In an order in which the first failure explains the later ones."""
