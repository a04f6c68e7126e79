"""The linker: from the object file LLVM emits to a flat, position-independent `Image`.

It reads x86-64 ELF relocatable objects (small code model, position independent).  Sections are laid
out in three runs: constants and code (read, execute), then, on pages of their own, data that is
written.
"""

from __future__ import annotations

import struct
from dataclasses import field
from typing import NamedTuple

from fusewright.base.errors import InternalError
from fusewright.base.values import dataclass
from fusewright.runtime.image import Image
from fusewright.runtime.pages import PAGE

_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_SHDR = struct.Struct("<IIQQQQIIQQ")
_SYM = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_INT32 = struct.Struct("<i")
_INT64 = struct.Struct("<q")
_IDENT = b"\x7fELF\x02\x01\x01"
_REL, _MACHINE = 1, 62

_SYMTAB, _RELA_TYPE, _NOBITS, _X86_UNWIND = 2, 4, 8, 0x70000001
_SHF_WRITE, _SHF_ALLOC, _SHF_TLS = 1, 2, 1024
_UNDEFINED, _ABSOLUTE, _COMMON = 0, 0xFFF1, 0xFFF2
_GLOBAL = 1

_R_64, _R_PC32, _R_PLT32, _R_PC64 = 1, 2, 4, 24
_GOTPCREL = (9, 41, 42)
_JUMP = b"\xff\x25"
"""`jmp *slot(%rip)`; a 32-bit displacement follows."""


@dataclass(slots=True)
class _Section:
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    info: int
    link: int
    alignment: int
    place: int = -1


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int
    is_global: bool


@dataclass(slots=True)
class _Link:
    """The work in progress: the bytes so far, and what remains to be done when they are loaded.

    `slots` and `stubs` give the offset for a symbol's number.
    """

    blob: bytearray
    relative: list[tuple[int, int]] = field(default_factory=list)
    imports: list[tuple[int, str, int]] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)
    stubs: dict[int, int] = field(default_factory=dict)


def link(object_bytes: bytes) -> Image:
    """Lay out, relocate and resolve one object file."""
    sections = _sections(object_bytes)
    symbols = _symbols(object_bytes, sections)
    kept = [s for s in sections if _is_loaded(s)]
    fixed = [s for s in kept if not _is_writable(s)]
    written = [s for s in kept if _is_writable(s)]
    work = _Link(bytearray())
    end = _place(fixed, 0, object_bytes, work.blob)
    stub_area = _aligned(end, 16)
    relocations = _relocations(object_bytes, sections)
    slot_area = _reserve_stubs(work, relocations, symbols, stub_area)
    start = _aligned(slot_area + 8 * len(work.slots), PAGE if written else 8)
    work.blob.extend(bytes(start - len(work.blob)))
    size = _place(written, start, object_bytes, work.blob)
    _fill_slots(work, symbols, sections)
    for target, offset, kind, number, addend in relocations:
        _relocate(work, target.place + offset, kind, symbols, number, addend, sections)
    exported = tuple(
        (s.name, sections[s.section].place + s.value)
        for s in symbols
        if s.is_global and s.name and s.section not in (_UNDEFINED, _ABSOLUTE)
    )
    return Image(bytes(work.blob), size, start, tuple(work.relative), tuple(work.imports), exported)


