"""Machine code as data: what a compiled kernel is on disk, in memory, and how it starts to run.

An `Image` is position-independent, so loading one is: map pages, copy, write a few absolute
addresses, make the pages executable.  No linker library and no compiler is involved; `runtime.elf`
makes images from object files.

    | code, constants, stubs, slots | -- page boundary -- | writable data |
    0                                 writable_start                  size
"""

from __future__ import annotations

import ctypes
import struct
import sys
from dataclasses import field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from fusewright.base.errors import ExecutableMemoryError, InternalError
from fusewright.base.later import later
from fusewright.base.values import dataclass
from fusewright.runtime import externals, pages

if TYPE_CHECKING:
    import zlib
else:
    zlib = later("zlib")

S = TypeVar("S")
_MAGIC = b"FWIMAGE\0"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQQ")
"""Magic, version, CRC-32 of what follows, length of the table of words, length of the bytes."""


class Image(NamedTuple):
    """Linked machine code.

    `relative` lists (offset, addend): the 8 bytes at `offset` become base + addend.  `imports`
    lists (offset, name, addend): they become the address of `name` + addend.  `symbols` lists
    (name, offset).  What lies beyond `len(blob)` up to `size` is zero.
    """

    blob: bytes
    size: int
    writable_start: int
    relative: tuple[tuple[int, int], ...]
    imports: tuple[tuple[int, str, int], ...]
    symbols: tuple[tuple[str, int], ...]

    def to_bytes(self) -> bytes:
        """For the disk; `from_bytes` is the inverse."""
        words: list[object] = [self.size, self.writable_start]
        for rows in (self.relative, self.imports, self.symbols):
            words.append(len(rows))
            words.extend(word for row in rows for word in row)
        table = " ".join(map(str, words)).encode()
        payload = table + self.blob
        header = _HEADER.pack(_MAGIC, _VERSION, zlib.crc32(payload), len(table), len(self.blob))
        return header + payload

    @staticmethod
    def from_bytes(data: bytes) -> Image:
        """Raises `ValueError` where the bytes are not a whole image of this version."""
        if len(data) < _HEADER.size:
            raise ValueError("a truncated image")
        magic, version, checksum, table_length, blob_length = _HEADER.unpack_from(data)
        if magic != _MAGIC or version != _VERSION:
            raise ValueError("not an image of this version")
        payload = data[_HEADER.size :]
        if len(payload) != table_length + blob_length or zlib.crc32(payload) != checksum:
            raise ValueError("a damaged image")
        words = iter(payload[:table_length].decode().split(" "))

        def number() -> int:
            return int(next(words))

        return Image(
            blob=payload[table_length:],
            size=number(),
            writable_start=number(),
            relative=tuple((number(), number()) for _ in range(number())),
            imports=tuple((number(), next(words), number()) for _ in range(number())),
            symbols=tuple((next(words), number()) for _ in range(number())),
        )


class LoadedImage:
    """An image in executable memory; the memory goes when this object does."""

    __slots__ = ("__weakref__", "base", "size", "_symbols", "_is_finalizing", "_unmap")

    def __init__(self, base: int, size: int, symbols: dict[str, int]) -> None:
        self.base = base
        self.size = size
        self._symbols = symbols
        # Kept here because module globals may be gone when the interpreter shuts down.
        self._is_finalizing = sys.is_finalizing
        self._unmap = pages.unmap

    def address(self, symbol: str) -> int:
        """Where a function or datum lies."""
        found = self.find(symbol)
        if not found:
            raise InternalError(f"compiled code has no symbol {symbol!r}")
        return found

    def find(self, symbol: str) -> int:
        """The same; 0 where there is none."""
        offset = self._symbols.get(symbol)
        return 0 if offset is None else self.base + offset

    def __del__(self) -> None:
        # At exit a daemon thread may still be running this code: the process frees the pages.
        if not self._is_finalizing():
            self._unmap(self.base, self.size)


def load(image: Image) -> LoadedImage:
    """Make an image executable in this process."""
    patches = [(offset, externals.address(name) + addend) for offset, name, addend in image.imports]
    size = max(pages.whole_pages(image.size), pages.PAGE)
    try:
        base = pages.map_pages(size)
    except OSError as error:
        raise _refused("no memory for compiled code", error) from error
    loaded = LoadedImage(base, size, dict(image.symbols))
    ctypes.memmove(base, image.blob, len(image.blob))
    patches.extend((offset, base + addend) for offset, addend in image.relative)
    for offset, value in patches:
        ctypes.c_uint64.from_address(base + offset).value = value
    try:
        pages.make_executable(base, pages.whole_pages(image.writable_start))
    except OSError as error:
        what = "this system does not let a process run code it has made"
        raise _refused(what, error) from error
    return loaded


_shared: WeakValueDictionary[bytes, LoadedImage] = WeakValueDictionary()


def load_shared(image: Image) -> LoadedImage:
    """The image in memory; kernels of the same code share it."""
    found = _shared.get(image.blob)
    if found is None:
        found = _shared[image.blob] = load(image)
    return found


@dataclass(slots=True)
class Executable(Generic[S]):
    """Machine code in memory: its signature says what its argument words are, `address` and
    `finish` where its functions begin (0: it has none), for `Target.launch` and the native core.
    """

    signature: S
    images: tuple[LoadedImage, ...] = field(default=(), kw_only=True)
    address: int = field(default=0, kw_only=True)
    finish: int = field(default=0, kw_only=True)

    def use(self, image: Image) -> None:
        """Run this code from now on; what may be running in another thread stays."""
        loaded = load_shared(image)
        self.images = (*self.images, loaded)
        self.address, self.finish = loaded.find("kernel"), loaded.find("finish")

    def symbol(self, name: str) -> int:
        """Where another function of it begins."""
        return self.images[-1].address(name)


def _refused(what: str, error: OSError) -> ExecutableMemoryError:
    return ExecutableMemoryError(
        what,
        why=f"the kernel answered: {error.strerror}",
        help='fw.options(target="reference") runs without compiled code',
    )
