"""Variables where paths meet: what a loop carries and what a branch decides.

A name that several paths assign, and that is read afterwards, lives in a mutable variable from the
join's start on.  A tuple lives in one variable for each item.
"""

from __future__ import annotations

from typing import Any

from fusewright.base.errors import KernelError, KernelPathError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import storing, types
from fusewright.frontends.kernels.context import Assignable, Translation
from fusewright.frontends.kernels.types import Held
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Growing,
    ListValue,
    Number,
    TupleValue,
    Value,
    describe,
    described,
)
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import const, local
from fusewright.ir.loops.statements import Let

NEW_ARRAY = "a new array"
"""What messages call one."""


@dataclass(slots=True)
class Slot:
    """A mutable variable; `number` is None until something was stored, `key` finds its type again
    when the kernel is translated anew.
    """

    name: str
    key: Any
    number: int | None = None
    held: Held | None = None
    refused: KernelError | None = None

    @staticmethod
    def expected(t: Translation, name: str, key: Any, refused: KernelError) -> Slot:
        """One that is read in a loop before the text gives it a value: some number, of a type found
        out later; `refused` is the error if it is no number.
        """
        known: Held | None = t.guesses.get(key)
        held = known or Held(INT64, "python", None, ("", 0, 0, 0))
        number = t.new_local(name, held.dtype, True)
        return Slot(name, key, number, held, None if known else refused)

    def read(self, span: Span) -> Number:
        assert self.number is not None and self.held is not None
        return Number(local(self.number, self.held.dtype), self.held.origin, span)

    def adopts(self, t: Translation, number: Number) -> bool:
        """Whether the variable, given literals only so far, takes the type of what it meets."""
        wide = self.held.takes(number) if self.held and self.held.literals else None
        if wide is not None:
            t.guesses[self.key] = wide
        return wide is not None

    def write(self, t: Translation, number: Number) -> None:
        if self.held is None:
            self.held = t.guesses.get(self.key) or types.held(number)
            self.number = t.new_local(self.name, self.held.dtype, True)
        assert self.number is not None
        wide = types.held(number) if self.refused else self.held.takes(number)
        self.refused = None
        if wide is None:
            raise types.conflict(self.name, self.held, number)
        if (wide.dtype, wide.origin) != (self.held.dtype, self.held.origin):
            t.retyping.widen(self.number, number.expr)
            t.guesses[self.key] = wide
            self.number = t.new_local(self.name, wide.dtype, True)
        self.held = wide
        t.retyping.slots[self.number] = self
        value = types.converted(number, self.held.dtype, number.span)
        t.write(Let(self.number, value, number.span))


@dataclass(slots=True)
class SlotTree(Assignable):
    """What a joined name is bound to: a variable, a tuple of trees, or a value no path changes.

    The variable `flag`, where there is one, says while the kernel runs whether it has a value;
    `owner` finds that need again when the kernel is translated anew.  `nesting` is how many loops
    are around its join, `place` which join that is (`apart`).
    """

    name: str
    key: Any
    form: Slot | list[SlotTree] | Value | None = None
    assigned: bool = False
    flag: int | None = None
    owner: Any = None
    nesting: int = 0
    place: Any = None

    def mark(self, t: Translation, span: Span) -> None:
        """It has a value from here on."""
        self.assigned = True
        if self.flag is not None:
            t.write(Let(self.flag, const(True, BOOL), span))

    def read(self, span: Span) -> Value:
        """The present value."""
        form = self.form
        if isinstance(form, Slot):
            return form.read(span)
        if isinstance(form, list):
            return TupleValue(tuple(item.read(span) for item in form))
        assert form is not None
        return form

    def is_active(self, t: Translation) -> bool:
        """Whether a join that needs the variable is still open."""
        return any(tree is self for tree in t.active)

    def write(self, t: Translation, value: Value, span: Span) -> None:
        """Give it a value."""
        if isinstance(value, ListValue):
            what = f"`{self.name}` is a list where paths meet, or is returned"
            raise storing.needs_memory(
                t, value.span, KernelPathError(what, span, help="write a tuple")
            )
        if isinstance(value, TupleValue):
            fixed = [t.fixed(v) if isinstance(v, Number) else v for v in value.items]
            value = TupleValue(tuple(fixed))
        t.paths.meeting = self.place
        self._store(t, value, span)
        t.paths.meeting = None
        self.mark(t, span)

    def _store(self, t: Translation, value: Value, span: Span) -> None:
        form = self.form
        if form is None and isinstance(value, Number):
            form = self.form = Slot(self.name, self.key)
        if form is None and isinstance(value, TupleValue):
            form = self.form = [
                SlotTree(f"{self.name}.{n}", (*self.key, n), nesting=self.nesting)
                for n in range(len(value.items))
            ]
        if self._outlives(t, value):
            kind, instead = "an array", f"{self.name}[:] = ..."
            if isinstance(value, Growing):
                kind, instead = "a list", f"{self.name}.clear(), {self.name}.extend(...)"
            raise KernelPathError(
                f"`{self.name}` keeps {kind} beyond the iteration that makes it",
                span,
                why=f"{kind} that a loop makes is the same memory in each iteration",
                help=f"keep {kind} that is made before the loop: {instead}",
            )
        if isinstance(form, Slot) and form.refused and not isinstance(value, Number):
            raise form.refused
        if isinstance(form, Slot) and isinstance(value, Number):
            form.write(t, value)
        elif isinstance(form, list) and isinstance(value, TupleValue):
            if len(form) != len(value.items):
                raise self._differs(t, value, span)
            for tree, item in zip(form, value.items, strict=True):
                tree._store(t, item, span)
        elif form is None:
            self.form = value
        elif isinstance(form, Slot | list) or form != value:
            raise self._differs(t, value, span)

    def _outlives(self, t: Translation, value: Value) -> bool:
        """Whether the value's memory is another iteration's before the name ends."""
        if isinstance(value, Growing):
            return value.nesting > self.nesting
        if not isinstance(value, ArrayRef) or self.flag is None:
            return False
        return t.inputs.made_at.get(value.buffer, 0) > self.nesting

    def _differs(self, t: Translation, value: Value, span: Span) -> KernelPathError:
        before = self.form
        text = "a tuple" if isinstance(before, list) else "a number"
        if not isinstance(before, list | Slot) and before is not None:
            text = described(before)
        arrays = isinstance(value, ArrayRef | Elementwise)
        both = arrays and isinstance(before, ArrayRef | Elementwise)
        is_made = isinstance(value, Elementwise) or (
            isinstance(value, ArrayRef) and value.name == NEW_ARRAY
        )
        if isinstance(before, ArrayRef) and is_made and before.buffer not in t.inputs.made:
            advice = (
                f"begin with an array of its own, which is copied into: {self.name} = ....copy()"
            )
        elif is_made:
            advice = f"keep it in an array that is an argument: {self.name}[:] = ... on both paths"
        else:
            advice = "give the two names of their own, or write the loop body out twice"
        other = f"another {describe(value)}" if both else described(value)
        return KernelPathError(
            f"`{self.name}` is {text} on one path and {other} on another",
            span,
            why="which array or object a name stands for is decided when the kernel is compiled",
            help=advice,
        )
