"""Names of the translated function: what one stands for, and assignments to it."""

from __future__ import annotations

import ast

from fusewright.base.errors import UnassignedError
from fusewright.base.source import Span
from fusewright.frontends.kernels import apart, unassigned
from fusewright.frontends.kernels.context import Assignable, Maybe, Translation
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.values import Number, Value


def look_up(t: Translation, node: ast.Name) -> Value:
    """What a name stands for here."""
    binding = t.frame.binding(node.id)
    if isinstance(binding, Maybe):
        assert isinstance(binding.tree, SlotTree)
        return unassigned.read(t, node, binding.tree)
    if binding is None:
        if t.frame.is_local(node.id):
            if apart.is_any(t):  # another path has a value
                return unassigned.absent(t, node)
            raise UnassignedError(
                f"`{node.id}` is read before it is assigned",
                t.span(node),
                why="a name assigned anywhere in a function belongs to that function",
                help=f"assign `{node.id}` first",
            )
        return t.inputs.captured(t.frame.function, node.id, t.span(node))
    if isinstance(binding, SlotTree):
        span = t.span(node)
        return binding.read(span) if binding.assigned else unassigned.read(t, node, binding)
    if isinstance(binding, Number):
        return Number(binding.expr, binding.origin, t.span(node))
    assert not isinstance(binding, Assignable), "every one is a `SlotTree`"
    return binding


def bind(t: Translation, name: str, value: Value, span: Span) -> None:
    """Assign to a name."""
    binding = t.frame.env.get(name)
    if isinstance(binding, SlotTree) and binding.is_active(t):
        binding.write(t, value, span)
    elif isinstance(value, Number):
        t.frame.env[name] = t.named(name, value)
    else:
        t.frame.env[name] = t.lasting(value)
