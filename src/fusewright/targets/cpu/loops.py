"""Kernels of loops on the CPU: compiled, kept on disk, called."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter
from typing import Any, Literal

import numpy as np

from fusewright.base.options import Options
from fusewright.codegen.reading import LoopWord
from fusewright.codegen.statements import LoopModule, lower
from fusewright.ir.dtypes import DType
from fusewright.ir.loops.interpret import Failed, shown
from fusewright.ir.loops.statements import Kernel, Print, Shown
from fusewright.runtime import cache as disk
from fusewright.runtime.image import Image, LoadedImage, load
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.compiled import disk_key
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.threads import code

LEVEL = 2
REPORT_WORDS = 64
"""A failed check reports its number, its values, and the indices of the loops around it."""
_SHOW = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)


@dataclass(slots=True)
class CompiledLoops:
    """A kernel's code, ready to be called; `origin` and `seconds` say where it came from."""

    kernel: Kernel
    module: LoopModule
    image: LoadedImage
    features: FeatureSet
    origin: Literal["compiled", "disk", "memory"]
    seconds: float
    encoders: tuple[Callable[[Any], int], ...] = ()
    address: int = 0
    places: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.address = self.image.address("kernel")
        self.places = {number: place for place, number in enumerate(self.kernel.given)}
        self.encoders = tuple(encoder(dtype) for dtype in self.kernel.dtypes)

    def run(self, arrays: Sequence[Any], params: Sequence[Any], failed: Failed) -> None:
        """Run it on the arrays it is given, with a value for each parameter."""
        report = (ctypes.c_int64 * REPORT_WORDS)() if self.module.checks else None
        printer = _Printer(self.module.prints) if self.module.prints else None
        words = [self._word(word, arrays, params, report, printer) for word in self.module.words]
        code().run(self.address, 1, *words)
        if printer is not None and printer.error is not None:
            raise printer.error
        if report is not None and report[0]:
            check = self.module.checks[report[0] - 1]
            values = tuple(report[1 : 1 + len(check.values)])
            first = 1 + len(values)
            raise failed(check, values, tuple(report[first : first + len(check.loops)]))

    def _word(
        self,
        word: LoopWord,
        arrays: Sequence[Any],
        params: Sequence[Any],
        report: Any,
        printer: _Printer | None,
    ) -> int:
        if word.what == "param":
            return self.encoders[word.number](params[word.number])
        if word.what == "pointer":
            place = self.places[word.number]
            address: int = arrays[place].__array_interface__["data"][0]
            return address
        if word.what == "report":
            return ctypes.addressof(report)
        assert printer is not None
        return ctypes.cast(printer.callback, ctypes.c_void_p).value or 0


class _Printer:
    """What compiled code calls to print a line; an error is kept until the kernel has ended."""

    def __init__(self, prints: Sequence[Print]) -> None:
        self.prints = prints
        self.error: BaseException | None = None
        self.callback = _SHOW(self._show)

    def _show(self, site: int, address: int) -> None:
        if self.error is not None:
            return
        try:
            place = address
            parts: list[str] = []
            for piece in self.prints[site].pieces:
                if isinstance(piece, Shown):
                    parts.append(shown(piece, _number(place, piece.value.dtype)))
                    place += 8
                else:
                    parts.append(piece)
            sys.stdout.write("".join(parts))
        except BaseException as error:  # noqa: BLE001 - raised when the kernel has ended
            self.error = error


def _number(address: int, dtype: DType) -> Any:
    data = ctypes.string_at(address, dtype.itemsize)
    return np.frombuffer(data, dtype.numpy)[0]


def encoder(dtype: DType) -> Callable[[Any], int]:
    """How a number becomes an argument word."""
    if dtype.name == "int64":
        return int
    kind = dtype.numpy.type
    size = 8 - dtype.itemsize

    def encode(value: Any) -> int:
        return int.from_bytes(kind(value).tobytes() + bytes(size), "little", signed=True)

    return encode


def obtain(kernel: Kernel, options: Options) -> CompiledLoops:
    """The code of a kernel: from memory, from the disk, or made now."""
    start = perf_counter()
    features = select(options.features)
    module = lower(kernel, features.vector_bytes)
    image, origin = _image(module.text, features)
    return CompiledLoops(kernel, module, load(image), features, origin, perf_counter() - start)


@lru_cache(maxsize=256)
def _image(text: str, features: FeatureSet) -> tuple[Image, Literal["compiled", "disk"]]:
    key = disk_key(("loops", text, features))
    stored = disk.get(key)
    if stored is not None:
        try:
            return Image.from_bytes(stored), "disk"
        except ValueError:
            pass  # Damaged: made again below.
    image = compiler.compile_ir(text, features, LEVEL, scalars=True)
    disk.put(key, image.to_bytes())
    return image, "compiled"
