"""Names that a path leaves without a value, read afterwards: `if c: x = 1` and then `x`.

Where nothing proves that such a name has a value, a flag beside it says so while the kernel runs,
and a read looks at it.  Which names need one is found out while translating, which starts again.

    if c:                 let has_x = False
        x = 1             if c:
    y = x                   let x = 1
                            let has_x = True
                          check has_x: `x` has no value here
                          let y = x
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from fusewright.base.errors import UnassignedError
from fusewright.base.source import Span
from fusewright.frontends.kernels.joins import Slot, SlotTree
from fusewright.frontends.kernels.retyping import Restart
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Growing,
    Number,
    Static,
    Struct,
    Value,
)
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import const, local
from fusewright.ir.loops.statements import Let

if TYPE_CHECKING:
    from fusewright.frontends.kernels.context import Frame, Translation

RESULT = "the result"
"""What a function returns, among its names."""


def open_flag(t: Translation, frame: Frame, tree: SlotTree, span: Span) -> None:
    """Begin to note whether a name has a value, where that is known to be needed."""
    tree.owner = (frame.source.span(frame.source.tree), frame.source.tree.name, tree.name)
    if ("flag", tree.owner) in t.guesses:
        tree.flag = t.new_local(f"has {tree.name}", BOOL, True)
        t.write(Let(tree.flag, const(False, BOOL), span))


def reopened(present: Any) -> SlotTree | None:
    """The variable of a name that earlier paths may have given a value, to be used again."""
    tree = getattr(present, "tree", None)
    return tree if isinstance(tree, SlotTree) and tree.flag is not None else None


def read(t: Translation, node: ast.Name, tree: SlotTree) -> Value:
    """A name that may have no value here: it is looked at where the kernel runs."""
    span = t.span(node)
    refused = UnassignedError(
        f"`{node.id}` may have no value here",
        span,
        why="it is not assigned on every path that leads here (a loop may run zero times)",
        help=f"give `{node.id}` a value before the branch or loop that assigns it",
    )
    return checked(t, tree, refused, f"`{node.id}` has no value here", span)


def absent(t: Translation, node: ast.Name) -> Number:
    """A name that has no value on this path, which ends here; some number stands for it."""
    span = t.span(node)
    t.check(const(False, BOOL), "unassigned", f"`{node.id}` has no value here", (), span)
    return Number(const(0, INT64), "python", span)


def checked(
    t: Translation, tree: SlotTree, refused: UnassignedError, message: str, span: Span
) -> Value:
    """What a variable holds, after a check that it holds something."""
    if not _lasts(tree.form):
        raise refused
    if tree.flag is None:
        if tree.owner is None or ("flag", tree.owner) in t.guesses:
            raise refused
        t.guesses["flag", tree.owner] = True
        raise Restart
    t.check(local(tree.flag, BOOL), "unassigned", message, (), span)
    if tree.form is None:
        tree.form = slot = Slot.expected(t, tree.name, tree.key, refused)
        _begin(t, tree.flag, slot)
    return tree.read(span)


def _lasts(form: Any) -> bool:
    """Whether what a path has given means the same beyond that path: its numbers may not."""
    if isinstance(form, list):
        return all(_lasts(part.form) for part in form)
    if isinstance(form, ArrayRef):
        return not form.indices and not form.window
    return isinstance(form, Slot | Static | Struct | Growing | None)


def _begin(t: Translation, flag: int, slot: Slot) -> None:
    """Give a variable some value where its flag begins: no path reads one that has none."""
    assert slot.number is not None
    assert slot.held is not None
    for block in (*t.open, t.out):
        for place, each in enumerate(block):
            if isinstance(each, Let) and each.local == flag:
                block.insert(place, Let(slot.number, const(0, slot.held.dtype), each.span))
                return
