"""How one primitive op reads in LLVM IR: the only place that knows LLVM's words for arithmetic.

Values are `<W x T>`, or plain `T` at width 1; a bool is `i1`.  No fast-math flag is ever set and no
`fmuladd` used, so every op rounds as IEEE 754 says and the bits depend on neither the width nor the
target's features.  LLVM declares the intrinsics it knows by itself; `codegen.prelude` defines the
functions of ours that a text calls.

Half precision is only loaded, stored and converted, which takes the F16C instructions (every AVX2
machine has them): give LLVM the `+f16c` feature, or it will call a library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusewright.codegen import rare, scaling
from fusewright.codegen.far import call_far
from fusewright.codegen.text import Fresh, Text
from fusewright.codegen.text import literal as literal
from fusewright.codegen.text import llvm_type as llvm_type
from fusewright.ir.dtypes import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT16,
    UINT64,
    DType,
)
from fusewright.ir.expr import Expr

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
    text = Text(width, out, fresh, avx512)
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


def _where(text: Text, node: Expr, operands: Sequence[str]) -> str:
    return text.select(operands[0], operands[1], operands[2], node.dtype)


def _negative(text: Text, node: Expr, operands: Sequence[str]) -> str:
    kind = text.type(node.dtype)
    if node.dtype.is_float:
        return text.line(f"fneg {kind} {operands[0]}")
    return text.line(f"sub {kind} {text.literal(0, node.dtype)}, {operands[0]}")


def _absolute(text: Text, node: Expr, operands: Sequence[str]) -> str:
    if node.dtype.is_float:
        return text.intrinsic("fabs", node.dtype, operands[0])
    if node.dtype.kind == "i":
        return text.intrinsic("abs", node.dtype, operands[0], "i1 false")
    return operands[0]


def _invert(text: Text, node: Expr, operands: Sequence[str]) -> str:
    ones = text.literal(True if node.dtype is BOOL else -1, node.dtype)
    return text.line(f"xor {text.type(node.dtype)} {operands[0]}, {ones}")


def _bitcast(text: Text, node: Expr, operands: Sequence[str]) -> str:
    source = node.args[0].dtype
    if source.llvm == node.dtype.llvm:
        return operands[0]
    return text.convert("bitcast", operands[0], source, node.dtype)


def _far(text: Text, node: Expr, operands: Sequence[str]) -> str:
    return call_far(node.name, node.dtype, operands, text.width, text.out, text.fresh)


def _cast(text: Text, node: Expr, operands: Sequence[str]) -> str:
    return _convert(text, operands[0], node.args[0].dtype, node.dtype)


def _convert(text: Text, value: str, source: DType, target: DType) -> str:
    if source is target:
        return value
    if source.is_stored_only and target is not FLOAT32:
        return _convert(text, _convert(text, value, source, FLOAT32), FLOAT32, target)
    if source is BFLOAT16:
        return _widened(text, value)
    if target is BOOL:
        word = "fcmp une" if source.is_float else "icmp ne"
        return text.line(f"{word} {text.type(source)} {value}, {text.literal(0, source)}")
    if source.is_float and (target is not BFLOAT16 or source is FLOAT32):
        return _from_float(text, value, source, target)
    if target.is_stored_only:  # as NumPy does: through float32
        return _convert(text, _convert(text, value, source, FLOAT32), FLOAT32, target)
    if target.is_float:
        return text.convert("sitofp" if source.kind == "i" else "uitofp", value, source, target)
    return _between_integers(text, value, source, target)


def _between_integers(text: Text, value: str, source: DType, target: DType) -> str:
    if source is not BOOL and source.itemsize == target.itemsize:
        return value
    if source is not BOOL and source.itemsize > target.itemsize:
        return text.convert("trunc", value, source, target)
    return text.convert("sext" if source.kind == "i" else "zext", value, source, target)


def _from_float(text: Text, value: str, source: DType, target: DType) -> str:
    if target is BFLOAT16:
        return _narrowed(text, value)
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


def _widened(text: Text, value: str) -> str:
    """bfloat16 to float32: the upper half of its bits."""
    bits = text.convert("zext", value, UINT16, INT32)
    bits = text.line(f"shl {text.type(INT32)} {bits}, {text.literal(16, INT32)}")
    return text.convert("bitcast", bits, INT32, FLOAT32)


def _narrowed(text: Text, value: str) -> str:
    """float32 to bfloat16: to nearest, ties to even; a NaN stays one.

    The processor's own instruction would make denormal numbers zero.
    """
    kind = text.type(INT32)
    bits = text.convert("bitcast", value, FLOAT32, INT32)
    upper = text.line(f"lshr {kind} {bits}, {text.literal(16, INT32)}")
    last = text.line(f"and {kind} {upper}, {text.literal(1, INT32)}")
    moved = text.line(f"add {kind} {bits}, {text.literal(0x7FFF, INT32)}")
    moved = text.line(f"add {kind} {moved}, {last}")
    nearest = text.line(f"lshr {kind} {moved}, {text.literal(16, INT32)}")
    quiet = text.line(f"or {kind} {upper}, {text.literal(0x40, INT32)}")
    missing = text.line(f"fcmp uno {text.type(FLOAT32)} {value}, {value}")
    return text.convert("trunc", text.select(missing, quiet, nearest, INT32), INT32, UINT16)


def _to_signed(text: Text, value: str, source: DType, target: DType) -> str:
    """The least integer where the value does not fit (`fptosi` alone would be poison there)."""
    kind = text.type(source)
    size = text.intrinsic("fabs", source, value)
    limit = text.literal(2.0 ** (target.bits - 1), source)
    fits = text.line(f"fcmp olt {kind} {size}, {limit}")
    safe = text.select(fits, value, text.literal(0.0, source), source)
    whole = text.convert("fptosi", safe, source, target)
    return text.select(fits, whole, text.literal(-(1 << (target.bits - 1)), target), target)


def _to_uint64(text: Text, value: str, source: DType) -> str:
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


def _to_odd(text: Text, value: str) -> str:
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


_SPECIAL: dict[str, Callable[[Text, Expr, Sequence[str]], str]] = {
    "where": _where,
    "ldexp": scaling.ldexp,
    "exponent": scaling.exponent,
    "fraction": scaling.fraction,
    "negative": _negative,
    "absolute": _absolute,
    "invert": _invert,
    "cast": _cast,
    "bitcast": _bitcast,
    "sin_far": _far,
    "cos_far": _far,
    "tan_far": _far,
    "fmod_far": _far,
    **dict.fromkeys(rare.NAMES, rare.call_rare),
}