def _aligned(value: int, alignment: int) -> int:
    return -(-value // alignment) * alignment


def _is_loaded(section: _Section) -> bool:
    """Everything allocated but unwind tables: no exception passes through a kernel."""
    return bool(section.flags & _SHF_ALLOC) and section.kind != _X86_UNWIND


def _is_writable(section: _Section) -> bool:
    """`.data.rel.ro` is written by the loader only."""
    return bool(section.flags & _SHF_WRITE) and not section.name.startswith(".data.rel.ro")


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def _sections(data: bytes) -> list[_Section]:
    if len(data) < _EHDR.size or not data.startswith(_IDENT):
        raise InternalError("not a 64-bit little-endian ELF object")
    header = _EHDR.unpack_from(data)
    if header[1] != _REL or header[2] != _MACHINE:
        raise InternalError("not a relocatable object for x86-64")
    table, count, names = header[6], header[12], header[13]
    rows = [_SHDR.unpack_from(data, table + i * _SHDR.size) for i in range(count)]
    strings = rows[names][4]
    sections = [
        _Section(_text(data, strings + r[0]), r[1], r[2], r[4], r[5], r[7], r[6], max(r[8], 1))
        for r in rows
    ]
    for section in sections:
        if section.flags & _SHF_TLS:
            raise InternalError("compiled code uses thread-local data")
    return sections


def _symbols(data: bytes, sections: list[_Section]) -> list[_Symbol]:
    table = next((s for s in sections if s.kind == _SYMTAB), None)
    if table is None:
        raise InternalError("an object without symbols")
    strings = sections[table.link].offset
    found = []
    for start in range(table.offset, table.offset + table.size, _SYM.size):
        name, info, _, section, value, _ = _SYM.unpack_from(data, start)
        if section == _COMMON:
            raise InternalError("compiled code uses common symbols")
        found.append(_Symbol(_text(data, strings + name), section, value, info >> 4 >= _GLOBAL))
    return found


def _place(sections: list[_Section], start: int, data: bytes, blob: bytearray) -> int:
    """Give each section its offset, largest alignment first; append the bytes; return the end.

    Sections of zeros come last and add no bytes.
    """
    end = start
    for section in sorted(sections, key=lambda s: (s.kind == _NOBITS, -s.alignment)):
        section.place = end = _aligned(end, section.alignment)
        end += section.size
        if section.kind != _NOBITS:
            blob.extend(bytes(section.place - len(blob)))
            blob += data[section.offset : section.offset + section.size]
    return end


_Relocation = tuple[_Section, int, int, int, int]


def _relocations(data: bytes, sections: list[_Section]) -> list[_Relocation]:
    """(section, offset, kind, symbol's number, addend) of each relocation in a loaded section."""
    found = []
    for table in sections:
        if table.kind != _RELA_TYPE or not _is_loaded(sections[table.info]):
            continue
        for start in range(table.offset, table.offset + table.size, _RELA.size):
            offset, info, addend = _RELA.unpack_from(data, start)
            found.append((sections[table.info], offset, info & 0xFFFFFFFF, info >> 32, addend))
    return found


def _reserve_stubs(
    work: _Link, relocations: list[_Relocation], symbols: list[_Symbol], area: int
) -> int:
    """Find what needs a stub or a slot, append the stubs, and return where the slots begin.

    A stub is 8 bytes, a slot is 8 bytes; a call to a function outside needs both.
    """
    called: dict[int, None] = {}
    slots: dict[int, None] = {}
    for _, _, kind, number, _ in relocations:
        is_call = kind == _R_PLT32 and symbols[number].section == _UNDEFINED
        if is_call:
            called[number] = None
        if is_call or kind in _GOTPCREL:
            slots[number] = None
    slot_area = area + 8 * len(called)
    work.slots = {number: slot_area + 8 * i for i, number in enumerate(slots)}
    if not slots:
        return len(work.blob)
    work.blob.extend(bytes(area - len(work.blob)))
    for number in called:
        here = work.stubs[number] = len(work.blob)
        work.blob += _JUMP + _INT32.pack(work.slots[number] - (here + 6)) + b"\xcc\xcc"
    return slot_area


def _fill_slots(work: _Link, symbols: list[_Symbol], sections: list[_Section]) -> None:
    for number, offset in work.slots.items():
        symbol = symbols[number]
        if symbol.section == _UNDEFINED:
            work.imports.append((offset, symbol.name, 0))
        else:
            work.relative.append((offset, _offset(symbol, sections)))


def _offset(symbol: _Symbol, sections: list[_Section]) -> int:
    place = sections[symbol.section].place if symbol.section < len(sections) else -1
    if place < 0:
        raise InternalError(f"compiled code refers to {symbol.name!r}, which is not loaded")
    return place + symbol.value


def _relocate(
    work: _Link, place: int, kind: int, symbols: list[_Symbol], number: int, addend: int,
    sections: list[_Section],
) -> None:  # fmt: skip
    symbol = symbols[number]
    outside = symbol.section == _UNDEFINED
    if kind == _R_64 and outside:
        work.imports.append((place, symbol.name, addend))
    elif kind == _R_64:
        work.relative.append((place, _offset(symbol, sections) + addend))
    elif kind in _GOTPCREL:
        _INT32.pack_into(work.blob, place, work.slots[number] + addend - place)
    elif kind == _R_PLT32 and outside:
        _INT32.pack_into(work.blob, place, work.stubs[number] + addend - place)
    elif kind in (_R_PC32, _R_PLT32) and not outside:
        _INT32.pack_into(work.blob, place, _offset(symbol, sections) + addend - place)
    elif kind == _R_PC64 and not outside:
        _INT64.pack_into(work.blob, place, _offset(symbol, sections) + addend - place)
    else:
        raise InternalError(f"relocation type {kind} of {symbol.name!r} is not supported")
