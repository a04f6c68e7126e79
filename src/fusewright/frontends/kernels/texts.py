"""Texts with numbers in them: what `print` shows and `raise` says.

f"{x:.3f} of {n}"    "{:.3f} of {}".format(x, n)    "%.3f of %d" % (x, n)    "n = " + str(n)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from string import Formatter

from fusewright.frontends.kernels import elements
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Number,
    Static,
    TupleValue,
    Value,
    describe,
)
from fusewright.ir.loops.statements import Shown

Pieces = list[str | Shown]


def pieces(t: Translation, node: ast.expr) -> Pieces:
    """What an expression shows: a text that is built, or any value."""
    if isinstance(node, ast.JoinedStr):
        return [piece for part in node.values for piece in pieces(t, part)]
    if isinstance(node, ast.FormattedValue):
        conversion = chr(node.conversion) if node.conversion > 0 else ""
        return shown(t, node.value, t.expression(node.value), conversion, _spec(t, node))
    built = _built(t, node)
    if built is not None:
        return built
    return shown(t, node, t.expression(node), "s", "")


def is_text(node: ast.expr) -> bool:
    """Whether an expression is a text as it is written, or built from one."""
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or (isinstance(node.op, ast.Add) and is_text(node.right))
    return isinstance(node, ast.Call) and (_is_format(node) or _is_str(node))


def _is_format(node: ast.Call) -> bool:
    function = node.func
    return isinstance(function, ast.Attribute) and (
        function.attr == "format" and isinstance(function.value, ast.Constant)
    )


def _is_str(node: ast.Call) -> bool:
    named = isinstance(node.func, ast.Name) and node.func.id == "str"
    return named and len(node.args) == 1 and not node.keywords


def _built(t: Translation, node: ast.expr) -> Pieces | None:
    """The pieces of a text that an operation makes; None of anything else."""
    if not is_text(node):
        return None
    if isinstance(node, ast.Call):
        return pieces(t, node.args[0]) if _is_str(node) else _formatted(t, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*pieces(t, node.left), *pieces(t, node.right)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _percent(t, node)
    return None


def _spec(t: Translation, node: ast.FormattedValue) -> str:
    parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
    texts = [part.value for part in parts if isinstance(part, ast.Constant)]
    if len(texts) < len(parts):
        raise t.refuse(node, "a format that is computed", help="write the format as it is")
    return "".join(map(str, texts))


def _formatted(t: Translation, node: ast.Call) -> Pieces:
    assert isinstance(node.func, ast.Attribute)
    template = node.func.value
    assert isinstance(template, ast.Constant)
    text = str(template.value)
    named = {str(keyword.arg): keyword.value for keyword in node.keywords}
    found: Pieces = []
    place = 0
    for literal, field, spec, conversion in Formatter().parse(text):
        found.append(literal)
        if field is None:
            continue
        if not field:
            field, place = str(place), place + 1
        number = int(field) if field.isdecimal() else len(node.args)
        given = node.args[number] if number < len(node.args) else named.get(field)
        if given is None or "{" in (spec or ""):
            raise t.refuse(node, f"the field {{{field}}} of a format", help="use an f-string")
        found += shown(t, given, t.expression(given), conversion or "", spec or "")
    return found


_FIELD = re.compile(r"%(?:%|(0?\d*(?:\.\d+)?)([dfFeEgGsrxX]))")


def _percent(t: Translation, node: ast.BinOp) -> Pieces:
    template = node.left
    given = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
    text = template.value if isinstance(template, ast.Constant) else None
    fields = list(_FIELD.finditer(str(text)))
    wanted = [each for each in fields if each[0] != "%%"]
    known = isinstance(text, str) and "%" not in _FIELD.sub("", text)
    if not known or len(wanted) != len(given):
        raise t.refuse(node, "this use of % with a text in a kernel", help="use an f-string")
    found: Pieces = []
    end, rest = 0, list(given)
    for each in fields:
        found.append(str(text)[end : each.start()])
        end = each.end()
        found += ["%"] if each[0] == "%%" else _field(t, node, each[1], each[2], rest.pop(0))
    return [*found, str(text)[end:]]


def _field(t: Translation, node: ast.BinOp, width: str, letter: str, given: ast.expr) -> Pieces:
    value = t.expression(given)
    if letter in "sr":
        return shown(t, given, value, letter, f">{width}" if width else "")
    whole = isinstance(value, Number) and value.dtype.is_integer
    if letter in "dxX" and not whole:
        raise t.refuse(node, f"%{letter} of {describe(value)}", help="convert it with int()")
    return shown(t, given, value, "", width + letter)


def shown(t: Translation, node: ast.expr, value: Value, conversion: str, spec: str) -> Pieces:
    """The pieces of one value."""
    if isinstance(value, Static) and (isinstance(value.value, str) or value.value is None):
        text = repr(value.value) if conversion == "r" else str(value.value)
        return [format(text, spec)]
    if type(value) is TupleValue and not spec:
        return _tuple(t, node, value.items)
    if isinstance(value, ArrayRef | Elementwise | TupleValue) and not _is_number(value):
        raise t.refuse(
            node,
            f"printing a whole {describe(value)}",
            help="print its elements, or print it after the call",
        )
    number = t.fixed(elements.as_number(t, value, t.span(node)))
    return [Shown(number.expr, number.origin == "python", conversion, spec)]


def _is_number(value: Value) -> bool:
    return isinstance(value, ArrayRef) and not value.shape


def _tuple(t: Translation, node: ast.expr, items: Sequence[Value]) -> Pieces:
    found: Pieces = ["("]
    for place, item in enumerate(items):
        found += [", "] if place else []
        found += shown(t, node, item, "r", "")
    return [*found, ",)" if len(items) == 1 else ")"]
