"""While nothing is compiled, LLVM's code and tables need not be in memory: some 60 MiB.

They are pages of a file, unchanged: the system has them in its cache, and what is used again comes
back from there at a fraction of a microsecond a page.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress

from fusewright.runtime import pages

_LOAD, _WRITABLE = 1, 2  # kinds and flags of ELF program headers
_HEADER = struct.Struct("<16sHHIQQQIHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")

_regions: list[tuple[int, int]] | None = None


def rest(path: str) -> None:
    """Let go the pages of a library that the process has only read."""
    global _regions
    if _regions is None:
        _regions = []
        with suppress(OSError, ValueError, struct.error):
            _regions = _mapped(path, _read_only(path))
    for start, length in _regions:
        pages.forget(start, length)


def _read_only(path: str) -> list[tuple[int, int]]:
    """The parts of a library's file that are loaded and never written, relocations included."""
    with open(path, "rb") as file:
        head = _HEADER.unpack(file.read(_HEADER.size))
        if head[0][:6] != b"\x7fELF\x02\x01":
            return []
        file.seek(head[5])
        found = []
        for _ in range(head[10]):
            kind, flags, offset, _, _, length, _, _ = _SEGMENT.unpack(file.read(_SEGMENT.size))
            if kind == _LOAD and not flags & _WRITABLE:
                found.append((offset, offset + length))
    return found


def _mapped(path: str, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where the process has those parts: address and length."""
    real = os.path.realpath(path)
    found = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().splitlines()
    for line in lines:
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5] == real and "w" not in words[1]:
            start, end = (int(word, 16) for word in words[0].split("-"))
            offset = int(words[2], 16)
            last = offset + end - start
            if any(first <= offset and last <= _page_up(stop) for first, stop in parts):
                found.append((start, end - start))
    return found


def _page_up(number: int) -> int:
    return -(-number // pages.PAGE) * pages.PAGE
