"""The branch of lengths and their comparisons: one test on all lanes, and a call where some lane
has no ordinary square.

Unlike `codegen.far` the function called treats whole vectors: where one square is out of order, its
neighbours mostly are, too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from fusewright.codegen.text import Text, literal, llvm_type
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64
from fusewright.ir.expr import Expr, postorder
from fusewright.rules.decompose.lengths import (
    LEAST_SQUARE,
    MOST_SQUARE,
    RARE,
    operands_of,
    rare_value,
)

NAMES = tuple(RARE)
Spell = Callable[..., str]


def call_rare(text: Text, node: Expr, operands: Sequence[str]) -> str:
    """Append the test, the branch and the call; the result's register."""
    some = _TESTS.get(node.name, _unknown)(text, operands)
    rescued, result = text.fresh(), text.fresh()
    blocks = ("doubt", "slow", "near", "done")
    doubt, slow, near, done = (f"{result.lstrip('%')}.{block}" for block in blocks)
    kind = text.type(node.dtype)
    kinds = map(text.type, operands_of(node.name))
    inner = ", ".join(f"{k} {operand}" for k, operand in zip(kinds, operands, strict=True))
    # the value of the ordinary case comes from a block of its own
    text.out += [f"br i1 {some}, label %{doubt}, label %{near}", f"{doubt}:"]
    if node.name == "hypot_far":
        some = _nonzero(text, operands)
        text.out += [f"br i1 {some}, label %{slow}, label %{near}"]
    else:
        text.out += [f"br label %{slow}"]
    text.out += [
        f"{slow}:",
        f"{rescued} = call {kind} {_function(node.name, text.width)}({inner})",
        f"br label %{done}",
        f"{near}:",
        f"br label %{done}",
        f"{done}:",
        f"{result} = phi {kind} [ {operands[-1]}, %{near} ], [ {rescued}, %{slow} ]",
    ]
    return result


def _any(text: Text, lanes: str) -> str:
    if text.width == 1:
        return lanes
    kind = f"<{text.width} x i1>"
    return text.line(f"call i1 @llvm.vector.reduce.or.v{text.width}i1({kind} {lanes})")


def _nonzero(text: Text, operands: Sequence[str]) -> str:
    """Whether a square that is not in order is one of something: the root of 0 is right, and zeros
    are common.
    """
    kind, mask = text.type(FLOAT64), text.type(BOOL)
    zero = text.literal(0.0, FLOAT64)
    parts = [text.line(f"fcmp une {kind} {operand}, {zero}") for operand in operands[:2]]
    some = text.line(f"or {mask} {parts[0]}, {parts[1]}")
    return _any(text, text.line(f"and {mask} {some}, {_out_of_order(text, operands)}"))


def _extraordinary(text: Text, operands: Sequence[str]) -> str:
    return _any(text, _out_of_order(text, operands))


def _out_of_order(text: Text, operands: Sequence[str]) -> str:
    """Squares that are not in order: moved so that those in order are the greatest integers."""
    least, most = (
        struct.unpack("<q", struct.pack("<d", x))[0] for x in (LEAST_SQUARE, MOST_SQUARE)
    )
    shift = (1 << 63) - 1 - most
    kind = text.type(INT64)
    bits = text.convert("bitcast", operands[2], FLOAT64, INT64)
    moved = text.line(f"add {kind} {bits}, {text.literal(shift, INT64)}")
    return text.line(f"icmp slt {kind} {moved}, {text.literal(least + shift, INT64)}")


def _unknown(text: Text, operands: Sequence[str]) -> str:
    return _any(text, text.line(f"fcmp uno {text.type(FLOAT64)} {operands[2]}, {operands[4]}"))


def _unbounded(text: Text, operands: Sequence[str]) -> str:
    """A length that is no number is not less than another: only the bound matters, and that is the
    same in all lanes.
    """
    bound = operands[4]
    if text.width > 1:
        bound = text.line(f"extractelement {text.type(FLOAT64)} {bound}, i64 0")
    return text.line(f"fcmp uno double {bound}, {bound}")


_TESTS: dict[str, Callable[[Text, Sequence[str]], str]] = {
    "hypot_far": _extraordinary,
    "length_below_far": _unbounded,
    "length_at_most_far": _unbounded,
}


def _function(name: str, width: int) -> str:
    return f"@fw.{name}.v{width}"


def define_rare(name: str, width: int, spell: Spell) -> str:
    """The function that `call_rare` calls."""
    kinds = [llvm_type(dtype, width) for dtype in operands_of(name)]
    root = rare_value(name)
    parameters = ", ".join(f"{kind} %x{n}" for n, kind in enumerate(kinds))
    result = llvm_type(root.dtype, width)
    lines = [f"define private {result} {_function(name, width)}({parameters}) noinline cold {{"]
    names: dict[Expr, str] = {}

    def fresh() -> str:
        return f"%v{len(lines)}"

    for node in postorder([root]):
        if node.name == "const":
            names[node] = literal(node.attr, node.dtype, width)
        elif node.name == "param":
            names[node] = f"%x{node.attr}"
        else:
            operands = [names[arg] for arg in node.args]
            names[node] = spell(node, operands, width, lines, fresh)
    return "\n".join([*lines, f"  ret {result} {names[root]}\n}}\n"])
