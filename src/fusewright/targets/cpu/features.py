"""Which vector instructions this machine has, and the set kernels are compiled for.

Taken from the flags the kernel reports (what the processor has *and* the system saves), never from
the processor's name: virtual machines report wrong ones.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from fusewright.base.errors import FusewrightError

_REFERENCE = 'fw.options(target="reference") runs everything with NumPy instead'


class UnsupportedCPU(FusewrightError, RuntimeError):
    """A machine that cannot run the code of the `cpu` target."""

    code = "FW114"


class FeatureSet(NamedTuple):
    """`llvm_features` is LLVM's spelling, of what all kernels may use; `vector_bytes` the width of
    the widest register; `has_tiles`, whether products may use tile registers (AMX).
    """

    name: str
    llvm_features: str
    vector_bytes: int
    has_tiles: bool = False

    @property
    def vector_registers(self) -> int:
        """How many vector registers there are."""
        return 32 if self.vector_bytes == 64 else 16


class _Level(NamedTuple):
    """A row: the flags as /proc/cpuinfo names them, and what LLVM calls those it spells
    differently.
    """

    name: str
    vector_bytes: int
    flags: tuple[str, ...]


_V3 = (
    "cx16", "lahf_lm", "popcnt", "sse3", "ssse3", "sse4_1", "sse4_2",
    "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave",
)  # fmt: skip
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
TILES = ("amx_tile", "amx_bf16")
LEVELS = (
    _Level("amx", 64, (*_V4, *TILES)), _Level("avx512", 64, _V4), _Level("avx2", 32, _V3),
)  # fmt: skip
"""Best first: x86-64-v4 of the System V ABI with tile registers, without, and x86-64-v3."""

_LLVM_NAME = {
    "lahf_lm": "sahf", "sse4_1": "sse4.1", "sse4_2": "sse4.2", "bmi1": "bmi", "abm": "lzcnt",
}  # fmt: skip
_CPUINFO_NAME = {"sse3": "pni"}
_LEVEL = {level.name: level for level in LEVELS}


def select(option: str, flags: Iterable[str] | None = None) -> FeatureSet:
    """The set for `auto`, `avx2`, `avx512` or `amx`; raises `UnsupportedCPU` where the machine
    lacks it.

    >>> select("auto", flags=machine_flags_of("avx2")).vector_bytes
    32
    """
    if flags is None:
        return select_here(option)
    present = frozenset(flags)
    wanted = LEVELS if option == "auto" else (_LEVEL[option],)
    for level in wanted:
        if not _missing(level, present):
            return _features(level)
    missing = ", ".join(_missing(wanted[-1], present))
    raise UnsupportedCPU(
        f"this processor cannot run {wanted[-1].name} code",
        why=f"it lacks {missing}",
        help=_REFERENCE if wanted[-1] is LEVELS[-1] else 'use features="auto"; ' + _REFERENCE,
    )


def machine_flags_of(name: str) -> tuple[str, ...]:
    """The flags a machine of exactly this level would report."""
    return tuple(_CPUINFO_NAME.get(flag, flag) for flag in _LEVEL[name].flags)


@cache
def select_here(option: str) -> FeatureSet:
    """The features of an option on this machine; raises `UnsupportedCPU`."""
    machine = platform.machine()
    if sys.platform != "linux" or machine.lower() not in ("x86_64", "amd64"):
        raise UnsupportedCPU(
            f"the cpu target does not run on {sys.platform} {machine}",
            why="it makes code for x86-64 Linux so far",
            help=_REFERENCE,
        )
    return select(option, machine_flags())


def machine_flags() -> frozenset[str]:
    """The flags of this machine's first processor (they are alike in all).

    Where the system cannot be asked just now (no file descriptor is left) LLVM asks the processor;
    the system is asked again the next time.
    """
    try:
        return reported_flags()
    except OSError:
        return _llvm_flags()


@cache
def reported_flags() -> frozenset[str]:
    """What Linux says the processor has."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("flags"):
                return frozenset(line.partition(":")[2].split())
    return frozenset()


def _llvm_flags() -> frozenset[str]:
    # Imported here: seldom needed.
    from llvmlite.binding import get_host_cpu_features

    has = get_host_cpu_features()
    return frozenset(
        _CPUINFO_NAME.get(flag, flag) for flag in _V4 if has.get(_LLVM_NAME.get(flag, flag))
    )


def _missing(level: _Level, present: frozenset[str]) -> list[str]:
    names = (_CPUINFO_NAME.get(flag, flag) for flag in level.flags)
    return [name for name in names if name not in present]


def _features(level: _Level) -> FeatureSet:
    flags = [flag for flag in level.flags if flag not in TILES]
    spelled = ",".join("+" + _LLVM_NAME.get(flag, flag) for flag in flags)
    return FeatureSet(level.name, spelled, level.vector_bytes, len(flags) < len(level.flags))


BASELINE = FeatureSet("baseline", "", 16)
"""What every x86-64 processor has."""
