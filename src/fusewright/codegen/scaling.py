"""Exponents in LLVM IR: x * 2**n, and taking x = m * 2**k apart.

AVX-512 has an instruction for each; elsewhere the bits are worked on as integers.  The values are
the same either way.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.codegen.text import Text, llvm_type
from fusewright.ir.dtypes import FLOAT64, UINT32, UINT64, DType
from fusewright.ir.expr import Expr

_MANTISSA = {64: 52, 32: 23}
_BIAS = {64: 1023, 32: 127}
_WORD = {64: UINT64, 32: UINT32}


def ldexp(text: Text, node: Expr, operands: Sequence[str]) -> str:
    """The first operand times two to the second, rounded once."""
    if _native(text, node.dtype):
        return _machine(text, node.dtype, operands, "scalef", "{0}, {1}, {zero}, {ones}, i32 4")
    return _two_steps(text, node.dtype, operands)


def exponent(text: Text, node: Expr, operands: Sequence[str]) -> str:
    """k of x = m 2**k, m in [3/4, 3/2), as a float."""
    dtype = node.dtype
    if _native(text, dtype):  # getexp counts from [1, 2): that of the fraction is 0 or -1
        raw = _machine(text, dtype, operands, "getexp", "{0}, {zero}, {ones}, i32 4")
        part = [fraction(text, node, operands)]
        own = _machine(text, dtype, part, "getexp", "{0}, {zero}, {ones}, i32 4")
        return text.line(f"fsub {text.type(dtype)} {raw}, {own}")
    mantissa, bias = _MANTISSA[dtype.bits], _BIAS[dtype.bits]
    tiny, moved = _moved(text, dtype, operands[0])
    word = _WORD[dtype.bits]
    bits = text.type(word)
    biased = text.line(f"lshr {bits} {moved}, {text.literal(mantissa, word)}")
    # An integer below 2**mantissa, put into the low bits of that number, is added to it.
    one = 2.0**mantissa
    raised = text.line(f"or {bits} {biased}, {_bits_of(text, one, dtype)}")
    value = text.convert("bitcast", raised, word, dtype)
    plain, more = (text.literal(one + bias + extra, dtype) for extra in (0, mantissa + 2))
    offset = text.select(tiny, more, plain, dtype)
    return text.line(f"fsub {text.type(dtype)} {value}, {offset}")


def fraction(text: Text, node: Expr, operands: Sequence[str]) -> str:
    """m of x = m 2**k, m in [3/4, 3/2)."""
    dtype = node.dtype
    if _native(text, dtype):  # 3 asks for that interval
        return _machine(text, dtype, operands, "getmant", "{0}, i32 3, {zero}, {ones}, i32 4")
    _, moved = _moved(text, dtype, operands[0])
    word = _WORD[dtype.bits]
    bits = text.type(word)
    mask = text.literal((1 << _MANTISSA[dtype.bits]) - 1, word)
    low = text.line(f"and {bits} {moved}, {mask}")
    value = text.line(f"add {bits} {low}, {_bits_of(text, 0.75, dtype)}")
    return text.convert("bitcast", value, word, dtype)


def _bits_of(text: Text, value: float, dtype: DType) -> str:
    word = _WORD[dtype.bits]
    return text.literal(dtype.numpy.type(value).view(word.numpy), word)


def _moved(text: Text, dtype: DType, x: str) -> tuple[str, str]:
    """Whether x is subnormal; the bits of x, scaled up where it is, moved so that 3/4 has 1's."""
    kind, word = text.type(dtype), _WORD[dtype.bits]
    mantissa, bias = _MANTISSA[dtype.bits], _BIAS[dtype.bits]
    least = text.literal(2.0 ** (1 - bias), dtype)
    tiny = text.line(f"fcmp olt {kind} {x}, {least}")
    raised = text.line(f"fmul {kind} {x}, {text.literal(2.0 ** (mantissa + 2), dtype)}")
    scaled = text.convert("bitcast", text.select(tiny, raised, x, dtype), dtype, word)
    shift = int(dtype.numpy.type(1.0).view(word.numpy)) - int(
        dtype.numpy.type(0.75).view(word.numpy)
    )
    return tiny, text.line(f"add {text.type(word)} {scaled}, {text.literal(shift, word)}")


def _two_steps(text: Text, dtype: DType, operands: Sequence[str]) -> str:
    """x * 2**h * 2**(n - h), h about n / 2: the first product is exact."""
    mantissa, bias = _MANTISSA[dtype.bits], _BIAS[dtype.bits]
    word = _WORD[dtype.bits]
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


def _native(text: Text, dtype: DType) -> bool:
    return text.avx512 and text.width % (64 // dtype.itemsize) == 0


def _machine(text: Text, dtype: DType, operands: Sequence[str], name: str, pattern: str) -> str:
    """One AVX-512 instruction for each machine vector (`i32 4`: the current rounding mode)."""
    native = 64 // dtype.itemsize
    letter = "d" if dtype is FLOAT64 else "s"
    part, whole = llvm_type(dtype, native), text.type(dtype)
    results = []
    for start in range(0, text.width, native):
        pieces = list(operands)
        if text.width > native:
            lanes = ", ".join(f"i32 {lane}" for lane in range(start, start + native))
            pick = f"{whole} poison, <{native} x i32> <{lanes}>"
            pieces = [text.line(f"shufflevector {whole} {x}, {pick}") for x in operands]
        typed = [f"{part} {piece}" for piece in pieces]
        inner = pattern.format(*typed, zero=f"{part} zeroinitializer", ones=f"i{native} -1")
        function = f"@llvm.x86.avx512.mask.{name}.p{letter}.512"
        results.append(text.line(f"call {part} {function}({inner})"))
    return _joined(text, dtype, results, native)


def _joined(text: Text, dtype: DType, parts: list[str], width: int) -> str:
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
