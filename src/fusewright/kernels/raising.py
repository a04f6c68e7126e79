"""Loops that are array statements: which those are, and the operations they record.

A nest is raised where every iteration touches places no other iteration writes, and where each
index is a constant plus a multiple of one loop variable.  Then running statement after statement
for all iterations is running iteration after iteration:

    for i in range(1, n - 1):          t = 0.5 * (a[0:n-2] + a[2:n])
        t = 0.5 * (a[i-1] + a[i+1])    b[1:n-1] = t
        b[i] = t

Every operation is the one the loop would run, on the same operands, so the bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fusewright.base.source import Span
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, load, typed_op
from fusewright.ir.graph import ASSEMBLE, IOTA, REDUCE
from fusewright.ir.loops.statements import (
    For,
    If,
    Kernel,
    Let,
    Statement,
    Store,
    walk,
)
from fusewright.ir.ops import MAP
from fusewright.kernels.iteration import Loops, NotRaised, Part, Shape, Variable
from fusewright.kernels.places import Access, Form, Known, all_keep_order, decided, form_of
from fusewright.kernels.recipe import Recipe, Step, Writing
from fusewright.kernels.reductions import FOLDS, Collected, collected
from fusewright.kernels.splitting import Nest, keep_together

MOST_STEPS = 400
"""More operations than this stay a kernel: its code grows with its text, theirs much faster."""


def raise_kernel(
    kernel: Kernel,
    parts: Mapping[int, Part],
    arrays: Writing,
    parameters: Mapping[int, int],
    shapes: Sequence[Shape],
) -> Recipe:
    """The recipe of a call, or `NotRaised`.

    `parts` says where the given buffers lie, `parameters` the integers that are known (extents, and
    numbers that indices and bounds need), `shapes` those of the arrays.
    """
    return _Raising(kernel, parts, arrays, parameters, shapes).run()


class _Raising:
    def __init__(
        self,
        kernel: Kernel,
        parts: Mapping[int, Part],
        arrays: Writing,
        parameters: Mapping[int, int],
        shapes: Sequence[Shape],
    ) -> None:
        self.kernel, self.parts, self.parameters = kernel, parts, parameters
        self.writing, self.shapes = arrays, shapes
        self.versions = {number: number for number in range(len(shapes))}
        self.variables: dict[int, Variable] = {}
        self.accesses: list[Access] = []
        self.box: dict[int, tuple[int, int]] = {}
        self.declared: set[int] = set()
        self.sums: dict[int, Collected] = {}
        self.totals: dict[int, int] = {}
        self.loops = 0

    def run(self) -> Recipe:
        nests: list[Nest] = []
        for statement in self.kernel.body:
            self.accesses, self.box = [], {}
            self.block((statement,), Loops())
            wrong = all_keep_order(self.accesses, self.box, self.declared)
            if wrong is not None:
                raise NotRaised("iterations meet at one place", wrong.span)
            nests.append(Nest(self.box, self.accesses))
        keep_together(nests, self.writing.types)
        writes = {array: now for array, now in self.versions.items() if now != array}
        recipe = self.writing.finish(writes, self.loops)
        if len(recipe.steps) > MOST_STEPS:
            raise NotRaised(f"it has {len(recipe.steps)} operations")
        return recipe

    def block(self, body: Sequence[Statement], loops: Loops) -> None:
        for statement in body:
            act = _STATEMENTS.get(type(statement))
            if act is None:
                kind = type(statement).__name__.lower()
                raise NotRaised(_WORDS.get(kind, kind), statement.span)
            act(self, statement, loops)

    # -- statements -----------------------------------------------------------------------------

    def for_(self, statement: For, loops: Loops) -> None:
        known = self.known(loops)
        box: dict[int, tuple[int, int]] = {}
        for dim in statement.dims:
            low, high = form_of(dim.low, known), form_of(dim.high, known)
            if low is None or high is None or low.factors or high.factors:
                raise NotRaised("its bounds are not numbers known at the call", statement.span)
            box[dim.index] = (low.constant, max(0, high.constant - low.constant))
        if statement.declared:
            self.declared.update(box)
        changed = {s.local for s in walk(statement.body) if isinstance(s, Let)}
        sums = {n: each for n, each in collected(statement).items() if n in self.variables}
        before = {number: self.variables[number] for number in sums}
        self.forget(changed)
        self.loops += 1
        if all(count for _, count in box.values()):
            self.box |= box
            outer, self.sums = self.sums, {**self.sums, **sums}
            self.block(statement.body, self.inner(loops, box))
            self.sums = outer
            self.forget(changed)
            for number, each in sums.items():
                self.variables[number] = self.added(number, each.op, before[number], loops)
        else:
            self.variables |= before

    def collect(self, statement: Let, loops: Loops) -> None:
        """What an iteration adds to a variable."""
        each = self.sums[statement.local]
        value = self.value(each.value, loops, statement.span)
        nothing = FOLDS[each.op][1]
        if loops.mask is not None:
            if nothing is None:
                raise NotRaised("an extreme of some iterations only", statement.span)
            dtype = statement.value.dtype
            value = self.writing.map(
                "where", dtype, loops.mask, value, self.writing.constant(nothing, dtype)
            )
        places = tuple((dim, 0, 1) for dim in range(len(self.writing.types[value][1])))
        self.totals[statement.local] = self.writing.view(value, places, loops.shape)

    def added(self, number: int, op: str, before: Variable, loops: Loops) -> Variable:
        """A variable after the loop that adds to it."""
        total = self.totals.pop(number, None)
        if total is None:  # no iteration came that far
            return before
        dtype, shape = self.writing.types[total]
        axes = tuple(range(len(loops.box), len(shape)))
        folded = Step(REDUCE, FOLDS[op][0], (total,), dtype, loops.shape, (axes, False))
        value = self.writing.map(op, dtype, self.spread(before, loops), self.writing.step(folded))
        return Variable(value, None)

    def inner(self, outer: Loops, box: Mapping[int, tuple[int, int]]) -> Loops:
        loops = Loops({**outer.box, **box})
        if outer.mask is not None:
            loops.mask = self.over(outer.mask, loops)
        return loops

    def forget(self, variables: set[int]) -> None:
        """What a loop changes is not known before and after it: nothing may be handed on."""
        for number in variables:
            self.variables.pop(number, None)

    def let(self, statement: Let, loops: Loops) -> None:
        if statement.local in self.sums:
            return self.collect(statement, loops)
        form = form_of(statement.value, self.known(loops))
        try:
            value = self.value(statement.value, loops, statement.span)
        except NotRaised:
            if form is None:
                raise
            value = None
        self.variables[statement.local] = Variable(value, form)
        return None

    def if_(self, statement: If, loops: Loops) -> None:
        answer = decided(statement.condition, self.known(loops))
        if answer is not None:
            return self.block(statement.body if answer else statement.orelse, loops)
        condition = self.value(statement.condition, loops, statement.span)
        before = dict(self.variables)
        self.under(condition, statement.body, loops)
        first, self.variables = self.variables, before
        if statement.orelse:
            self.under(self.map("logical_not", condition), statement.orelse, loops)
        self.variables = self.joined(condition, first, self.variables, loops)
        return None

    def under(self, condition: int, body: Sequence[Statement], loops: Loops) -> None:
        """Run statements where a condition holds."""
        if loops.mask is not None:
            condition = self.map("logical_and", loops.mask, condition)
        self.block(body, Loops(loops.box, condition))

    def joined(
        self,
        condition: int,
        first: dict[int, Variable],
        second: dict[int, Variable],
        loops: Loops,
    ) -> dict[int, Variable]:
        """The variables after a branch; one that only one side knows is not known."""
        both: dict[int, Variable] = {}
        for number in first.keys() & second.keys():
            a, b = first[number], second[number]
            if a == b:
                both[number] = a
            elif a.value is not None and b.value is not None:
                x, y = self.spread(a, loops), self.spread(b, loops)
                dtype = self.kernel.locals[number].dtype
                chosen = self.writing.map("where", dtype, condition, x, y)
                both[number] = Variable(chosen, None)
        return both

    def store(self, statement: Store, loops: Loops) -> None:
        part = self.parts.get(statement.buffer)
        if part is None:
            raise NotRaised("it keeps values in a local array", statement.span)
        value, dtype = statement.value, statement.value.dtype
        if statement.combine:
            here = load(statement.buffer, statement.indices, dtype)
            value = typed_op(statement.combine, dtype, here, value)
        stored = self.value(value, loops, statement.span)
        forms = self.indices(statement.buffer, statement.indices, loops, statement.span, True)
        if loops.mask is not None:
            old = self.read(part.array, forms, loops, statement.span)
            stored = self.writing.map("where", dtype, loops.mask, stored, old)
        self.write(part.array, forms, stored, loops, statement.span)

    def write(
        self, array: int, forms: tuple[Form, ...], value: int, loops: Loops, span: Span
    ) -> None:
        """A new version of an array: the value at these places."""
        order: dict[int, tuple[int, int, int]] = {}
        where, extents = [], []
        variables = list(loops.box)
        for dim, form in enumerate(forms):
            start, step, count, variable = self.slice(form, loops, self.shapes[array][dim], span)
            if variable is not None:
                backwards = step < 0
                order[variable] = (dim, count - 1 if backwards else 0, -1 if backwards else 1)
                start, step = (start + step * (count - 1), -step) if backwards else (start, step)
            where.append((start, step if count > 1 else 1))
            extents.append(count)
        if len(order) < len(variables):
            raise NotRaised("several iterations write to one place", span)
        shape = tuple(extents)
        places = tuple(order[v] for v in variables) if self.writing.types[value][1] else ()
        piece = self.writing.view(value, places, shape)
        if shape == self.shapes[array] and all(place == (0, 1) for place in where):
            self.versions[array] = piece
            return
        old = self.versions[array]
        attr = (((0, 1),) * len(shape), tuple(where))
        dtype = self.writing.types[old][0]
        self.versions[array] = self.writing.step(
            Step(ASSEMBLE, "", (old, piece), dtype, self.shapes[array], attr)
        )

    # -- expressions ----------------------------------------------------------------------------

    def known(self, loops: Loops) -> Known:
        forms = {n: v.form for n, v in self.variables.items() if v.form is not None}
        return Known(self.parameters, forms, loops.box)

    def map(self, op: str, *args: int) -> int:
        return self.writing.map(op, BOOL, *args)

    def value(self, root: Expr, loops: Loops, span: Span) -> int:
        """The value of an expression over the loops around it (or without dims)."""
        memo: dict[Expr, int] = {}
        for expr in self.order(root):
            memo[expr] = self.one(expr, memo, loops, span)
        return memo[root]

    def order(self, root: Expr) -> list[Expr]:
        """Operands first; indices of loads are no values."""
        found: dict[Expr, None] = {}
        stack = [(root, False)]
        while stack:
            expr, ready = stack.pop()
            if ready:
                found[expr] = None
            elif expr not in found:
                stack.append((expr, True))
                stack += [(arg, False) for arg in expr.args if expr.name != "load"]
        return list(found)

    def one(self, expr: Expr, memo: dict[Expr, int], loops: Loops, span: Span) -> int:
        if expr.name == "const":
            return self.writing.constant(expr.attr, expr.dtype)
        if expr.name == "param":
            if self.kernel.arguments[expr.attr].what == "scalar":
                return self.writing.number(expr.attr, expr.dtype)
            return self.writing.constant(self.parameters[expr.attr], INT64)
        if expr.name == "index":
            return self.counter(expr.attr, loops)
        if expr.name == "local":
            variable = self.variables.get(expr.attr)
            if variable is None or (variable.value is None and variable.form is None):
                name = self.kernel.locals[expr.attr].name
                raise NotRaised(f"`{name}` goes from one iteration to the next", span)
            return self.spread(variable, loops)
        if expr.name == "load":
            return self.load(expr, loops, span)
        if expr.name not in MAP:
            raise NotRaised(f"{expr.name} is no operation of arrays", span)
        return self.writing.map(expr.name, expr.dtype, *(memo[arg] for arg in expr.args))

    def counter(self, variable: int, loops: Loops) -> int:
        """A loop variable as a value."""
        first, count = loops.box[variable]
        args = (self.writing.constant(first, INT64), self.writing.constant(1, INT64))
        row = self.writing.step(Step(IOTA, "", args, INT64, (count,)))
        dim = list(loops.box).index(variable)
        return self.writing.view(row, ((dim, 0, 1),), loops.shape)

    def spread(self, variable: Variable, loops: Loops) -> int:
        """A variable's value in the loops of its use."""
        if variable.value is None:
            raise NotRaised("an index is used as a value here")
        return self.over(variable.value, loops)

    def over(self, value: int, loops: Loops) -> int:
        """A value of outer loops, repeated in the inner ones."""
        shape = self.writing.types[value][1]
        if shape == loops.shape or not shape:
            return value
        places = tuple((dim, 0, 1) for dim in range(len(shape)))
        return self.writing.view(value, places, loops.shape)

    def load(self, expr: Expr, loops: Loops, span: Span) -> int:
        part = self.parts.get(expr.attr)
        if part is None:
            raise NotRaised("it keeps values in a local array", span)
        forms = self.indices(expr.attr, expr.args, loops, span, False)
        return self.read(part.array, forms, loops, span)

    def read(self, array: int, forms: tuple[Form, ...], loops: Loops, span: Span) -> int:
        variables = list(loops.box)
        places = []
        for dim, form in enumerate(forms):
            start, step, _, variable = self.slice(form, loops, self.shapes[array][dim], span)
            out = -1 if variable is None else variables.index(variable)
            places.append((out, start, step if variable is not None else 0))
        used = [out for out, _, _ in places if out >= 0]
        if len(used) > len(set(used)):
            raise NotRaised("two indices follow one loop", span)
        return self.writing.view(self.versions[array], tuple(places), loops.shape)

    def indices(
        self, buffer: int, indices: Sequence[Expr], loops: Loops, span: Span, writes: bool
    ) -> tuple[Form, ...]:
        """The places in the array that a buffer is a slice of."""
        part, known = self.parts[buffer], self.known(loops)
        own: list[Form] = []
        for dim, expr in enumerate(indices):
            form = form_of(expr, known)
            if form is None:
                raise NotRaised("an index is computed from values", span)
            low, high = form.reach(loops.box)
            if low < 0 or high >= part.shape[dim]:
                raise NotRaised("an index may lie outside the array", span)
            own.append(form)
        forms = tuple(
            Form(start) if out < 0 else own[out].scaled(step).plus(Form(start))
            for out, start, step in part.places
        )
        self.accesses.append(Access(part.array, forms, tuple(loops.box), writes, span))
        return forms

    def slice(
        self, form: Form, loops: Loops, extent: int, span: Span
    ) -> tuple[int, int, int, int | None]:
        """A place as the start, step and count of one loop variable, or of none."""
        if not form.factors:
            return form.constant, 0, 1, None
        if len(form.factors) > 1:
            raise NotRaised("an index follows several loops", span)
        ((variable, factor),) = form.factors
        first, count = loops.box[variable]
        return form.constant + factor * first, factor, count, variable


_STATEMENTS: dict[type, Callable[..., None]] = {
    For: _Raising.for_,
    Let: _Raising.let,
    If: _Raising.if_,
    Store: _Raising.store,
}
_WORDS = {
    "while": "it contains a loop whose length is not known",
    "block": "an iteration may end early",
    "leave": "it may be left early",
    "print": "lines are printed in order",
    "check": "indices are checked in order",
}
