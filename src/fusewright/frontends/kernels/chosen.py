"""Results that differ in kind: which `return` was reached says what the caller gets.

`return 0` on one path and an array, `None` or a number of another type on others: each statement
stores its own result, and its number.  Needed only where the results are not of one kind, which
is found out while translating; that then starts again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fusewright.base.values import dataclass
from fusewright.frontends.kernels import returned
from fusewright.frontends.kernels.retyping import Restart
from fusewright.frontends.kernels.values import Value
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import const
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Buffer

if TYPE_CHECKING:
    from fusewright.base.source import Span
    from fusewright.frontends.kernels.context import Translation

_KEY = ("the result", "chosen")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The number in a buffer says which of these results is meant."""

    buffer: int
    options: tuple[Any, ...]


def is_chosen(t: Translation) -> bool:
    """Whether this is about the kernel's own results, and they are known to differ."""
    return len(t.frames) <= 1 and _KEY in t.guesses


def choose(t: Translation) -> None:
    """Start again: results differ.  Returns where that is known, or it is another function's."""
    if len(t.frames) <= 1 and not is_chosen(t):
        t.guesses[_KEY] = True
        raise Restart


def add(t: Translation, value: Value, span: Span) -> None:
    """One more result, reached here."""
    if not t.options:
        t.chosen = t.inputs.next_buffer()
        t.results[t.chosen] = Buffer(t.chosen, INT64, ())
        t.options.append(None)  # of a function that ends without a return
    place = len(t.options)
    t.options.append(returned.results(t, value, t.results, span))
    _set(t, place, span)


def result(t: Translation, span: Span) -> Chosen:
    """What the caller chooses from."""
    assert t.chosen is not None
    t.out.insert(0, Store(t.chosen, (), const(0, INT64), "", span))
    return Chosen(t.chosen, tuple(t.options))


def _set(t: Translation, place: int, span: Span) -> None:
    assert t.chosen is not None
    t.write(Store(t.chosen, (), const(place, INT64), "", span))
