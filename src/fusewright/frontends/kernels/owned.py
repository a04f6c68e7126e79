"""Arrays and lists that one name alone stands for, and that paths make anew.

if c:                          the second one is copied into the first one's memory: no other
x = np.zeros(n)            name can see that
else:
x = np.ones(n)
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from types import FunctionType

from fusewright.base.errors import FusewrightError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elementwise, fresh, lists, parts, storing, vectors
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.liveness import Names
from fusewright.frontends.kernels.seen import refuse_seen
from fusewright.frontends.kernels.sharing import Around, bindings, is_handed_on
from fusewright.frontends.kernels.source import plain, read
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Growing,
    TupleValue,
    Value,
    View,
)
from fusewright.ir import linear

Since = tuple[int, int, int]
_OTHER_SIZE = "a name that stands for an array of {} elements, and on another path of {}"


def now(t: Translation) -> Since:
    """What has been made so far."""
    return t.inputs.count, len(t.locals), t.inlined


def is_new(t: Translation, node: ast.expr, value: Value, since: Since) -> bool:
    """Whether an expression has made its value after that, so that nothing stands for it yet.

    A function that it calls, or `:=`, might have given it another name, but nothing that is inside
    an operation has what this gives.
    """
    names = t.inlined != since[2] or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
    if names and not isinstance(node, ast.BinOp):
        return False
    if isinstance(value, ArrayRef):
        return value.buffer >= since[0] and not value.local
    if isinstance(value, View):
        return False
    return isinstance(value, Elementwise) or (
        isinstance(value, Growing) and value.length >= since[1]
    )


def is_last_use(t: Translation, node: ast.expr, value: Value, after: Names) -> bool:
    """Whether this is the last use of a name that alone stands for an array or a list."""
    if not isinstance(node, ast.Name) or node.id in after:
        return False
    return _is_alone(t, node.id, value, node)


def _is_alone(t: Translation, name: str, value: Value, but: ast.AST | None = None) -> bool:
    """Whether a name alone stands for an array or a list from here on; `but` is a use of it that
    does not count.
    """
    owners = t.owners.get(_memory(value), [])
    if owners[-1:] != [(t.frame, name)]:
        return False
    if any(frame is not t.frame or former in t.frame.after for frame, former in owners[:-1]):
        return False  # on another path than that on which it was handed over
    known = Around(_arrays(t), partial(_function, t))
    return not is_handed_on(t.frame.source.tree, name, isinstance(value, Growing), but, known)


def _arrays(t: Translation) -> frozenset[str]:
    """The names that stand for one array wherever they stand for something: what is written to
    their elements is copied.
    """
    bound, found = bindings(t.frame.source.tree), t.frame.env.items()
    forms = {n: value.form if isinstance(value, SlotTree) else value for n, value in found}
    return frozenset(n for n, form in forms.items() if isinstance(form, ArrayRef) and bound[n] == 1)


def _function(t: Translation, name: str) -> ast.FunctionDef | None:
    """The function of the user's that a name stands for: one inside this one, or a global."""
    bound, function = bindings(t.frame.source.tree)[name], t.frame.function
    if bound == 1:
        tree = ast.walk(t.frame.source.tree)
        return next((n for n in tree if isinstance(n, ast.FunctionDef) and n.name == name), None)
    known = plain(function.__globals__.get(name))
    if bound or name in function.__code__.co_freevars or not isinstance(known, FunctionType):
        return None
    try:
        return read(known).tree
    except FusewrightError:
        return None  # told where it is called


def _memory(value: Value) -> tuple[str, int] | None:
    if isinstance(value, ArrayRef) and not value.indices and not value.window:
        return "array", value.buffer
    return ("list", value.length) if isinstance(value, Growing) else None


def note_items(t: Translation, node: ast.Assign, value: Value, since: Since) -> Value:
    """`a, b = [], np.eye(n)`: each name gets something new, stored where it has to be."""
    target = node.targets[0]
    if not (isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)):
        return value
    items = list(value.items) if isinstance(value, TupleValue) else []
    for place, (name, expr) in enumerate(zip(target.elts, node.value.elts, strict=False)):
        named = isinstance(name, ast.Name) and not isinstance(expr, ast.Name)
        if place < len(items) and named and is_new(t, node.value, items[place], since):
            item = items[place]
            if isinstance(item, Elementwise) and storing.is_stored(t, item):
                items[place] = t.lasting(item)
            note(t, str(getattr(name, "id", "")), items[place])
    return replace(value, items=tuple(items)) if isinstance(value, TupleValue) else value


