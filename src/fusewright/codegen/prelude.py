"""The functions of ours that spelled code calls: trigonometry of large arguments, remainders of
large quotients.

One cold scalar function per op does Payne and Hanek's reduction in integers (the steps of
`reduce_exactly`, bit for bit) and then the polynomials of `far_kernel`; one per vector width
applies it to the lanes that need it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from fusewright.codegen.far import far_function, far_test
from fusewright.codegen.rare import define_rare
from fusewright.codegen.spell import literal, spell
from fusewright.ir.dtypes import BY_NAME, FLOAT64, DType
from fusewright.ir.expr import postorder
from fusewright.rules.decompose.trigonometric import (
    TABLE_WORDS,
    far_kernel,
    two_over_pi,
)

_CALL = re.compile(r"@fw\.(\w+_far)\.(\w+)\.v(\d+)\(")

_RARE = re.compile(r"@fw\.(\w+_far)\.v(\d+)\(")

_REDUCTION = """\
  %size = call double @llvm.fabs.f64(double %x)
  %finite = fcmp one double %size, 0x7FF0000000000000
  %bits = bitcast double %size to i64
  %fraction = and i64 %bits, 4503599627370495
  %m = or i64 %fraction, 4503599627370496
  %exponent = lshr i64 %bits, 52
  %position = sub i64 %exponent, 1013
  %word = lshr i64 %position, 6
  %shift = and i64 %position, 63
  %at0 = getelementptr inbounds i64, ptr @fw.two_over_pi, i64 %word
  %at1 = getelementptr inbounds i64, ptr %at0, i64 1
  %at2 = getelementptr inbounds i64, ptr %at0, i64 2
  %at3 = getelementptr inbounds i64, ptr %at0, i64 3
  %t0 = load i64, ptr %at0
  %t1 = load i64, ptr %at1
  %t2 = load i64, ptr %at2
  %t3 = load i64, ptr %at3
  %a0 = call i64 @llvm.fshl.i64(i64 %t0, i64 %t1, i64 %shift)
  %a1 = call i64 @llvm.fshl.i64(i64 %t1, i64 %t2, i64 %shift)
  %a2 = call i64 @llvm.fshl.i64(i64 %t2, i64 %t3, i64 %shift)
  %wide = zext i64 %m to i128
  %w1 = zext i64 %a1 to i128
  %w2 = zext i64 %a2 to i128
  %p2 = mul i128 %wide, %w2
  %p1 = mul i128 %wide, %w1
  %p0 = mul i64 %m, %a0
  %carry2 = lshr i128 %p2, 64
  %middle = add i128 %p1, %carry2
  %carry1 = lshr i128 %middle, 64
  %carry = trunc i128 %carry1 to i64
  %top = add i64 %p0, %carry
  %top.wide = zext i64 %top to i128
  %top.high = shl i128 %top.wide, 64
  %below.64 = trunc i128 %middle to i64
  %below = zext i64 %below.64 to i128
  %turns = or i128 %top.high, %below
  %raised = shl i128 %turns, 2
  %part = ashr i128 %raised, 2
  %whole = sub i128 %turns, %part
  %n.wide = lshr i128 %whole, 126
  %n = trunc i128 %n.wide to i64
  %negative = icmp slt i128 %part, 0
  %opposite = sub i128 0, %part
  %length = select i1 %negative, i128 %opposite, i128 %part
  %leading.wide = call i128 @llvm.ctlz.i128(i128 %length, i1 false)
  %leading = trunc i128 %leading.wide to i64
  %normal = shl i128 %length, %leading.wide
  %first.wide = lshr i128 %normal, 75
  %first = trunc i128 %first.wide to i64
  %second.wide = lshr i128 %normal, 11
  %second = trunc i128 %second.wide to i64
  %first.float = uitofp i64 %first to double
  %second.float = uitofp i64 %second to double
  %field1 = sub i64 972, %leading
  %field2 = sub i64 908, %leading
  %scale1.bits = shl i64 %field1, 52
  %scale2.bits = shl i64 %field2, 52
  %scale1 = bitcast i64 %scale1.bits to double
  %scale2 = bitcast i64 %scale2.bits to double
  %high.size = fmul double %first.float, %scale1
  %low.size = fmul double %second.float, %scale2
  %high.minus = fneg double %high.size
  %low.minus = fneg double %low.size
  %high = select i1 %negative, double %high.minus, double %high.size
  %low = select i1 %negative, double %low.minus, double %low.size
