"""How one primitive op reads in LLVM IR: the only place that knows LLVM's words for arithmetic.

Values are `<W x T>`, or plain `T` at width 1; a bool is `i1`.  No fast-math flag is ever set and no
`fmuladd` used, so every op rounds as IEEE 754 says and the bits depend on neither the width nor the
target's features.  LLVM declares the intrinsics it knows by itself; `codegen.prelude` defines the
functions of ours that a text calls.

Half precision is only loaded, stored and converted, which takes the F16C instructions (every AVX2
machine has them): give LLVM the `+f16c` feature, or it will call a library.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from fusewright.codegen.far import call_far
from fusewright.ir.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT64, DType
from fusewright.ir.expr import Expr

Fresh = Callable[[], str]

_INTEGER = {
    "add": "add", "subtract": "sub", "multiply": "mul", "shl": "shl",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
}  # fmt: skip
_SIGNED = {**_INTEGER, "tdiv": "sdiv", "trem": "srem", "shr": "ashr"}
_UNSIGNED = {**_INTEGER, "tdiv": "udiv", "trem": "urem", "shr": "lshr"}
_FLOAT = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
_BINARY = {"f": _FLOAT, "i": _SIGNED, "u": _UNSIGNED, "b": _UNSIGNED}

_COMPARISONS = ("equal", "not_equal", "less", "less_equal")
_PREDICATE = {
    "f": dict(zip(_COMPARISONS, ("fcmp oeq", "fcmp une", "fcmp olt", "fcmp ole"), strict=True)),
    "i": dict(zip(_COMPARISONS, ("icmp eq", "icmp ne", "icmp slt", "icmp sle"), strict=True)),
    "u": dict(zip(_COMPARISONS, ("icmp eq", "icmp ne", "icmp ult", "icmp ule"), strict=True)),
}
_PREDICATE["b"] = _PREDICATE["u"]

_INTRINSIC = {
    "fma": "fma", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "rint": "roundeven", "copysign": "copysign", "popcount": "ctpop", "absolute": "fabs",
}  # fmt: skip


def llvm_type(dtype: DType, width: int) -> str:
    """The register type of `width` lanes.

    >>> llvm_type(FLOAT64, 8), llvm_type(BOOL, 1)
    ('<8 x double>', 'i1')
    """
    return dtype.llvm if width == 1 else f"<{width} x {dtype.llvm}>"


def literal(value: Any, dtype: DType, width: int) -> str:
    """A constant operand, bit for bit (LLVM writes a `float` as the hexadecimal digits of the equal
    `double`).

    >>> literal(1.0, FLOAT32, 8), literal(3, INT64, 1)
    ('splat (float 0x3FF0000000000000)', '3')
    """
    if dtype is BOOL:
        text = "true" if value else "false"
    elif dtype is FLOAT16:
        text = f"0xH{struct.unpack('<H', dtype.numpy.type(value).tobytes())[0]:04X}"
    elif dtype.is_float:
        wide = float(dtype.numpy.type(value))
        text = f"0x{struct.unpack('<Q', struct.pack('<d', wide))[0]:016X}"
    else:
        text = str(int(value))
    return text if width == 1 else f"splat ({dtype.llvm} {text})"


class _Text:
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
        letter = f"f{dtype.bits}" if dtype.is_float else dtype.llvm
        suffix = letter if self.width == 1 else f"v{self.width}{letter}"
        inner = ", ".join(op if op.startswith("i1 ") else f"{kind} {op}" for op in operands)
        return self.line(f"call {kind} @llvm.{name}.{suffix}({inner})")

    def convert(self, word: str, value: str, source: DType, target: DType) -> str:
        return self.line(f"{word} {self.type(source)} {value} to {self.type(target)}")

    def select(self, condition: str, yes: str, no: str, dtype: DType) -> str:
        kind = self.type(dtype)
        return self.line(f"select {self.type(BOOL)} {condition}, {kind} {yes}, {kind} {no}")


def spell(
    node: Expr,
    operands: Sequence[str],
    width: int,
    out: list[str],
    fresh: Fresh,
    avx512: bool = False,
) -> str:
    """Append the instructions of one primitive to `out`; the name of its result.

    `operands` are register names (`%7`) or literals of `node.args`; `fresh` makes unused register
    names, `%` included.

    `avx512` allows instructions that only AVX-512 has (the target's features must then include
    avx512f); same bits.

    The `*_far` ops open basic blocks: after any call the current block is `current_block(out)`
    where that is not None.
    """
    text = _Text(width, out, fresh, avx512)
    name, dtype = node.name, node.dtype
    source = node.args[0].dtype
    if name in _PREDICATE["f"]:
        predicate = _PREDICATE[source.kind][name]
        return text.line(f"{predicate} {text.type(source)} {operands[0]}, {operands[1]}")
    if name in _SPECIAL:
        return _SPECIAL[name](text, node, operands)
    if name in _BINARY[dtype.kind]:
        word = _BINARY[dtype.kind][name]
        return text.line(f"{word} {text.type(dtype)} {operands[0]}, {operands[1]}")
    return text.intrinsic(_INTRINSIC[name], dtype, *operands)


def current_block(out: Sequence[str]) -> str | None:
    """The label of the last basic block opened in these lines, or None where there is none."""
    for line in reversed(out):
        if line.endswith(":"):
            return line[:-1]
    return None


def _where(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    return text.select(operands[0], operands[1], operands[2], node.dtype)


def _negative(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    kind = text.type(node.dtype)
    if node.dtype.is_float:
        return text.line(f"fneg {kind} {operands[0]}")
    return text.line(f"sub {kind} {text.literal(0, node.dtype)}, {operands[0]}")


def _absolute(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    if node.dtype.is_float:
        return text.intrinsic("fabs", node.dtype, operands[0])
    if node.dtype.kind == "i":
        return text.intrinsic("abs", node.dtype, operands[0], "i1 false")
    return operands[0]


def _invert(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    ones = text.literal(True if node.dtype is BOOL else -1, node.dtype)
    return text.line(f"xor {text.type(node.dtype)} {operands[0]}, {ones}")


def _bitcast(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    source = node.args[0].dtype
    if source.llvm == node.dtype.llvm:
        return operands[0]
    return text.convert("bitcast", operands[0], source, node.dtype)


def _ldexp(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    native = 64 // node.dtype.itemsize
    if text.avx512 and text.width % native == 0:
        return _scalef(text, node.dtype, operands, native)
    return _two_steps(text, node.dtype, operands)


def _two_steps(text: _Text, dtype: DType, operands: Sequence[str]) -> str:
    """x * 2**h * 2**(n - h), h about n / 2: the first product is exact.  Powers are built from
    their exponent bits.
    """
    mantissa, bias = (52, 1023) if dtype is FLOAT64 else (23, 127)
    word = UINT64 if dtype is FLOAT64 else INT32
    kind, bits = text.type(dtype), text.type(word)
    magic = text.literal(1.5 * 2.0**mantissa + 2 * bias, dtype)
    low = text.convert("bitcast", text.line(f"fadd {kind} {operands[1]}, {magic}"), dtype, word)
    half = text.line(f"lshr {bits} {low}, {text.literal(1, word)}")
    rest = text.line(f"sub {bits} {low}, {half}")
    value = operands[0]
    for part in (half, rest):
        raised = text.line(f"shl {bits} {part}, {text.literal(mantissa, word)}")
        value = text.line(f"fmul {kind} {value}, {text.convert('bitcast', raised, word, dtype)}")
    return value


def _scalef(text: _Text, dtype: DType, operands: Sequence[str], native: int) -> str:
    """AVX-512's vscalef, one machine vector at a time; 4 means the current rounding mode."""
    letter = "d" if dtype is FLOAT64 else "s"
    part, whole = f"<{native} x {dtype.llvm}>", text.type(dtype)
    results = []
    for start in range(0, text.width, native):
        lanes = ", ".join(f"i32 {lane}" for lane in range(start, start + native))
        pick = f"{{}} {{}}, {{}} poison, <{native} x i32> <{lanes}>"
        pieces = [
            text.line("shufflevector " + pick.format(whole, operand, whole)) for operand in operands
        ]
        results.append(
            text.line(
                f"call {part} @llvm.x86.avx512.mask.scalef.p{letter}.512({part} {pieces[0]}, "
                f"{part} {pieces[1]}, {part} zeroinitializer, i{native} -1, i32 4)"
            )
        )
    return _joined(text, dtype, results, native)


