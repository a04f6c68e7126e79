"""Assignments: to names, elements, parts of arrays, items of lists, attributes."""

from __future__ import annotations

import ast

from fusewright.base.errors import KernelArrayError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    fresh,
    gathering,
    lists,
    owned,
    parts,
    records,
    spaces,
    storing,
    vectors,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.liveness import Names
from fusewright.frontends.kernels.names import bind
from fusewright.frontends.kernels.operators import BINARY, combine, operands
from fusewright.frontends.kernels.sharing import is_shared
from fusewright.frontends.kernels.statements import is_open, write_array
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Growing,
    ListValue,
    Number,
    Record,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir.loops.statements import Store

Tail = frozenset[int]


def assign(t: Translation, node: ast.Assign, after: Names, tail: Tail) -> None:
    """`target = value`."""
    since = owned.now(t)
    value = t.expression(node.value)
    target = node.targets[0]
    if len(node.targets) > 1:
        value = t.lasting(value)
    elif isinstance(target, ast.Name):
        is_new = owned.is_new(t, node.value, value, since)
        _assign_owned(t, node, target, value, is_new, after)
        return
    else:
        value = owned.note_items(t, node, value, since)
    for target in node.targets:
        _assign_to(t, target, value, node.value)


def _assign_owned(
    t: Translation, node: ast.Assign, target: ast.Name, value: Value, is_new: bool, after: Names
) -> None:
    """A name may get what nothing else stands for: such an array can be copied where paths meet."""
    is_joined, is_last = is_open(t, target.id), owned.is_last_use(t, node.value, value, after)
    if is_joined and (is_new or is_last):
        value = owned.settled(t, target.id, value)
        if owned.replaced(t, target.id, value, t.span(target)):
            return
    elif isinstance(value, Elementwise) and storing.is_stored(t, value):
        value = t.lasting(value)
    if is_new:
        owned.note(t, target.id, value)
    elif is_last and not is_joined:
        owned.hand_over(t, target.id, value)
    _assign_name(t, target, value, node.value)


def annotated(t: Translation, node: ast.AnnAssign, after: Names, tail: Tail) -> None:
    """`target: type = value`: the annotation means nothing, as in Python."""
    if node.value is not None:
        _assign_to(t, node.target, t.expression(node.value), node.value)


def _assign_to(t: Translation, target: ast.expr, value: Value, origin: ast.AST) -> None:
    span = t.span(target)
    if isinstance(target, ast.Name):
        _assign_name(t, target, value, origin)
    elif isinstance(target, ast.Tuple | ast.List):
        if elementwise.is_array(value):
            value = TupleValue(tuple(elementwise.unpacked(t, value, len(target.elts), span)))
        items = elements.items_of(t, value, origin)
        if len(items) != len(target.elts):
            raise KernelArrayError(f"{len(items)} values for {len(target.elts)} names", span)
        fixed = [t.lasting(item) for item in items]
        for inner, item in zip(target.elts, fixed, strict=True):
            _assign_to(t, inner, item, origin)
    elif isinstance(target, ast.Subscript):
        _assign_subscript(t, target, value, t.span(origin))
    elif isinstance(target, ast.Attribute) and target.attr == "flat":
        array = t.expression(target)
        if not isinstance(array, View):
            raise t.refuse(target, "an assignment to the elements of what has no memory")
        parts.assign(t, array, value, span)
    elif isinstance(target, ast.Attribute) and isinstance(
        owner := t.expression(target.value), Record
    ):
        records.assign(t, owner, target, value)
    else:
        raise t.refuse(
            target,
            "an assignment to an attribute",
            why="an object's attributes are arguments; only elements of arrays can be written",
            help="use an array without dims, written as self.x[()] = value",
        )


def _assign_subscript(t: Translation, target: ast.Subscript, value: Value, origin: Span) -> None:
    """`a[i] = value`."""
    value, span = _before(t, value, target), t.span(target)
    array, index = _owner(t, target)
    if isinstance(array, Growing):
        lists.set_item(t, array, index, value, span)
        return
    indices = gathering.indices_of(index)
    if any(map(gathering.is_array, indices)):
        gathering.assign(t, _with_memory(t, array, span), indices, value, target)
        return
    part = _place(t, target, array, index)
    if part.shape:
        _assign_part(t, part, value, span)
    else:
        assert isinstance(part, ArrayRef)
        elements.store(t, part, as_number(t, value, origin), span)


