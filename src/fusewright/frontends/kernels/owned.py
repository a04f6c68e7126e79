"""Arrays and lists that one name alone stands for, and that paths make anew.

if c:                          the second one is copied into the first one's memory: no other
x = np.zeros(n)            name can see that
else:
x = np.ones(n)
"""

from __future__ import annotations

from fusewright.base.source import Span
from fusewright.frontends.kernels import elementwise, lists, parts, storing
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.sharing import is_shared
from fusewright.frontends.kernels.values import ArrayRef, Elementwise, Growing, Value

Since = tuple[int, int]


def now(t: Translation) -> Since:
    """What has been made so far."""
    return t.inputs.count, len(t.locals)


def is_new(value: Value, since: Since) -> bool:
    """Whether a value has been made after that, so that nothing stands for it yet."""
    if isinstance(value, ArrayRef):
        return value.buffer >= since[0] and not value.local
    return isinstance(value, Elementwise) or (
        isinstance(value, Growing) and value.length >= since[1]
    )


def _memory(value: Value) -> tuple[str, int] | None:
    if isinstance(value, ArrayRef) and not value.indices and not value.window:
        return "array", value.buffer
    return ("list", value.length) if isinstance(value, Growing) else None


def note(t: Translation, name: str, value: Value) -> None:
    """A name gets something new."""
    memory = _memory(value)
    if memory is not None:
        t.owners.setdefault(memory, (t.frame, name))


def settled(t: Translation, name: str, value: Value) -> Value:
    """A computed array that has to be one with memory, as an array."""
    before = _tree(t, name).form
    if not isinstance(value, Elementwise):
        return value
    if storing.is_stored(t, value):
        return t.lasting(value)
    if isinstance(before, Elementwise | ArrayRef) and before is not value:
        if isinstance(before, Elementwise):
            storing.store(t, before)
        storing.store(t, value)
    return value


def _tree(t: Translation, name: str) -> SlotTree:
    tree = t.frame.env[name]
    assert isinstance(tree, SlotTree)
    return tree


def replaced(t: Translation, name: str, value: Value, span: Span) -> bool:
    """Copy something new into what the name stands for on other paths, where only it does."""
    tree = _tree(t, name)
    before = tree.form
    mine = isinstance(before, ArrayRef | Growing) and (
        t.owners.get(_memory(before)) == (t.frame, name)
        and before != value
        and not is_shared(t.frame.source.tree, name, isinstance(before, Growing))
    )
    if not mine:
        return False
    if isinstance(before, Growing) and isinstance(value, Growing):
        lists.clear(t, before, span)
        lists.extend(t, before, value, lists.walked(t, span), span)
    elif isinstance(before, ArrayRef) and _is_alike(t, before, value):
        parts.assign(t, before, value, span)
    else:
        return False
    tree.mark(t, span)
    return True


def _is_alike(t: Translation, before: ArrayRef, value: Value) -> bool:
    if not isinstance(value, ArrayRef):
        return False
    shapes = [tuple(map(t.inputs.alike, elementwise.shape_of(each))) for each in (before, value)]
    return before.dtype is value.dtype and shapes[0] == shapes[1]


