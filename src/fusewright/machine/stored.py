"""Measured figures on disk, one small text for each kind of machine: `name value` lines.

They lie beside the cache of compiled code, and outlive it.  A line that is no figure of ours, or
far from every machine's, is not used.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from fusewright.base.options import calibration
from fusewright.machine import detect
from fusewright.machine.record import DEFAULT, Machine, with_caches

UNITS = {
    **dict.fromkeys(("first", "second", "third", "past", "rows"), "bytes"),
    **dict.fromkeys(
        ("first_bandwidth", "second_bandwidth", "third_bandwidth", "memory_bandwidth"), "GB/s"
    ),
    **dict.fromkeys(("multiply_add", "product", "half", "tiles", "divide", "exp"), "/ns"),
    **dict.fromkeys(("fork", "launch", "page", "layer"), "ns"),
    **dict.fromkeys(("operation", "element", "dear_element", "joining"), "ns"),
    **dict.fromkeys(("block", "strip", "wake"), "ns"),
    **dict.fromkeys(("in_vectors", "one_by_one"), "ps"),
    **dict.fromkeys(("same", "scattered"), "of an access"),
    "stored_value": "additions",
    "decoded": "operations",
    **dict.fromkeys(("look_up", "look_up_node", "load_finder"), "s"),
    **dict.fromkeys(("compile_start", "compile_structure", "compile_node", "compile_line"), "s"),
    **dict.fromkeys(("read_streams", "write_streams"), "streams"),
    "chain_gain": "times",
    "flush_elements": "elements",
    "flush_records": "operations",
}
MEASURED = (
    "first_bandwidth", "second_bandwidth", "third_bandwidth", "memory_bandwidth", "multiply_add",
    "product", "half", "divide", "exp", "fork", "launch", "page", "compile_start",
    "compile_structure", "compile_node", "compile_line",
)  # fmt: skip
"""The fields that calibrating measures."""
FAR = 50.0
"""By how much a figure may differ from its default to be believed."""


def found() -> tuple[Machine, dict[str, str]]:
    """The record of the machine at hand, and which fields of it are `detected` or `measured`."""
    sizes = detect.caches()
    figures = read(calibration())
    origins = {**dict.fromkeys(sizes, "detected"), **dict.fromkeys(figures, "measured")}
    return Machine(**{**with_caches(sizes)._asdict(), **figures}), origins


def read(name: str) -> dict[str, float]:
    """The figures of a file: none where it is not there, only those that can be."""
    try:
        with open(name, encoding="ascii") as file:
            lines = file.read(1 << 12).splitlines()
    except (OSError, ValueError):
        return {}
    pairs = [line.split() for line in lines]
    return believed({pair[0]: pair[1] for pair in pairs if len(pair) == 2})


def believed(figures: Mapping[str, str | float]) -> dict[str, float]:
    """Those that are numbers of a field that is measured, and not far from every machine's."""
    known: dict[str, float] = {}
    for name, text in figures.items():
        if name in MEASURED:
            try:
                value = float(text)
            except ValueError:
                continue
            if 1 / FAR <= value / getattr(DEFAULT, name) <= FAR:
                known[name] = value
    return known


def keep(figures: Mapping[str, float]) -> str:
    """Write this machine's figures, all or nothing; the file's name."""
    name = calibration()
    os.makedirs(os.path.dirname(name), mode=0o700, exist_ok=True)
    beside = f"{name}.{os.getpid()}"
    with open(beside, "w", encoding="ascii") as file:
        file.writelines(f"{field} {value!r}\n" for field, value in figures.items())
    os.replace(beside, name)
    return name
