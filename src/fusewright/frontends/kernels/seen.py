"""Who else sees a small array that is replaced: `z = (x, 1)`, `v = x[1:]`, and then `x = x + 1`.

Small arrays that paths join in are kept by value: the new one is copied over the old one, which no
other name may show any more.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from fusewright.base.errors import KernelPathError
from fusewright.base.source import Span
from fusewright.frontends.kernels import kept
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.values import ArrayRef, Record, TupleValue, View, Zipped


def refuse_seen(
    t: Translation, buffer: int, name: str, read: Container[str] | None, span: Span
) -> None:
    """Refuse to replace what another name shows that is among those `read` later; None stands for
    every name.
    """
    for other, binding in t.frame.env.items():
        is_read = read is None or other in read
        if other != name and is_read and _shows(t, binding, buffer):
            raise KernelPathError(
                f"`{other}` and `{name}` are one local array, and `{name}` is replaced on a path",
                span,
                why="local arrays that paths join at are kept by value",
                help=f"copy it where `{other}` gets it: {name}.copy()",
            )


def _shows(t: Translation, value: Any, buffer: int) -> bool:
    if isinstance(value, SlotTree):
        return _shows(t, value.form, buffer)
    if isinstance(value, ArrayRef):
        return value.buffer == buffer
    if isinstance(value, View):
        return buffer in kept.reads(t, value)
    parts: Any = ()
    if isinstance(value, TupleValue):
        parts = value.items
    elif isinstance(value, Zipped):
        parts = value.parts
    elif isinstance(value, list):
        parts = value
    elif isinstance(value, Record):
        parts = value.fields.values()
    return any(_shows(t, part, buffer) for part in parts)