"""

_REMAINDER = """\
define private double @fw.fmod_far.float64.v1(double %x, double %y, double %near) noinline cold {
entry:
  %a = call double @llvm.fabs.f64(double %x)
  %b = call double @llvm.fabs.f64(double %y)
  %positive = fcmp ogt double %b, 0.0
  %finite = fcmp one double %a, 0x7FF0000000000000
  %known = and i1 %positive, %finite
  br i1 %known, label %start, label %undefined
undefined:
  ret double 0x7FF8000000000000
start:
  %b.bits = bitcast double %b to i64
  %b.field = lshr i64 %b.bits, 52
  %subnormal = icmp eq i64 %b.field, 0
  %b.float = uitofp i64 %b.bits to double
  %b.float.bits = bitcast double %b.float to i64
  %b.float.field = lshr i64 %b.float.bits, 52
  %b.low = sub i64 %b.float.field, 1074
  %b.exponent = select i1 %subnormal, i64 %b.low, i64 %b.field
  br label %test
test:
  %rest = phi double [ %a, %start ], [ %smaller, %step ]
  %more = fcmp oge double %rest, %b
  br i1 %more, label %step, label %end
step:
  %r.bits = bitcast double %rest to i64
  %r.field = lshr i64 %r.bits, 52
  %gap = sub i64 %r.field, %b.exponent
  %over = sub i64 %gap, 50
  %some = icmp sgt i64 %over, 0
  %k = select i1 %some, i64 %over, i64 0
  %half = lshr i64 %k, 1
  %half.field = add i64 %half, 1023
  %half.bits = shl i64 %half.field, 52
  %half.scale = bitcast i64 %half.bits to double
  %b.half = fmul double %b, %half.scale
  %b.whole = fmul double %b.half, %half.scale
  %odd = and i64 %k, 1
  %last = uitofp i64 %odd to double
  %modulus = call double @llvm.fma.f64(double %b.whole, double %last, double %b.whole)
  %ratio = fdiv double %rest, %modulus
  %q = call double @llvm.trunc.f64(double %ratio)
  %minus = fneg double %q
  %left = call double @llvm.fma.f64(double %minus, double %modulus, double %rest)
  %below = fcmp olt double %left, 0.0
  %raised = fadd double %left, %modulus
  %smaller = select i1 %below, double %raised, double %left
  br label %test
end:
  %value = call double @llvm.copysign.f64(double %rest, double %x)
  ret double %value
}
"""
"""Exact: each step takes off a whole multiple of b 2**k, chosen so that the quotient has at most 52
bits (fma is exact).
"""

_REMAINDER32 = """\
define private float @fw.fmod_far.float32.v1(float %x, float %y, float %near) noinline cold {
  %a = fpext float %x to double
  %b = fpext float %y to double
  %wide = call double @fw.fmod_far.float64.v1(double %a, double %b, double %a)
  %value = fptrunc double %wide to float
  ret float %value
}
"""

_LANES = """\
define private {kind} {function}({parameters}) noinline cold {{
entry:
  br label %lane
lane:
  %i = phi i32 [ 0, %entry ], [ %next, %after ]
  %done = phi {kind} [ %x{last}, %entry ], [ %merged, %after ]
  {extracts}
  {test}
  br i1 %far, label %slow, label %after
slow:
  %result = call {scalar} {one}({arguments})
  %changed = insertelement {kind} %done, {scalar} %result, i32 %i
  br label %after
after:
  %merged = phi {kind} [ %done, %lane ], [ %changed, %slow ]
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, {width}
  br i1 %more, label %lane, label %end
end:
  ret {kind} %merged
}}
"""


def prelude(text: str) -> str:
    """The definitions to append to a module whose functions contain `text`; empty where it calls
    none of ours.
    """
    calls = sorted(set(_CALL.findall(text)))
    scalars = {(name, dtype) for name, dtype, _ in calls}
    if ("fmod_far", "float32") in scalars:
        scalars.add(("fmod_far", "float64"))
    parts = [_scalar(name, BY_NAME[dtype]) for name, dtype in sorted(scalars)]
    parts += [_lanes(n, BY_NAME[dtype], int(w)) for n, dtype, w in calls if int(w) > 1]
    if any(name != "fmod_far" for name, _ in scalars):
        parts.append(_table())
    rare = sorted(set(_RARE.findall(text)))
    parts += [define_rare(name, int(width), spell) for name, width in rare]
    return "\n".join(parts)


def _table() -> str:
    words = [two_over_pi() >> 64 * k & (2**64 - 1) for k in reversed(range(TABLE_WORDS))]
    inner = ", ".join(f"i64 {word}" for word in words)
    return f"@fw.two_over_pi = private unnamed_addr constant [{TABLE_WORDS} x i64] [{inner}]\n"


def _lanes(name: str, dtype: DType, width: int) -> str:
    kind, scalar = f"<{width} x {dtype.llvm}>", dtype.llvm
    numbers = range(3 if name == "fmod_far" else 2)
    operands = [f"%v{n}" for n in numbers]
    *before, test = far_test(name, dtype, 1, operands, "%size")
    return _LANES.format(
        kind=kind,
        function=far_function(name, dtype, width),
        parameters=", ".join(f"{kind} %x{n}" for n in numbers),
        last=numbers[-1],
        extracts="\n  ".join(f"%v{n} = extractelement {kind} %x{n}, i32 %i" for n in numbers),
        test="\n  ".join([*before, f"%far = {test}"]),
        scalar=scalar,
        one=far_function(name, dtype, 1),
        arguments=", ".join(f"{scalar} {operand}" for operand in operands),
        width=width,
    )


@cache
def _scalar(name: str, dtype: DType) -> str:
    if name == "fmod_far":
        return _REMAINDER if dtype is FLOAT64 else _REMAINDER32
    wide = dtype is FLOAT64
    lines = [f"define private {dtype.llvm} {far_function(name, dtype, 1)}"]
    lines[0] += f"({dtype.llvm} %{'x' if wide else 'narrow'}, {dtype.llvm} %near) noinline cold {{"
    if not wide:
        lines.append(f"  %x = fpext {dtype.llvm} %narrow to double")
    lines.append(_REDUCTION.rstrip())
    value = _kernel(name.removesuffix("_far"), lines)
    lines.append(f"  %kept = select i1 %finite, double {value}, double 0x7FF8000000000000")
    if not wide:
        lines.append(f"  %rounded = fptrunc double %kept to {dtype.llvm}")
    lines.append(f"  ret {dtype.llvm} {'%kept' if wide else '%rounded'}\n}}\n")
    return "\n".join(lines)


def _kernel(name: str, lines: list[str]) -> str:
    """The polynomials, spelled at width 1."""
    root = far_kernel(name)
    names: dict[int, str] = {}
    fresh = _counter()
    registers = ("%high", "%low", "%n", "%x")
    for node in postorder([root]):
        if node.name == "const":
            names[id(node)] = literal(node.attr, node.dtype, 1)
        elif node.name == "param":
            names[id(node)] = registers[node.attr]
        else:
            operands = [names[id(arg)] for arg in node.args]
            names[id(node)] = spell(node, operands, 1, lines, fresh)
    return names[id(root)]


def _counter() -> Callable[[], str]:
    count = 0

    def fresh() -> str:
        nonlocal count
        count += 1
        return f"%v{count}"

    return fresh