def note(t: Translation, name: str, value: Value) -> None:
    """A name gets something new."""
    memory = _memory(value)
    if memory is not None:
        t.owners.setdefault(memory, [(t.frame, name)])


def hand_over(t: Translation, name: str, value: Value) -> None:
    """A name gets what another one stood for, for the last time (`g = new`)."""
    t.owners[_memory(value)].append((t.frame, name))


def names(t: Translation) -> dict[int, str]:
    """What the user calls the arrays that the kernel makes."""
    return {
        memory[1]: name
        for memory, ((frame, name), *_) in t.owners.items()
        if memory[0] == "array" and frame.called_at is None
    }


def settled(t: Translation, name: str, value: Value) -> Value:
    """A computed array that has to be one with memory, as an array."""
    before = _tree(t, name).form
    if isinstance(before, ArrayRef) and vectors.is_vector(before):
        return value
    if not isinstance(value, Elementwise) or isinstance(value, View):
        whole = isinstance(value, ArrayRef) and not value.local
        if whole and isinstance(before, Elementwise) and not isinstance(before, View):
            storing.store(t, before)
        return value
    if storing.is_stored(t, value):
        return t.lasting(value)
    if isinstance(before, Elementwise | ArrayRef) and before is not value:
        if isinstance(before, Elementwise) and not isinstance(before, View):
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
    if before is None and (tree.flag is not None or isinstance(value, Growing)):
        return _own(t, name, value, span)
    if isinstance(before, ArrayRef) and vectors.is_vector(before):  # a copy that the name alone has
        if vectors.is_vector(value) or not _is_alike(t, before, value, span):
            return False
        refuse_seen(t, before.buffer, name, t.frame.after, span)
        parts.assign(t, before, value, span)
        tree.mark(t, span)
        return True
    if before == value or not isinstance(before, ArrayRef | Growing):
        return False
    if not _is_alone(t, name, before):
        return False
    if isinstance(before, Growing) and isinstance(value, Growing):
        lists.clear(t, before, span)
        lists.extend(t, before, value, lists.walked(t, span), span)
    elif (
        isinstance(value, ArrayRef)
        and isinstance(before, ArrayRef)
        and _is_alike(t, before, value, span)
    ):
        parts.assign(t, before, value, span)
    else:
        return False
    tree.mark(t, span)
    return True


def _own(t: Translation, name: str, value: Value, span: Span) -> bool:
    """Give a name memory of its own for what a loop makes anew in each iteration."""
    tree = _tree(t, name)
    if isinstance(value, Growing) and value.nesting > tree.nesting:
        kept: Value = lists.copied(t, value, span)
        assert isinstance(kept, Growing)
        kept.nesting = tree.nesting
    elif isinstance(value, ArrayRef) and t.inputs.made_at.get(value.buffer, 0) > tree.nesting:
        kept = fresh.whole_copy(t, value, span)
        t.inputs.made_at[kept.buffer] = tree.nesting
    else:
        return False
    note(t, name, kept)
    tree.write(t, kept, span)
    return True


def _is_alike(t: Translation, before: ArrayRef, value: Value, span: Span) -> bool:
    """Whether both have one type and may have one shape, which is then looked at."""
    if not elementwise.is_array(value) or elementwise.dtype_of(t, value, span) is not before.dtype:
        return False
    shapes = elementwise.shape_of(before), elementwise.shape_of(value)
    if len(shapes[0]) != len(shapes[1]):
        return False
    sizes = [tuple(map(t.inputs.alike, pair)) for pair in zip(*shapes, strict=True)]
    if any(linear.distance(one, other) not in (0, None) for one, other in sizes):
        return False
    for one, other in sizes:
        elementwise.fit(t, one, other, span, _OTHER_SIZE)
    return True
