"""Statements that may end a function: `return`, `raise`, `assert`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fusewright.base.errors import AssertedError, FusewrightError
from fusewright.base.source import Span
from fusewright.frontends.kernels import chosen, returned, texts, vectors
from fusewright.frontends.kernels.choices import test
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.liveness import Names
from fusewright.frontends.kernels.statements import write_array
from fusewright.frontends.kernels.values import ArrayRef, ListValue, Static, Value
from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import Expr, const
from fusewright.ir.loops import raised
from fusewright.ir.loops.statements import Leave, Shown

Tail = frozenset[int]


def assert_(t: Translation, node: ast.Assert, after: Names, tail: Tail) -> None:
    """`assert`: looked at under `check=True`, and where it is decided while translating; dropped
    otherwise, as `python -O` does.
    """
    with t.block() as written:
        condition = test(t, node.test)
    text = ast.unparse(node.test)
    if isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str):
        text = node.msg.value
    if condition.expr.name == "const":
        if not condition.expr.attr:
            raise AssertedError(f"the assertion fails: {text}", t.span(node))
        return
    if t.settings.check:
        t.out += written
        message = "the assertion fails: " + text.replace("{", "{{").replace("}", "}}")
        t.check(condition.expr, "assertion", message, (), t.span(node))


def raise_(t: Translation, node: ast.Raise, after: Names, tail: Tail) -> None:
    """`raise ValueError("text")`: the kernel ends with it."""
    values: tuple[Expr, ...] = ()
    call, text = node.exc, ""
    if isinstance(call, ast.Call):
        if call.keywords or len(call.args) > 1 or not all(map(texts.is_text, call.args)):
            raise t.refuse(node, "`raise` with something else than a text", help=_RAISE)
        text, values = _said(t, call.args)
        call = call.func
    found = t.expression(call) if call is not None else None
    kind = found.value if isinstance(found, Static) else None
    name = raised.name_of(kind)
    if name is None or node.cause is not None:
        raise t.refuse(node, "`raise` of what is no exception with a name", help=_RAISE)
    t.check(const(False, BOOL), "raised", f"{name}:{text}", values, t.span(node))


def _said(t: Translation, given: Sequence[ast.expr]) -> tuple[str, tuple[Expr, ...]]:
    """The text of an error, and the numbers in it, which are filled in when it is raised."""
    text, values = "", []
    for piece in (piece for each in given for piece in texts.pieces(t, each)):
        if isinstance(piece, Shown):
            text += raised.field(piece)
            values.append(piece.value)
        else:
            text += raised.literal(piece)
    if any(value.dtype.is_complex for value in values) or len(values) > MOST_VALUES:
        raise t.refuse(given[0], f"a text of complex numbers, or more than {MOST_VALUES} numbers")
    return text, tuple(values)


MOST_VALUES = 8
"""Numbers in the text of an error."""
_RAISE = 'write raise ValueError("..."), or an f-string, or return a number that says so'


def _returned(t: Translation, value: Value, span: Span) -> None:
    try:
        t.frame.returned.write(t, value, span)
    except FusewrightError:
        if not isinstance(value, ListValue):
            chosen.choose(t)
        raise


def return_(t: Translation, node: ast.Return, after: Names, tail: Tail) -> None:
    """`return value`."""
    frame = t.frame
    value = Static(None) if node.value is None else t.expression(node.value)
    if len(t.frames) == 1:
        value = returned.value(t, value, node, is_last=not t.open[1:])
    inner = len(t.frames) > 1
    if inner:
        value = returned.inner(t, value, t.span(node))
    if inner and returned.is_joined(t, value, t.span(node)):
        frame.returned.mark(t, t.span(node))
    elif isinstance(value, ArrayRef) and vectors.is_vector(value) and inner:
        write_array(t, frame.returned, value, t.span(node))
    elif chosen.is_chosen(t):
        chosen.add(t, value, t.span(node.value or node))
    else:
        _returned(t, value, t.span(node))
    if frame.label not in tail:
        frame.left = True
        t.write(Leave(frame.label, t.span(node)))
