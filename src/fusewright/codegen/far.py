"""The rarely taken branch of a `*_far` op: one test on all lanes, and a call only if some lane
needs it.

The last operand is the value of the ordinary formula.  The functions called are defined by
`codegen.prelude`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusewright.ir.dtypes import DType
from fusewright.rules.decompose.trigonometric import FAR


def far_function(name: str, dtype: DType, width: int) -> str:
    """The symbol that `prelude` defines.

    >>> from fusewright.ir.dtypes import FLOAT64
    >>> far_function("sin_far", FLOAT64, 8)
    '@fw.sin_far.float64.v8'
    """
    return f"@fw.{name}.{dtype.name}.v{width}"


def far_test(name: str, dtype: DType, width: int, operands: Sequence[str], size: str) -> list[str]:
    """The lines but for `%name = ` before the last: which lanes are far.  `size` is a name they may
    use.
    """
    kind = dtype.llvm if width == 1 else f"<{width} x {dtype.llvm}>"
    if name == "fmod_far":
        return [f"fcmp uno {kind} {operands[-1]}, {operands[-1]}"]
    suffix = f"f{dtype.bits}" if width == 1 else f"v{width}f{dtype.bits}"
    limit = repr(FAR[dtype]) if width == 1 else f"splat ({dtype.llvm} {FAR[dtype]!r})"
    return [
        f"{size} = call {kind} @llvm.fabs.{suffix}({kind} {operands[0]})",
        f"fcmp oge {kind} {size}, {limit}",
    ]


def call_far(
    name: str,
    dtype: DType,
    operands: Sequence[str],
    width: int,
    out: list[str],
    fresh: Callable[[], str],
) -> str:
    """Append the test, the branch and the call; the result's register."""
    kind = dtype.llvm if width == 1 else f"<{width} x {dtype.llvm}>"
    size, far, any_far, rescued, result = (fresh() for _ in range(5))
    check, slow, done = (f"{result.lstrip('%')}.{block}" for block in ("check", "slow", "done"))
    *before, test = far_test(name, dtype, width, operands, size)
    out += [f"br label %{check}", f"{check}:", *before, f"{far} = {test}"]
    if width > 1:
        out.append(f"{any_far} = call i1 @llvm.vector.reduce.or.v{width}i1(<{width} x i1> {far})")
    inner = ", ".join(f"{kind} {operand}" for operand in operands)
    out += [
        f"br i1 {any_far if width > 1 else far}, label %{slow}, label %{done}",
        f"{slow}:",
        f"{rescued} = call {kind} {far_function(name, dtype, width)}({inner})",
        f"br label %{done}",
        f"{done}:",
        f"{result} = phi {kind} [ {operands[-1]}, %{check} ], [ {rescued}, %{slow} ]",
    ]
    return result