def _with_memory(t: Translation, array: Value, span: Span) -> Value:
    """What is written: a computed array with memory of its own."""
    if isinstance(array, Elementwise) and not isinstance(array, View):
        _refuse_live(array, span)
        storing.store(t, array)
    return array


def _refuse_live(array: Elementwise, span: Span) -> None:
    if array.live:
        raise KernelArrayError(
            "the real or imaginary part of an array is written to",
            span,
            why="a complex number is stored as one",
            help="write the whole: z[i] = complex(x, z[i].imag)",
        )


def _assign_part(t: Translation, part: ArrayRef | View, value: Value, span: Span) -> None:
    """`a[1:] = value`: what the elements are computed from is copied before, where no order of
    them would do.
    """
    try:
        parts.assign(t, part, value, span)
    except parts.Overlap:
        if not isinstance(value, ArrayRef | Elementwise):
            raise
        parts.assign(t, part, fresh.copied(t, value, None, span), span)


def _update_part(
    t: Translation, part: ArrayRef | View, sign: ast.operator, value: Value, span: Span
) -> None:
    try:
        parts.update(t, part, sign, value, span)
    except parts.Overlap:
        if not isinstance(value, ArrayRef | Elementwise):
            raise
        parts.update(t, part, sign, fresh.copied(t, value, None, span), span)


def _before(t: Translation, value: Value, target: ast.Subscript) -> Value:
    """The value is computed before the target's index, which may change what it reads."""
    acts = any(isinstance(inner, ast.Call) for inner in ast.walk(target))
    return t.lasting(value) if acts else value


def _assign_name(t: Translation, target: ast.Name, value: Value, origin: ast.AST) -> None:
    span = t.span(target)
    if vectors.is_vector(value):
        assert isinstance(value, ArrayRef)
        if is_open(t, target.id):
            tree = t.frame.env[target.id]
            assert isinstance(tree, SlotTree)
            write_array(t, tree, value, span)
            return
        if isinstance(origin, ast.Name) and is_open(t, origin.id):
            raise KernelArrayError(
                f"`{target.id}` and `{origin.id}` would be one local array",
                span,
                why=f"`{origin.id}` is replaced on a path, and such arrays are kept by value",
                help=f"write {target.id} = {origin.id}.copy()",
            )
    bind(t, target.id, value, span)


def _owner(t: Translation, target: ast.Subscript) -> tuple[Value, Value]:
    """What an assignment writes a part of, and the index."""
    array, index = operands(t, [target.value, target.slice])
    if isinstance(array, ListValue):
        what = "an assignment to an item of a list"
        raise storing.needs_memory(t, array.span, KernelArrayError(what, t.span(target)))
    return array, index


def _place(t: Translation, target: ast.Subscript, array: Value, index: Value) -> ArrayRef | View:
    """The element, or the part of an array, that an assignment writes."""
    indices = gathering.indices_of(index)
    if isinstance(array, View):
        return elementwise.place(t, array, indices, t.span(target))
    _with_memory(t, array, t.span(target))
    if not isinstance(array, ArrayRef):
        raise t.refuse(
            target,
            f"an assignment to a part of {described(array)}",
            why="it has no memory: its elements are computed where they are used",
            help="store it first, in an array that is an argument: w[:] = ...",
        )
    if elementwise.has_steps(indices):
        found = elementwise.part(t, array, indices, t.span(target))
        assert isinstance(found, View)
        return found
    part = elements.indexed(t, array, indices, t.span(target))
    return elements.lasting(t, part, t.span(target)) if part.shape else part


def augmented(t: Translation, node: ast.AugAssign, after: Names, tail: Tail) -> None:
    """`target += value`: the target is read, the value computed, the target written."""
    if isinstance(node.target, ast.Name):
        _augmented_name(t, node, node.target)
    elif isinstance(node.target, ast.Attribute):
        _augmented_attribute(t, node, node.target)
    else:
        _augmented_part(t, node, node.target)


def _augmented_name(t: Translation, node: ast.AugAssign, target: ast.Name) -> None:
    span = t.span(node)
    load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    before, value = operands(t, [load, node.value])
    if vectors.is_vector(before) and not elementwise.is_array(value):
        _update_vector(t, node, before, value)
        return
    if isinstance(before, ArrayRef | View) and before.shape:
        _update_part(t, before, node.op, value, span)
        return
    if isinstance(before, ListValue | Growing) and isinstance(node.op, ast.Add):
        _extend(t, before, value, node)
        return
    result = combine(t, node.op, before, value, span)
    if isinstance(before, Elementwise):
        _refuse_live(before, span)
        _keep_in_place(t, target, before, result)
    bind(t, target.id, result, span)


