"""Joining what lanes and threads have collected apart, where the order cannot be seen.

A variable collected in a vector loop, or in a task, starts from its operation's identity.
"""

from __future__ import annotations

from fusewright.codegen.builder import Builder
from fusewright.codegen.spell import literal, llvm_type
from fusewright.ir.dtypes import BOOL, FLOAT32, FLOAT64, DType
from fusewright.ir.identity import of_update

_WORDS = {
    "add": "add", "multiply": "mul",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
    "minimum": "min", "imin": "min", "maximum": "max", "imax": "max",
    "fmin": "min", "fmax": "max",
}  # fmt: skip
_FLOATS = {
    "add": "fadd", "multiply": "fmul",
    "minimum": "fminimum", "maximum": "fmaximum", "fmin": "fmin", "fmax": "fmax",
}  # fmt: skip
_JOINED = {"fminimum": "minimum", "fmaximum": "maximum", "fmin": "minnum", "fmax": "maxnum"}
_SUFFIX = {FLOAT32: "f32", FLOAT64: "f64"}


def _word(kind: str, dtype: DType) -> str:
    """The operation's name in intrinsics: extremes depend on the sign."""
    word = _WORDS[kind]
    if dtype.is_float:
        return _FLOATS[kind]
    return {"i": "s", "u": "u"}[dtype.kind] + word if word in ("min", "max") else word


def across_lanes(builder: Builder, kind: str, dtype: DType, lanes: str, width: int) -> str:
    """All lanes of a register as one."""
    vector, scalar = llvm_type(dtype, width), llvm_type(dtype, 1)
    if dtype.is_float:
        word = _word(kind, dtype)
        name = f"@llvm.vector.reduce.{word}.v{width}{_SUFFIX[dtype]}"
        if word in _JOINED:
            return builder.value(f"call {scalar} {name}({vector} {lanes})")
        start = literal(of_update(kind, dtype), dtype, 1)
        return builder.value(f"call reassoc {scalar} {name}({scalar} {start}, {vector} {lanes})")
    name = f"@llvm.vector.reduce.{_word(kind, dtype)}.v{width}{scalar}"
    return builder.value(f"call {scalar} {name}({vector} {lanes})")


def joined(builder: Builder, kind: str, dtype: DType, a: str, b: str) -> str:
    """Two registers as one."""
    word, scalar = _word(kind, dtype), llvm_type(dtype, 1)
    if word in _JOINED:
        name = f"@llvm.{_JOINED[word]}.{_SUFFIX[dtype]}"
        return builder.value(f"call {scalar} {name}({scalar} {a}, {scalar} {b})")
    if _WORDS[kind] in ("min", "max"):
        return builder.value(f"call {scalar} @llvm.{word}.{scalar}({scalar} {a}, {scalar} {b})")
    return builder.value(f"{word} {scalar} {a}, {b}")


def join_in_memory(builder: Builder, kind: str, dtype: DType, place: str, value: str) -> None:
    """Update a cell that other threads update, too (one of bools is a byte)."""
    word = _word(kind, dtype)
    if word in _JOINED:
        _join_extreme(builder, kind, dtype, place, value)
        return
    word = {"smin": "min", "smax": "max"}.get(word, word)
    scalar = llvm_type(dtype, 1)
    if dtype is BOOL:
        value, scalar = builder.value(f"zext i1 {value} to i8"), "i8"
    builder.line(f"{builder.fresh()} = atomicrmw {word} ptr {place}, {scalar} {value} monotonic")


def _join_extreme(builder: Builder, kind: str, dtype: DType, place: str, value: str) -> None:
    """The same for the greatest or least float: no processor has that as one step."""
    bits, scalar = f"i{dtype.bits}", llvm_type(dtype, 1)
    slot, label = builder.slot(bits), builder.label()
    first = builder.value(f"load atomic {bits}, ptr {place} monotonic, align {dtype.itemsize}")
    builder.line(f"store {bits} {first}, ptr {slot}")
    builder.line(f"br label %{label}.try")
    builder.line(f"{label}.try:")
    seen = builder.value(f"load {bits}, ptr {slot}")
    before = builder.value(f"bitcast {bits} {seen} to {scalar}")
    both = joined(builder, kind, dtype, before, value)
    after = builder.value(f"bitcast {scalar} {both} to {bits}")
    found = builder.value(f"cmpxchg ptr {place}, {bits} {seen}, {bits} {after} monotonic monotonic")
    now = builder.value(f"extractvalue {{ {bits}, i1 }} {found}, 0")
    builder.line(f"store {bits} {now}, ptr {slot}")
    done = builder.value(f"extractvalue {{ {bits}, i1 }} {found}, 1")
    builder.line(f"br i1 {done}, label %{label}.end, label %{label}.try")
    builder.line(f"{label}.end:")
