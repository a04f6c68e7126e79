"""Classes of values: what the standard library's decorator makes, but for the time it takes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from fusewright.base import values

Decorator = Callable[..., Callable[[type[Any]], type[Any]]]


def classes(dataclass: Decorator) -> tuple[type[Any], type[Any], type[Any]]:
    """A frozen class, one that inherits from it, and one that may be changed."""

    @dataclass(frozen=True, slots=True)
    class Place:
        """Somewhere."""

        what: str
        number: int = 3
        notes: list[int] = field(default_factory=list, compare=False)
        seen: Any = field(default=None, init=False, repr=False, compare=False)
        only: float = field(default=2.0, kw_only=True)

        @property
        def twice(self) -> int:
            return 2 * self.number

    @dataclass(frozen=True, slots=True)
    class Further(Place):
        last: str = "z"

        def __repr__(self) -> str:
            return "further"

    @dataclass(slots=True)
    class Open:
        left: int
        right: int = field(init=False)
        double: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            self.double = 2 * self.left

    return Place, Further, Open


OURS, THEIRS = classes(values.dataclass), classes(dataclasses.dataclass)
BOTH = pytest.mark.parametrize(("ours", "theirs"), [*zip(OURS[:2], THEIRS[:2], strict=True)])


def both(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return OURS[0](*args, **kwargs), THEIRS[0](*args, **kwargs)


@BOTH
def test_signatures_agree(ours: type[Any], theirs: type[Any]) -> None:
    mine, other = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
    assert list(mine) == list(other)
    for name, parameter in mine.items():
        assert parameter.kind == other[name].kind
        assert parameter.annotation == other[name].annotation
    for missing in ((), ("a", 1, [], 2.0, 5.0, 6)):
        for each in (ours, theirs):
            with pytest.raises(TypeError):
                each(*missing)
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__doc__ == theirs.__doc__ or ours.__doc__ is not None


def test_values_agree() -> None:
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (("a",), {}), (("a", 3), {}), (("a", 4), {}), (("b",), {"only": 1.0}),
        (("a", 3, [1]), {}), ((float("nan"),), {}),
    ]  # fmt: skip
    pairs = [both(*args, **kwargs) for args, kwargs in given]
    for one, other in pairs:
        assert repr(one) == repr(other)
        assert hash(one) == hash(other)
        assert (one.twice, one.seen) == (other.twice, None)
        assert [one == each for each, _ in pairs] == [other == each for _, each in pairs]
    assert pairs[0][0] != pairs[0][1] and pairs[0][0] != "a"
    assert OURS[1]("a") != OURS[0]("a") and repr(OURS[1]("a")) == "further"
    assert OURS[0]("a").notes is not OURS[0]("a").notes


@pytest.mark.parametrize("each", [OURS[0]("a"), OURS[1]("a", last="b")], ids=["own", "inherited"])
def test_frozen(each: Any) -> None:
    for change in (
        lambda: setattr(each, "what", 1),
        lambda: setattr(each, "other", 1),
        lambda: delattr(each, "what"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert each.what == "a" and not hasattr(each, "__dict__")


def test_open() -> None:
    ours, theirs = OURS[2](1), THEIRS[2](1)
    assert not hasattr(ours, "right") and not hasattr(theirs, "right")
    assert (ours.double, theirs.double) == (2, 2)
    ours.right = ours.left = theirs.right = theirs.left = 2
    assert repr(ours) == repr(theirs) and ours == copy.copy(ours)
    with pytest.raises(TypeError, match="unhashable"):
        hash(ours)


@values.dataclass(frozen=True, slots=True)
class Kept:
    first: tuple[int, ...]
    second: str = ""


def test_copies() -> None:
    value = Kept((1, 2), "b")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.copy(value) == copy.deepcopy(value) == value
    assert dataclasses.replace(value, second="c") == Kept((1, 2), "c")
    assert [each.name for each in dataclasses.fields(value)] == ["first", "second"]
    assert {value: 1}[Kept((1, 2), "b")] == 1
