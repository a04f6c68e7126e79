"""`fusewright info`: the machine, the versions and the settings, as a bug report needs them."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from pathlib import Path

from fusewright.base.errors import FusewrightError
from fusewright.base.options import TABLE, defaults
from fusewright.base.words import count, size
from fusewright.cli.console import version_of
from fusewright.machine import stored
from fusewright.runtime import cache, limits
from fusewright.targets.target import target

PACKAGES = ("fusewright", "numpy", "llvmlite")


WORDS = {
    "first": "first-level cache", "second": "second-level cache", "third": "last-level cache",
    "past": "results written past the caches from", "rows": "row buffers of a kernel",
    "first_bandwidth": "first-level bandwidth", "second_bandwidth": "second-level bandwidth",
    "third_bandwidth": "last-level bandwidth", "memory_bandwidth": "memory bandwidth",
    "multiply_add": "products and sums", "divide": "divisions", "product": "products of matrices",
    "half": "products of bfloat16", "tiles": "the same in tile registers",
    "exp": "exponentials", "fork": "sharing work among threads", "launch": "starting a kernel",
    "page": "first touch of a page", "operation": "an operation by itself",
    "element": "an element of it", "dear_element": "a dear element of it",
    "joining": "joining a statement to others",
    "look_up": "looking for code on disk", "look_up_node": "the same, each operation",
    "in_vectors": "an operation in vectors", "one_by_one": "the same, one by one",
    "same": "one element for all lanes", "scattered": "scattered elements",
    "stored_value": "storing and reading a value", "decoded": "instructions that stay decoded",
    "block": "work of a block", "strip": "work of a strip", "wake": "waking a thread",
    "load_finder": "loading what looks there",
    "layer": "calling a layer of products",
    "chain_gain": "products fuse from a gain of", "compile_start": "compiling, each kernel",
    "compile_structure": "compiling, each structure", "compile_node": "compiling, each operation",
    "compile_line": "compiling, each line of code", "read_streams": "arrays read at once",
    "write_streams": "arrays written at once", "flush_elements": "loops flush from",
    "flush_records": "loops flush after",
}  # fmt: skip
"""What the fields of the machine's record are called here."""


def command(chosen: argparse.Namespace) -> int:
    """Print everything as aligned lines of `name  value`."""
    rows = [*_versions(), *_machine(), *record_rows(), *_cache(), *_settings()]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    return 0


def _versions() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        yield package, version_of(package)
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", platform.platform()


def _machine() -> Iterator[tuple[str, str]]:
    yield "processor", processor()
    try:
        chosen = target("cpu").features(defaults().features)
        yield "vectors", f"{chosen.name}, {8 * chosen.vector_bytes} bits"
    except FusewrightError as error:
        yield "vectors", f"none: {error.what}"
    yield "processors", f"{limits.cpu_count()} usable of {os.cpu_count()}"
    yield "threads", str(limits.thread_count())
    yield "memory", f"{size(limits.available_memory())} free of {size(limits.total_memory())}"


def record_rows() -> Iterator[tuple[str, str]]:
    """Each field of the machine's record, with its unit and origin."""
    record, origins = stored.found()
    for name, value in record._asdict().items():
        unit = stored.UNITS[name]
        shown = size(value) if unit == "bytes" else f"{value:.4g} {unit}"
        yield f"machine: {WORDS[name]}", f"{shown}  ({origins.get(name, 'default')})"


def processor() -> str:
    """The name the processor gives itself (not to be relied on: virtual machines make it up)."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line)
    return next(names, platform.machine())


def _cache() -> Iterator[tuple[str, str]]:
    info = cache.info()
    yield "cache", info.folder
    yield "cached", info.unusable or f"{count(info.entries, 'file')}, {size(info.nbytes)}"


def _settings() -> Iterator[tuple[str, str]]:
    values = defaults()
    for row in TABLE.values():
        source = f"  (from {row.variable})" if row.variable in os.environ else ""
        yield f"option {row.name}", f"{getattr(values, row.name)}{source}"
