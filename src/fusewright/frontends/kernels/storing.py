"""Computed arrays that need memory: found out while translating, which then starts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fusewright.frontends.kernels.retyping import Restart
from fusewright.frontends.kernels.values import Elementwise
from fusewright.ir.expr import Expr, postorder

if TYPE_CHECKING:
    from fusewright.frontends.kernels.context import Translation


def known_size(t: Translation, expr: Expr) -> Expr | None:
    """The expression over arguments alone; None where it needs more."""
    full = t.written_out(expr)
    free = ("load", "local", "index")
    return None if any(node.name in free for node in postorder([full])) else full


def is_stored(t: Translation, value: Elementwise) -> bool:
    """Whether a computed array is known to need memory."""
    return ("stored", value.span) in t.guesses


def store(t: Translation, value: Elementwise) -> None:
    """Translate again, the array with memory of its own, where its size is known before."""
    known = [known_size(t, extent) for extent in value.shape]
    if not is_stored(t, value) and None not in known:
        t.guesses["stored", value.span] = True
        raise Restart
