"""Lines of LLVM IR at one vector width: types, literals, and the commonest instructions."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from fusewright.ir import bfloat16
from fusewright.ir.dtypes import BFLOAT16, BOOL, FLOAT16, DType

Fresh = Callable[[], str]


def llvm_type(dtype: DType, width: int) -> str:
    """The register type of `width` lanes.

    >>> from fusewright.ir.dtypes import FLOAT64
    >>> llvm_type(FLOAT64, 8), llvm_type(BOOL, 1)
    ('<8 x double>', 'i1')
    """
    return dtype.llvm if width == 1 else f"<{width} x {dtype.llvm}>"


def literal(value: Any, dtype: DType, width: int) -> str:
    """A constant operand, bit for bit (LLVM writes a `float` as the hexadecimal digits of the equal
    `double`).

    >>> from fusewright.ir.dtypes import FLOAT32, INT64
    >>> literal(1.0, FLOAT32, 8), literal(3, INT64, 1)
    ('splat (float 0x3FF0000000000000)', '3')
    """
    if dtype is BOOL:
        text = "true" if value else "false"
    elif dtype is FLOAT16:
        text = f"0xH{struct.unpack('<H', dtype.numpy.type(value).tobytes())[0]:04X}"
    elif dtype is BFLOAT16:
        text = str(bfloat16.bits_of(value))
    elif dtype.is_float:
        wide = float(dtype.numpy.type(value))
        text = f"0x{struct.unpack('<Q', struct.pack('<d', wide))[0]:016X}"
    else:
        text = str(int(value))
    return text if width == 1 else f"splat ({dtype.llvm} {text})"


def suffix_of(dtype: DType) -> str:
    """How the names of LLVM's intrinsics end for one element."""
    return f"f{dtype.bits}" if dtype.is_float and dtype is not BFLOAT16 else f"i{dtype.bits}"


class Text:
    """The lines being written, at one width."""

    __slots__ = ("width", "out", "fresh", "avx512")

    def __init__(self, width: int, out: list[str], fresh: Fresh, avx512: bool) -> None:
        self.avx512 = avx512
        self.width = width
        self.out = out
        self.fresh = fresh

    def line(self, text: str) -> str:
        name = self.fresh()
        self.out.append(f"{name} = {text}")
        return name

    def type(self, dtype: DType) -> str:
        return llvm_type(dtype, self.width)

    def literal(self, value: Any, dtype: DType) -> str:
        return literal(value, dtype, self.width)

    def intrinsic(self, name: str, dtype: DType, *operands: str) -> str:
        kind = self.type(dtype)
        letter = suffix_of(dtype)
        suffix = letter if self.width == 1 else f"v{self.width}{letter}"
        inner = ", ".join(op if op.startswith("i1 ") else f"{kind} {op}" for op in operands)
        return self.line(f"call {kind} @llvm.{name}.{suffix}({inner})")

    def convert(self, word: str, value: str, source: DType, target: DType) -> str:
        return self.line(f"{word} {self.type(source)} {value} to {self.type(target)}")

    def select(self, condition: str, yes: str, no: str, dtype: DType) -> str:
        kind = self.type(dtype)
        return self.line(f"select {self.type(BOOL)} {condition}, {kind} {yes}, {kind} {no}")
