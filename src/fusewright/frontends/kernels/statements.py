"""Statements: assignments, branches, loops, and leaving them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fusewright.base.errors import KernelError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    lists,
    owned,
    parts,
    records,
    spaces,
    storing,
    swaps,
    unassigned,
    vectors,
)
from fusewright.frontends.kernels.choices import test
from fusewright.frontends.kernels.context import Maybe, Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.liveness import Names, assigned, jumps, leaves
from fusewright.frontends.kernels.operators import BINARY, combine, operands
from fusewright.frontends.kernels.sharing import is_shared
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Growing,
    ListValue,
    Number,
    Record,
    TupleValue,
    Value,
    describe,
    described,
)
from fusewright.ir.expr import op
from fusewright.ir.loops.statements import If, Leave, Store

Tail = frozenset[int]
NO_TAIL: Tail = frozenset()
DEEPEST = 24
"""Blocks inside one another, beyond which a jump is better."""


def sequence(t: Translation, body: Sequence[ast.stmt], after: Names, tail: Tail) -> None:
    """Statements one after the other.

    What follows an `if` whose branch always leaves goes into its other branch, so that `continue`
    and `return` rarely need a jump; not where that would be too deep.
    """
    live = t.frame.liveness.between(body, after, *t.jumps(after))
    for place, node in enumerate(body):
        is_last = place + 1 == len(body)
        parts = isinstance(node, ast.If) and (jumps(node.body) or jumps(node.orelse))
        if isinstance(node, ast.If) and parts and not is_last and t.depth < DEEPEST:
            rest = list(body[place + 1 :])
            first, second = list(node.body), list(node.orelse)
            if not leaves(first):
                first += rest
            elif not leaves(second):
                second += rest
            branch(t, node, first, second, after, tail)
            return
        exchanged = swaps.rewritten(t, node, body[place + 1 :], after)
        if exchanged is not None:
            sequence(t, exchanged, after, tail)
            return
        t.statement(node, live[place + 1], tail if is_last else NO_TAIL)
        if isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
            return


def if_(t: Translation, node: ast.If, after: Names, tail: Tail) -> None:
    """`if`."""
    branch(t, node, node.body, node.orelse, after, tail)


def branch(
    t: Translation,
    node: ast.If,
    body: Sequence[ast.stmt],
    orelse: Sequence[ast.stmt],
    after: Names,
    tail: Tail,
) -> None:
    """A condition with two blocks."""
    condition = test(t, node.test)
    if condition.expr.name == "const":
        sequence(t, body if condition.expr.attr else orelse, after, tail)
        return
    kept = after | t.frame.liveness.always
    names = [n for n in assigned([*body, *orelse]) if n in kept or is_open(t, n)]
    slots = open_slots(t, names, node)
    env, sure = t.frame.env, [tree.assigned for tree in t.active]
    written, ends = [], []
    for part, holds in ((body, condition.expr), (orelse, op("logical_not", condition.expr))):
        t.frame.env = dict(env)
        for tree, before in zip(t.active, sure, strict=True):
            tree.assigned = before
        t.branches.append(holds)
        with t.block() as block:
            sequence(t, part, after, tail)
        t.branches.pop()
        written.append(tuple(block))
        if not leaves(part):
            ends.append([tree.assigned for tree in t.active])
    for place, tree in enumerate(t.active):
        tree.assigned = all(end[place] for end in ends) if ends else sure[place]
    t.frame.env = env
    t.write(If(condition.expr, written[0], written[1], t.span(node)))
    close_slots(t, slots, t.span(node))


def is_open(t: Translation, name: str) -> bool:
    """Whether a join around keeps this name in a variable."""
    binding = t.frame.env.get(name)
    return isinstance(binding, SlotTree) and binding.is_active(t)


def open_slots(t: Translation, names: Sequence[str], node: ast.AST) -> dict[str, SlotTree]:
    """Give names that paths join at a variable each, holding their present value."""
    opened: dict[str, SlotTree] = {}
    span = t.span(node)
    for name in names:
        if is_open(t, name):
            continue
        present = t.frame.env.get(name)
        tree = unassigned.reopened(present)
        if tree is None:
            tree = SlotTree(name, (*t.frame.instance, name, span), nesting=t.nesting)
            if present is None or isinstance(present, Maybe):
                unassigned.open_flag(t, t.frame, tree, span)
        if present is not None and not isinstance(present, Maybe):
            value = present.read(span) if isinstance(present, SlotTree) else present
            _start(t, tree, value, span)
        opened[name] = tree
        t.frame.env[name] = tree
        t.active.append(tree)
    return opened


def _start(t: Translation, tree: SlotTree, value: Value, span: Span) -> None:
    """The value a joined name starts with; a local array that will be replaced gets a place of its
    own.
    """
    if isinstance(value, ArrayRef) and vectors.is_vector(value):
        _refuse_alias(t, value, tree.name, span)
        write_array(t, tree, value, span)
    else:
        tree.write(t, value, span)


def write_array(t: Translation, tree: SlotTree, value: ArrayRef, span: Span) -> None:
    """Replace a local array where paths join: its elements are copied."""
    place = tree.form
    if place is None:
        tree.form = vectors.copy(t, value, span)
    elif (
        isinstance(place, ArrayRef)
        and vectors.is_vector(place)
        and vectors.shape_of(place) == vectors.shape_of(value)
        and place.dtype is value.dtype
    ):
        vectors.copy(t, value, span, place)
    else:
        raise KernelError(
            f"`{tree.name}` is {describe(value)} here and something else on another path",
            span,
            help="keep the shape and the element type",
        )
    tree.mark(t, span)


def _refuse_alias(t: Translation, value: ArrayRef, name: str, span: Span) -> None:
    for other, binding in t.frame.env.items():
        held = binding.form if isinstance(binding, SlotTree) else binding
        if other != name and isinstance(held, ArrayRef) and held.buffer == value.buffer:
            raise KernelError(
                f"`{other}` and `{name}` are one local array, and `{name}` is replaced on a path",
                span,
                why="local arrays that paths join at are kept by value",
                help=f"write {other} = {name}.copy()",
            )


def close_slots(t: Translation, slots: dict[str, SlotTree], span: Span) -> None:
    """The join is over: later assignments need no variable, and what some path left without a value
    has none.
    """
    closed = set(map(id, slots.values()))
    t.active = [tree for tree in t.active if id(tree) not in closed]
    for name, tree in slots.items():
        t.frame.env[name] = tree if tree.assigned else Maybe(span, tree)


# -- assignment ---------------------------------------------------------------------------------


def assign(t: Translation, node: ast.Assign, after: Names, tail: Tail) -> None:
    """`target = value`."""
    since = owned.now(t)
    value = t.expression(node.value)
    if len(node.targets) > 1:
        value = t.lasting(value)
    elif isinstance(node.targets[0], ast.Name):
        _assign_name(t, node.targets[0], value, node.value, owned.is_new(value, since))
        return
    for target in node.targets:
        _assign_to(t, target, value, node.value)


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
            raise KernelError(f"{len(items)} values for {len(target.elts)} names", span)
        fixed = [t.lasting(item) for item in items]
        for inner, item in zip(target.elts, fixed, strict=True):
            _assign_to(t, inner, item, origin)
    elif isinstance(target, ast.Subscript):
        value = _before(t, value, target)
        array, index = _owner(t, target)
        if isinstance(array, Growing):
            lists.set_item(t, array, index, value, span)
            return
        part = _place(t, target, array, index)
        if part.shape:
            parts.assign(t, elements.lasting(t, part, span), value, span)
        else:
            elements.store(t, part, as_number(t, value, t.span(origin)), span)
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


def _before(t: Translation, value: Value, target: ast.Subscript) -> Value:
    """The value is computed before the target's index, which may change what it reads."""
    acts = any(isinstance(inner, ast.Call) for inner in ast.walk(target))
    return t.lasting(value) if acts else value


