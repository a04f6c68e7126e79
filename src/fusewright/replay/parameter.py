"""A Python float as an argument of a recorded function: a run-time parameter as long as only arrays
meet it.
 It answers like the float it stands for.  Where an array operation takes it, the recorded SCALAR
node is bound to it, and a replay puts the new value there; so is what simple arithmetic makes of it
(`0.5 * dt`).  Whatever else looks at the value (a comparison, `math.sin`, formatting) has used it
up: the recording then holds for this value only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from fusewright.ir.dtypes import DType
from fusewright.ir.graph import Node, scalar

Values = list[Any]
Compute = Callable[[Values], Any]


class Watch:
    """What a recording learns about its float arguments: the nodes bound to them, and which were
    used up.
    """

    def __init__(self) -> None:
        self.bound: list[tuple[Node, Compute]] = []
        self.used: set[int] = set()


class Parameter:
    """A float argument, or arithmetic on float arguments."""

    __slots__ = ("_compute", "_sources", "_value", "_watch")

    def __init__(
        self, value: float, compute: Compute, sources: frozenset[int], watch: Watch
    ) -> None:
        self._value = value
        self._compute = compute
        self._sources = sources
        self._watch = watch

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float

    def _record_as(self, dtype: DType) -> Node:
        """The SCALAR node of an array operation (the front end asks)."""
        convert: Callable[[Any], Any] = complex if dtype.is_complex else float
        compute = self._compute
        node = scalar(convert(self._value), dtype)
        self._watch.bound.append((node, lambda values: convert(compute(values))))
        return node

    def _use(self) -> float:
        self._watch.used |= self._sources
        return self._value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a protocol that floats do not have
            raise AttributeError(name)
        return getattr(self._use(), name)

    def __hash__(self) -> int:
        return hash(self._use())

    def __neg__(self) -> Any:
        compute = self._compute
        return Parameter(-self._value, lambda values: -compute(values), self._sources, self._watch)


def compute_of(value: Any) -> tuple[Compute, frozenset[int]] | None:
    """How a result that is no array follows from the arguments; None for a constant."""
    return (value._compute, value._sources) if type(value) is Parameter else None


def _arithmetic(function: Callable[[Any, Any], Any], reflected: bool) -> Callable[..., Any]:
    def method(self: Parameter, other: Any) -> Any:
        kind = type(other)
        if kind is Parameter:
            theirs, sources = other._compute, self._sources | other._sources
            value = other._value
        elif kind is float or kind is int:
            theirs, sources, value = (lambda values: other), self._sources, other
        elif reflected:
            return function(other, self._use())
        else:
            return NotImplemented  # an array's own reflected operator binds the parameter
        mine = self._compute
        if reflected:
            return Parameter(
                function(value, self._value),
                lambda values: function(theirs(values), mine(values)),
                sources,
                self._watch,
            )
        return Parameter(
            function(self._value, value),
            lambda values: function(mine(values), theirs(values)),
            sources,
            self._watch,
        )

    return method


def _used(function: Callable[..., Any], reflected: bool = False) -> Callable[..., Any]:
    """An operation that looks at the value."""

    def method(self: Parameter, *others: Any) -> Any:
        plain = [other._use() if type(other) is Parameter else other for other in others]
        mine = self._use()
        return function(*plain, mine) if reflected else function(mine, *plain)

    return method


def _compared(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """With an array the array's operator binds the parameter; a number uses the value up."""

    def method(self: Parameter, other: Any) -> Any:
        if type(other) is not Parameter and hasattr(type(other), "_node"):
            return NotImplemented
        return function(self._use(), other._use() if type(other) is Parameter else other)

    return method


_ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
}  # fmt: skip
_LOOKING = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "divmod": divmod,
}
_SINGLE: dict[str, Callable[..., Any]] = {
    "float": float, "int": int, "bool": bool, "complex": complex, "abs": abs, "round": round,
    "trunc": int, "repr": repr, "str": str, "format": format, "pos": operator.pos,
    "floor": float.__floor__, "ceil": float.__ceil__,
}  # fmt: skip
for _name, _function in _ARITHMETIC.items():
    setattr(Parameter, f"__{_name}__", _arithmetic(_function, False))
    setattr(Parameter, f"__r{_name}__", _arithmetic(_function, True))
for _name, _function in _LOOKING.items():
    setattr(Parameter, f"__{_name}__", _used(_function))
    setattr(Parameter, f"__r{_name}__", _used(_function, True))
for _name, _look in _SINGLE.items():
    setattr(Parameter, f"__{_name}__", _used(_look))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Parameter, f"__{_name}__", _compared(getattr(operator, _name)))