def _joined(text: _Text, dtype: DType, parts: list[str], width: int) -> str:
    """Vectors of equal width (a power of two of them) end to end."""
    while len(parts) > 1:
        kind = llvm_type(dtype, width)
        lanes = ", ".join(f"i32 {lane}" for lane in range(2 * width))
        parts = [
            text.line(f"shufflevector {kind} {a}, {kind} {b}, <{2 * width} x i32> <{lanes}>")
            for a, b in zip(parts[0::2], parts[1::2], strict=True)
        ]
        width *= 2
    return parts[0]


def _far(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    return call_far(node.name, node.dtype, operands, text.width, text.out, text.fresh)


def _cast(text: _Text, node: Expr, operands: Sequence[str]) -> str:
    return _convert(text, operands[0], node.args[0].dtype, node.dtype)


def _convert(text: _Text, value: str, source: DType, target: DType) -> str:
    if source is target:
        return value
    if source is FLOAT16 and target is not FLOAT32:
        return _convert(text, _convert(text, value, FLOAT16, FLOAT32), FLOAT32, target)
    if target is BOOL:
        word = "fcmp une" if source.is_float else "icmp ne"
        return text.line(f"{word} {text.type(source)} {value}, {text.literal(0, source)}")
    if source.is_float:
        return _from_float(text, value, source, target)
    if target is FLOAT16:  # as NumPy does: through float32
        return _convert(text, _convert(text, value, source, FLOAT32), FLOAT32, target)
    if target.is_float:
        return text.convert("sitofp" if source.kind == "i" else "uitofp", value, source, target)
    return _between_integers(text, value, source, target)


def _between_integers(text: _Text, value: str, source: DType, target: DType) -> str:
    if source is not BOOL and source.itemsize == target.itemsize:
        return value
    if source is not BOOL and source.itemsize > target.itemsize:
        return text.convert("trunc", value, source, target)
    return text.convert("sext" if source.kind == "i" else "zext", value, source, target)


def _from_float(text: _Text, value: str, source: DType, target: DType) -> str:
    if target is FLOAT16 and source is FLOAT64:
        return text.convert("fptrunc", _to_odd(text, value), FLOAT32, FLOAT16)
    if target.is_float:
        word = "fpext" if target.itemsize > source.itemsize else "fptrunc"
        return text.convert(word, value, source, target)
    if target is UINT64:
        return _to_uint64(text, value, source)
    # Narrow integers are the low bits of a wider conversion: NumPy's own loops do the same.
    wide = INT64 if target.itemsize == 8 or target.name == "uint32" else INT32
    return _between_integers(text, _to_signed(text, value, source, wide), wide, target)


def _to_signed(text: _Text, value: str, source: DType, target: DType) -> str:
    """The least integer where the value does not fit (`fptosi` alone would be poison there)."""
    kind = text.type(source)
    size = text.intrinsic("fabs", source, value)
    limit = text.literal(2.0 ** (target.bits - 1), source)
    fits = text.line(f"fcmp olt {kind} {size}, {limit}")
    safe = text.select(fits, value, text.literal(0.0, source), source)
    whole = text.convert("fptosi", safe, source, target)
    return text.select(fits, whole, text.literal(-(1 << (target.bits - 1)), target), target)


def _to_uint64(text: _Text, value: str, source: DType) -> str:
    """What compilers make of it for x86: the upper half is converted as `value - 2**63`, sign bit
    flipped.
    """
    kind, half = text.type(source), text.literal(2.0**63, source)
    upper = text.line(f"fcmp oge {kind} {value}, {half}")
    lowered = text.line(f"fsub {kind} {value}, {half}")
    whole = _to_signed(text, text.select(upper, lowered, value, source), source, INT64)
    sign = text.literal(-(1 << 63), INT64)
    flip = text.select(upper, sign, text.literal(0, INT64), INT64)
    return text.line(f"xor {text.type(INT64)} {whole}, {flip}")


def _to_odd(text: _Text, value: str) -> str:
    """float64 to float32 rounded to odd, so that rounding on to float16 rounds once.

    An inexact result with an even last bit moves to its odd neighbour on the other side of the
    value.
    """
    wide, bits = text.type(FLOAT64), text.type(INT32)
    nearest = text.convert("fptrunc", value, FLOAT64, FLOAT32)
    back = text.convert("fpext", nearest, FLOAT32, FLOAT64)
    inexact = text.line(f"fcmp one {wide} {back}, {value}")
    raw = text.convert("bitcast", nearest, FLOAT32, INT32)
    last = text.line(f"and {bits} {raw}, {text.literal(1, INT32)}")
    even = text.line(f"icmp eq {bits} {last}, {text.literal(0, INT32)}")
    move = text.line(f"and {text.type(BOOL)} {inexact}, {even}")
    size, back_size = (text.intrinsic("fabs", FLOAT64, x) for x in (value, back))
    outward = text.line(f"fcmp ogt {wide} {size}, {back_size}")
    step = text.select(outward, text.literal(1, INT32), text.literal(-1, INT32), INT32)
    zero = text.literal(0, INT32)
    moved = text.line(f"add {bits} {raw}, {text.select(move, step, zero, INT32)}")
    return text.convert("bitcast", moved, INT32, FLOAT32)


_SPECIAL: dict[str, Callable[[_Text, Expr, Sequence[str]], str]] = {
    "where": _where,
    "ldexp": _ldexp,
    "negative": _negative,
    "absolute": _absolute,
    "invert": _invert,
    "cast": _cast,
    "bitcast": _bitcast,
    "sin_far": _far,
    "cos_far": _far,
    "tan_far": _far,
    "fmod_far": _far,
}