def _assign_name(
    t: Translation, target: ast.Name, value: Value, origin: ast.AST, is_new: bool = False
) -> None:
    span = t.span(target)
    if is_new and is_open(t, target.id):
        value = owned.settled(t, target.id, value)
        if owned.replaced(t, target.id, value, span):
            return
    if is_new:
        owned.note(t, target.id, value)
    if vectors.is_vector(value):
        assert isinstance(value, ArrayRef)
        if is_open(t, target.id):
            tree = t.frame.env[target.id]
            assert isinstance(tree, SlotTree)
            write_array(t, tree, value, span)
            return
        if isinstance(origin, ast.Name) and is_open(t, origin.id):
            raise KernelError(
                f"`{target.id}` and `{origin.id}` would be one local array",
                span,
                why=f"`{origin.id}` is replaced on a path, and such arrays are kept by value",
                help=f"write {target.id} = {origin.id}.copy()",
            )
    t.bind(target.id, value, span)


def _owner(t: Translation, target: ast.Subscript) -> tuple[Value, Value]:
    """What an assignment writes a part of, and the index."""
    array, index = operands(t, [target.value, target.slice])
    if isinstance(array, ListValue):
        what = "an assignment to an item of a list"
        raise storing.needs_memory(t, array.span, KernelError(what, t.span(target)))
    return array, index


