"""Computed arrays and lists that need memory: found out while translating, which starts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusewright.frontends.kernels.retyping import Restart
from fusewright.frontends.kernels.values import Elementwise
from fusewright.ir.expr import Expr, postorder

if TYPE_CHECKING:
    from fusewright.base.errors import FusewrightError
    from fusewright.base.source import Span
    from fusewright.frontends.kernels.context import Translation


def known_size(t: Translation, expr: Expr) -> Expr | None:
    """The expression over arguments alone; None where it needs more."""
    full = t.written_out(expr)
    free = ("load", "local", "index")
    return None if any(node.name in free for node in postorder([full])) else full


def is_stored(t: Translation, value: Elementwise) -> bool:
    """Whether a computed array is known to need memory."""
    return ("stored", value.span) in t.guesses


def may_have_memory(t: Translation, value: Elementwise) -> bool:
    """Whether at most one of its dims has a size that is only found on the way."""
    known = [known_size(t, extent) for extent in value.shape]
    return known.count(None) < 2


def note(t: Translation, value: Elementwise) -> None:
    """From here on the computed array needs memory."""
    t.guesses["stored", value.span] = True


def store(t: Translation, value: Elementwise) -> None:
    """Translate again, the array with memory of its own; so has one that it is another form of,
    whose memory it shares then.
    """
    if not is_stored(t, value) and may_have_memory(t, value):
        note(t, value)
        origin = value.origin
        while origin is not None and may_have_memory(t, origin):
            note(t, origin)
            origin = origin.origin
        raise Restart


def is_known(t: Translation, span: Span) -> bool:
    """Whether the list that is written here is known to need memory."""
    return ("list", span) in t.guesses


def needs_memory(t: Translation, span: Span, refused: FusewrightError) -> FusewrightError:
    """Translate again, the list that is written here with memory; the error where that was so."""
    if span[0] and not is_known(t, span):
        t.guesses["list", span] = True
        raise Restart
    return refused
