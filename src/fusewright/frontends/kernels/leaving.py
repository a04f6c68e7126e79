"""Statements that may end a function: `return`, `raise`, `assert`."""

from __future__ import annotations

import ast
import builtins

from fusewright.base.errors import AssertedError, FusewrightError
from fusewright.base.source import Span
from fusewright.frontends.kernels import chosen, returned, vectors
from fusewright.frontends.kernels.choices import test
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.liveness import Names
from fusewright.frontends.kernels.statements import write_array
from fusewright.frontends.kernels.values import ArrayRef, ListValue, Static, Value
from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import const
from fusewright.ir.loops.statements import Leave

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
    call, text = node.exc, ""
    if isinstance(call, ast.Call):
        texts = [arg.value if isinstance(arg, ast.Constant) else None for arg in call.args]
        if call.keywords or len(texts) > 1 or not all(isinstance(each, str) for each in texts):
            raise t.refuse(node, "`raise` with a text that is computed", help=_RAISE)
        text, call = "".join(map(str, texts)), call.func
    found = t.expression(call) if call is not None else None
    kind = found.value if isinstance(found, Static) else None
    name = str(getattr(kind, "__name__", ""))
    known = isinstance(kind, type) and issubclass(kind, Exception)
    if not known or getattr(builtins, name, None) is not kind or node.cause is not None:
        raise t.refuse(node, "`raise` of what is no exception of Python's own", help=_RAISE)
    t.check(const(False, BOOL), "raised", f"{name}:{text}", (), t.span(node))


_RAISE = 'write raise ValueError("...") with the text as it is, or return a number that says so'


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
    if isinstance(value, ArrayRef) and vectors.is_vector(value) and len(t.frames) > 1:
        write_array(t, frame.returned, value, t.span(node))
    elif chosen.is_chosen(t):
        chosen.add(t, value, t.span(node.value or node))
    else:
        _returned(t, value, t.span(node))
    if frame.label not in tail:
        frame.left = True
        t.write(Leave(frame.label, t.span(node)))