def _place(t: Translation, target: ast.Subscript, array: Value, index: Value) -> ArrayRef:
    """The element, or the part of an array, that an assignment writes."""
    if isinstance(array, Elementwise):
        storing.store(t, array)
    if not isinstance(array, ArrayRef):
        raise t.refuse(
            target,
            f"an assignment to a part of {described(array)}",
            why="it has no memory: its elements are computed where they are used",
            help="store it first, in an array that is an argument: w[:] = ...",
        )
    indices = index.items if isinstance(index, TupleValue) else (index,)
    return elements.indexed(t, array, indices, t.span(target))


def augmented(t: Translation, node: ast.AugAssign, after: Names, tail: Tail) -> None:
    """`target += value`: the target is read, the value computed, the target written."""
    span = t.span(node)
    if isinstance(node.target, ast.Name):
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        before, value = operands(t, [load, node.value])
        if vectors.is_vector(before) and not elementwise.is_array(value):
            _update_vector(t, node, before, value)
            return
        if isinstance(before, ArrayRef) and before.shape:
            parts.update(t, before, node.op, value, span)
            return
        if isinstance(before, ListValue | Growing) and isinstance(node.op, ast.Add):
            _extend(t, before, value, node)
            return
        result = combine(t, node.op, before, value, span)
        if isinstance(before, Elementwise):
            _keep_in_place(t, node.target, before, result)
        t.bind(node.target.id, result, span)
        return
    if isinstance(node.target, ast.Attribute):
        load_ = ast.Attribute(node.target.value, node.target.attr, ast.Load())
        before, value = operands(t, [ast.copy_location(load_, node.target), node.value])
        if isinstance(before, ArrayRef) and before.shape and not vectors.is_vector(before):
            parts.update(t, before, node.op, value, span)
            return
        _assign_to(t, node.target, combine(t, node.op, before, value, span), node)
        return
    array, index = _owner(t, node.target)
    if isinstance(array, Growing):
        index = t.lasting(index)
        before = lists.item(t, array, index, span)
        value = t.expression(node.value)
        lists.set_item(t, array, index, combine(t, node.op, before, value, span), span)
        return
    part = _place(t, node.target, array, index)
    if part.shape:
        parts.update(t, elements.lasting(t, part, span), node.op, t.expression(node.value), span)
        return
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
        refused = KernelError("a list that is made longer here", span)
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
    if shared or not alike:
        storing.store(t, before)
        raise KernelError(
            f"`{target.id}` is changed in place, and it is a computed array without memory",
            span,
            why="its size depends on what the kernel computes; "
            + ("another name may stand for it, too" if shared else "the result is of another type"),
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
        raise KernelError("the result has another shape than the local array", span)
    vectors.copy(t, result, span, before)


# -- the rest -----------------------------------------------------------------------------------


def expression_statement(t: Translation, node: ast.Expr, after: Names, tail: Tail) -> None:
    """A call for its effect, or a docstring."""
    if not isinstance(node.value, ast.Constant):
        t.discarded = node.value
        t.expression(node.value)


def pass_(t: Translation, node: ast.Pass, after: Names, tail: Tail) -> None:
    """`pass`."""


def break_(t: Translation, node: ast.Break, after: Names, tail: Tail) -> None:
    """`break`."""
    loop = t.frame.loops[-1]
    loop.breaks = True
    loop.sure.append([tree.assigned for tree in t.active])
    t.write(Leave(loop.break_label, t.span(node)))


def continue_(t: Translation, node: ast.Continue, after: Names, tail: Tail) -> None:
    """`continue`."""
    loop = t.frame.loops[-1]
    if loop.continue_label not in tail:
        loop.continues = True
        t.write(Leave(loop.continue_label, t.span(node)))
