"""Tile registers (AMX), the machine's own where it has them, else emulated instruction by
instruction (`tile_registers.c`).
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest import mock

import pytest

from fusewright.runtime import externals
from fusewright.targets.cpu import features, tile_registers

HAS_TILES = {*features.TILES} <= features.machine_flags()
"""Whether the machine has them."""


@contextmanager
def available(workers: bool = False) -> Iterator[Any]:
    """What `features="amx"` needs, inside; the emulator, or None where the machine needs none.

    Threads of the pool block all signals, the emulator's too; not those that start for the first
    time inside, if `workers` says so.
    """
    if HAS_TILES:
        yield None
        return
    if "avx512f" not in features.machine_flags():
        pytest.skip("packing for tile registers needs AVX-512")
    emulator = _emulator()
    flags = features.machine_flags() | {*features.TILES}
    features.select_here.cache_clear()
    emulator.start()
    if workers:
        externals.addresses["pthread_sigmask"] = ctypes.cast(
            emulator.mask_of_workers, ctypes.c_void_p
        ).value
    try:
        with (
            mock.patch.object(features, "machine_flags", lambda: flags),
            mock.patch.object(tile_registers, "are_granted", lambda: True),
        ):
            yield emulator
    finally:
        emulator.stop()
        features.select_here.cache_clear()


@cache
def _emulator() -> Any:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler for the emulator of tile registers")
    made = Path(mkdtemp()) / "tile_registers.so"
    source = Path(__file__).with_suffix(".c")
    options = ("-O2", "-mfma", "-ffp-contract=off", "-shared", "-fPIC")
    subprocess.run([compiler, *options, str(source), "-o", str(made), "-lm"], check=True)
    library = ctypes.CDLL(str(made))
    library.count.restype = ctypes.c_long
    return library
