"""The caches of this machine: from the C library where it knows them, else from the kernel's files.

Whatever cannot be found stays at its default, in this process only: nothing detected is written
down.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

LEVELS = ("first", "second", "third")
FOLDER = "/sys/devices/system/cpu/cpu0/cache"
_INDICES = (3, 2, 0, 1, 4)
"""Where caches usually stand: L3, L2, L1 for data, L1 for instructions."""
_PLACES = {("1", "Data"): "first", ("2", "Unified"): "second", ("3", "Unified"): "third"}
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZES_OF_GLIBC = {"first": 188, "second": 191}
"""`_SC_LEVEL1_DCACHE_SIZE` and `_SC_LEVEL2_CACHE_SIZE` in its <unistd.h>; Python does not name
them.  Its L3 is on some processors the sum of all that the machine has."""
LEAST, MOST = 4 << 10, 4 << 30
"""Bytes of a cache; what lies outside is no answer (virtual machines say 0)."""


def caches() -> dict[str, int]:
    """The bytes of each cache that is known."""
    found = of_library()
    found |= of_kernel(FOLDER, [name for name in LEVELS if name not in found])
    return {name: nbytes for name, nbytes in found.items() if LEAST <= nbytes <= MOST}


def of_library() -> dict[str, int]:
    """What the C library has found by asking the processor."""
    if "CS_GNU_LIBC_VERSION" not in os.confstr_names:
        return {}
    try:
        if not (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc"):
            return {}
        sizes = {name: os.sysconf(number) for name, number in _SIZES_OF_GLIBC.items()}
    except (OSError, ValueError):
        return {}
    return {name: size for name, size in sizes.items() if size > 0}


def of_kernel(folder: str, wanted: Sequence[str] = LEVELS) -> dict[str, int]:
    """What Linux tells of these caches of the first processor."""
    found: dict[str, int] = {}
    for number in _INDICES:
        if len(found) == len(wanted):
            break
        try:
            place = (_word(f"{folder}/index{number}/level"), _word(f"{folder}/index{number}/type"))
            name = _PLACES.get(place, "")
            if name in wanted:
                size = _word(f"{folder}/index{number}/size")
                found[name] = int(size.rstrip("KMG")) * _UNITS.get(size[-1:], 1)
        except (OSError, ValueError):
            continue
    return found


def _word(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read().strip()
