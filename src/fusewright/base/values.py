"""`dataclass` with slots, as the standard library's, made in a fifth of the time.

That one writes seven functions as text for each class and compiles them: 0.3 ms, and a process that
plans for the first time has fifty such classes.  Here only `__init__` is written; the others are
the same for all classes, told what the fields are.  `dataclasses.replace` and `fields` work.

    @dataclass(frozen=True, slots=True)
    class Member:
        stage: Stage
        lag: int = 0
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

Class = type[Any]


def _dataclass(*, frozen: bool = False, slots: bool, eq: bool = True) -> Callable[[Class], Class]:
    """A decorator; what it does not know (`order`, `InitVar`) nobody here uses."""
    assert slots, "classes without slots are the standard library's"

    def made(given: Class) -> Class:
        cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(given)
        fields = dataclasses.fields(cls)
        compared = _getter([field.name for field in fields if field.compare])
        functions: dict[str, Any] = {
            "__init__": _init(cls, fields),
            "__repr__": _repr_of([field.name for field in fields if field.repr]),
        }
        if eq:
            functions |= {"__eq__": _eq_by(compared), "__hash__": None}
        if frozen:
            setters = [getattr(cls, field.name).__set__ for field in fields]
            functions |= {"__setattr__": _refuse, "__delattr__": _refuse}
            functions |= {
                "__getstate__": _state_of(_getter([field.name for field in fields])),
                "__setstate__": _state_by(setters),
            }
            if eq:
                functions["__hash__"] = _hash_by(compared)
        for name, function in functions.items():
            if name not in given.__dict__ or given.__dict__[name] is None:
                setattr(cls, name, function)
        return cls

    return made


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


def _init(cls: Class, fields: tuple[dataclasses.Field[Any], ...]) -> Any:
    """Sets the fields by their slots, which a frozen class allows nobody else; those that are not
    `init` have their default, or nothing yet.
    """
    known: dict[str, Any] = {"missing": dataclasses.MISSING}
    parameters: dict[bool, list[str]] = {False: [], True: []}
    body = []
    for field in fields:
        name = field.name
        known[f"set_{name}"] = getattr(cls, name).__set__
        default = ""
        if field.default is not dataclasses.MISSING:
            known[f"default_{name}"], default = field.default, f"=default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"make_{name}"], default = field.default_factory, "=missing"
            body.append(f" if {name} is missing: {name} = make_{name}()")
        if field.init:
            parameters[bool(field.kw_only)].append(name + default)
            body.append(f" set_{name}(self, {name})")
        elif default:
            body.append(f" set_{name}(self, default_{name})")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    words = ["self", *parameters[False], *(["*"] if parameters[True] else []), *parameters[True]]
    exec(f"def __init__({', '.join(words)}):\n" + "\n".join(body or [" pass"]), known)
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return made


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The values of fields, as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _repr_of(names: list[str]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({fields})"

    return __repr__


def _eq_by(get: Callable[[Any], Any]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash_by(get: Callable[[Any], Any]) -> Callable[[Any], int]:
    return lambda self: hash(get(self))


def _state_of(get: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: get(self)  # a function becomes a method, an `attrgetter` does not


def _state_by(setters: list[Any]) -> Callable[[Any, Any], None]:
    def __setstate__(self: Any, state: Any) -> None:
        for set_field, value in zip(setters, state, strict=True):
            set_field(self, value)

    return __setstate__


def _refuse(self: Any, name: str, *_: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