def _augmented_attribute(t: Translation, node: ast.AugAssign, target: ast.Attribute) -> None:
    span = t.span(node)
    load = ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    before, value = operands(t, [load, node.value])
    if isinstance(before, ArrayRef | View) and before.shape and not vectors.is_vector(before):
        _update_part(t, before, node.op, value, span)
        return
    _assign_to(t, target, combine(t, node.op, before, value, span), node)


def _augmented_part(t: Translation, node: ast.AugAssign, target: ast.Subscript) -> None:
    span = t.span(node)
    array, index = _owner(t, target)
    if isinstance(array, Growing):
        index = t.lasting(index)
        item = lists.item(t, array, index, span)
        value = t.expression(node.value)
        lists.set_item(t, array, index, combine(t, node.op, item, value, span), span)
        return
    if any(map(gathering.is_array, gathering.indices_of(index))):
        array = _with_memory(t, array, span)
        gathering.update(
            t, array, gathering.indices_of(index), node.op, t.expression(node.value), target
        )
        return
    part = _place(t, target, array, index)
    if part.shape:
        _update_part(t, part, node.op, t.expression(node.value), span)
        return
    assert isinstance(part, ArrayRef)
    with t.block() as written:
        value = t.expression(node.value)
    if written:  # what the element held before is read first
        part = elements.lasting(t, part, span)
        before = t.fixed(elements.read(t, part, span))
    else:
        before = elements.read(t, part, span)
    t.out += written
    result = as_number(t, combine(t, node.op, before, value, span), span)
    _update(t, node, part, before, result, span)


def _extend(t: Translation, before: Value, value: Value, node: ast.AugAssign) -> None:
    """`l += [x]` makes the list itself longer."""
    span = t.span(node)
    if isinstance(before, ListValue):
        refused = KernelArrayError("a list that is made longer here", span)
        raise storing.needs_memory(t, before.span, refused)
    assert isinstance(before, Growing)
    lists.extend(t, before, value, spaces.walk(t, node.value), span)


def _keep_in_place(t: Translation, target: ast.Name, before: Elementwise, result: Value) -> None:
    """`y += v` of a computed array changes the array itself: it needs memory where that can be told
    from a new one under the name.
    """
    shared = is_shared(t.frame.source.tree, target.id)
    span = t.span(target)
    alike = isinstance(result, Elementwise) and (
        elementwise.dtype_of(t, result, span) is elementwise.dtype_of(t, before, span)
        and tuple(map(t.inputs.alike, result.shape)) == tuple(map(t.inputs.alike, before.shape))
    )
    if shared or not alike or before.origin is not None:
        storing.store(t, before)
        raise KernelArrayError(
            f"`{target.id}` is changed in place, and it is a computed array without memory",
            span,
            why="its size depends on what the kernel computes; "
            + (
                "the result is of another type"
                if not alike
                else "another name may stand for it, too"
            ),
            help=f"give the result a name of its own, or compute it in a work array: "
            f"w[:len({target.id})] = ...",
        )


def _update(
    t: Translation, node: ast.AugAssign, part: ArrayRef, before: Number, result: Number, span: Span
) -> None:
    """An update in one step where the operation is done in the element's own type."""
    name = BINARY[type(node.op)][0]
    expr = result.expr
    whole = expr.name == name and expr.dtype is part.dtype and len(expr.args) == 2
    if whole and expr.args[0] is before.expr and before.expr.name == "load":
        elements.writable(t, part, span)
        t.write(Store(part.buffer, part.indices, expr.args[1], name, span))
    else:
        elements.store(t, part, result, span)


def _update_vector(t: Translation, node: ast.AugAssign, before: Value, value: Value) -> None:
    """`v += w` writes into v itself."""
    span = t.span(node)
    assert isinstance(before, ArrayRef)
    result = combine(t, node.op, before, value, span)
    assert isinstance(result, ArrayRef)
    if vectors.shape_of(result) != vectors.shape_of(before):
        raise KernelArrayError("the result has another shape than the local array", span)
    vectors.copy(t, result, span, before)
