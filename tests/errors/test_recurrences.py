"""Refused recurrences: each message has the family and the index, and the user's own line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.base import errors
from fusewright.frontends.recurrences import demand


def family(*alternatives: Any, leaf: Any = None, name: str = "T") -> Any:
    """`T[n]`, by what is given for n > 0."""

    def relation(n: int) -> Any:  # <
        return [a(n) for a in alternatives]

    return fw.Family(name, "n", relation, leaf or (lambda n: "t0" if n == 0 else None))


def down(n: int) -> Any:
    return [("x", "T", n - 1)]


def up(n: int) -> Any:
    return [("x", "T", n + 1)]


def asked(given: Any, *more: Any, targets: Any = (("T", 3),), scalars: Any = ("x",)) -> Any:
    return fw.recurrence(targets, [given, *more], scalars)  # <


TABLE = np.ones((2, 3))
PROGRAMS: dict[str, tuple[type[Exception], Callable[[], Any], tuple[str, ...]]] = {
    "cycle": (
        errors.RecurrenceCycleError, lambda: asked(family(down, up)),
        ("`T[2]` needs itself: T[2] -> T[1] -> T[2]", "why:", "help:"),
    ),
    "cycle of one": (
        errors.RecurrenceCycleError, lambda: asked(family(lambda n: [(0.5, "T", n)])),
        ("T[3] -> T[3]",),
    ),
    "cycle through two families": (
        errors.RecurrenceCycleError,
        lambda: asked(family(lambda n: [(1, "U", n)]), family(lambda n: [(1, "T", n)], name="U"),
                      targets=[("T", 4)]),
        ("`T[4]` needs itself: T[4] -> U[4] -> T[4]",),
    ),
    "no end": (
        errors.RecurrenceEndError, lambda: asked(family(leaf=lambda n: None)),
        ("`T[3]` is no leaf and has no alternative", "let `leaf` of `T` name it"),
    ),
    "index of a float": (
        errors.RecurrenceError, lambda: asked(family(down), targets=[("T", 2.5)]),
        ("reads `T` at (2.5,)", "integers, strings and tuples"),
    ),
    "index of a float inside": (
        errors.RecurrenceError, lambda: asked(family(lambda n: [(1, "T", n / 2)])),
        ("`T[3]` reads `T` at (1.5,)",),
    ),
    "number beyond floats": (
        errors.RecurrenceScalarError, lambda: asked(family(lambda n: [(10**400, "T", n - 1)])),
        ("`T[3]` is multiplied by 1000",),
    ),
    "product beyond floats": (
        errors.RecurrenceScalarError,
        lambda: asked(family(lambda n: [((1e200, "x", 1e200), "T", n - 1)])),
        ("`T[3]` is multiplied by (1e+200, 'x', 1e+200), which is inf",),
    ),
    "nothing returned": (
        errors.RecurrenceEndError, lambda: asked(fw.Family("T", "n", lambda n: None)),
        ("`T[3]` is no leaf",),
    ),
    "no scalar": (
        errors.RecurrenceScalarError, lambda: asked(family(lambda n: [((2, "xx"), "T", n - 1)])),
        ("`T[3]` is multiplied by `xx`, which is no scalar", "did you mean x?"),
    ),
    "an infinite number": (
        errors.RecurrenceScalarError, lambda: asked(family(lambda n: [(1e999, "T", n - 1)])),
        ("`T[3]` is multiplied by inf",),
    ),
    "an array": (
        errors.RecurrenceScalarError, lambda: asked(family(lambda n: [([2.0], "T", n - 1)])),
        ("`T[3]` is multiplied by [2.0]", "a tuple of such"),
    ),
    "a scalar that is nan": (
        errors.RecurrenceScalarError, lambda: asked(family(down), scalars={"x": float("nan")}),
        ("the scalar `x` is nan",),
    ),
    "a scalar's name": (
        errors.RecurrenceScalarError, lambda: asked(family(down), scalars=["x y"]), ("'x y'",),
    ),
    "a map's shape": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", TABLE, 0, range(4)),
        ("the matrix of `S` has the shape (2, 3), and 4 columns are named",),
    ),
    "a map of one dim": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", [1.0], 0), ("the shape (1,)",),
    ),
    "a map with nan": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", TABLE * np.nan, 0),
        ("the matrix of `S` has entries that are not finite",),
    ),
    "a map's row": (
        errors.RecurrenceMapError,
        lambda: asked(family(down), fw.LinearMap("S", "T", TABLE, 0), targets=[("S", 2)]),
        ("`S[2]` is row 2 of a matrix with 2 rows",),
    ),
    "a map's axis": (
        errors.RecurrenceMapError,
        lambda: asked(family(down), fw.LinearMap("S", "T", TABLE, 1), targets=[("S", 0)]),
        ("`S[0]` has 1 component, and its map is along axis 1",),
    ),
    "two axes of sums": (
        errors.RecurrenceError,
        lambda: asked(family(down), fw.Accumulate("A", "T", "pairs"),
                      fw.Accumulate("B", "T", "points"), targets=[("A", 1), ("B", 1)]),
        ("`B[1]` is summed over `points`, and others over `pairs`",),
    ),
    "a sum of sums": (
        errors.RecurrenceError,
        lambda: asked(family(down), fw.Accumulate("A", "T", "pairs"),
                      fw.Accumulate("B", "A", "pairs"), targets=[("B", 1)]),
        ("`B[1]` is a sum of sums",),
    ),
    "index of the wrong length": (
        errors.RecurrenceError, lambda: asked(family(down), targets=[("T", (1, 2))]),
        ("`T[1, 2]` has 2 components, and `T` has 1 component: n",),
    ),
    "a list as an index": (
        errors.RecurrenceError, lambda: asked(family(lambda n: [("x", "T", [n - 1])])),
        ("`T[3]` reads `T` at ([2],)", "integers, strings and tuples"),
    ),
    "a term of two": (
        errors.RecurrenceError, lambda: asked(family(lambda n: [("T", n - 1)])),
        ("`T[3]` has the term ('T', 2)",),
    ),
    "terms without a list": (
        errors.RecurrenceError, lambda: asked(family(lambda n: ("x", "T", n - 1))),
        ("`T[3]` has the term 'x'",),
    ),
    "an unknown family": (
        errors.RecurrenceError, lambda: asked(family(lambda n: [("x", "TT", n - 1)])),
        ("`T[3]` names the family `TT`, which is not among those given", "did you mean T?"),
    ),
    "a family of the same name": (
        errors.RecurrenceError, lambda: asked(family(down), family(down)),
        ("two families are named `T`",),
    ),
    "another family of that name": (
        errors.RecurrenceError, lambda: asked(family(down), targets=[(family(up), 3)]),
        ("a target names the family `T`, which is not",),
    ),
    "no family": (
        errors.RecurrenceError, lambda: asked(family(down), "U"), ("'U' is no family",),
    ),
    "no target": (
        errors.RecurrenceError, lambda: asked(family(down), targets=["T"]),
        ("a target is (family, index), not 'T'",),
    ),
    "a leaf that is no number": (
        errors.RecurrenceError, lambda: asked(family(down, leaf=lambda n: np.inf)),
        ("the leaf `T[3]` is inf",),
    ),
    "a leaf's name": (
        errors.RecurrenceError, lambda: asked(family(down, leaf=lambda n: "a b")),
        ("the leaf `T[3]` has the name 'a b'",),
    ),
    "a leaf named as a sum": (
        errors.RecurrenceError, lambda: asked(family(down, leaf=lambda n: "sum:0")),
        ("the leaf `T[3]` has the name 'sum:0'",),
    ),
    "a leaf named as a scalar": (
        errors.RecurrenceError, lambda: asked(family(down, leaf=lambda n: "x")),
        ("the leaf `T[3]` is named `x`, and so is a scalar",),
    ),
    "a family's name": (
        errors.RecurrenceError, lambda: family(down, name="a b"), ("not 'a b'",),
    ),
    "no such lanes": (
        errors.ValueRangeError, lambda: asked(family(down)).compile(lanes=3), ("lanes is 3",),
    ),
    "lanes of a list": (
        errors.ValueRangeError, lambda: asked(family(down)).compile(lanes=[8]),  # type: ignore
        ("lanes is [8]",),
    ),
    "effort below nothing": (
        errors.ValueRangeError, lambda: asked(family(down)).compile(effort=-1), ("effort is -1",),
    ),
    "a map with rows of two lengths": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", [[1, 2], [3]], 0),
        ("the matrix of `S` is no array",),
    ),
    "a map of complex numbers": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", TABLE * 1j, 0),
        ("entries of type complex128, not real numbers",),
    ),
    "a map of text": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", [["a"]], 0), ("type <U1",),
    ),
    "a map's axis by name": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", TABLE, "n"),  # type: ignore
        ("the axis of `S` is 'n', not an integer",),
    ),
    "a map's axis of half": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", TABLE, 0.5),  # type: ignore
        ("the axis of `S` is 0.5",),
    ),
    "a map's columns by number": (
        errors.RecurrenceMapError, lambda: fw.LinearMap("S", "T", TABLE, 0, 3),  # type: ignore
        ("the columns of `S` are 3",),
    ),
    "relations that are no function": (
        errors.RecurrenceError, lambda: fw.Family("T", "n", [[(1, "T", 0)]]),  # type: ignore
        ("`T` has [[(1, 'T', 0)]] in place of a function",),
    ),
    "a leaf that is no function": (
        errors.RecurrenceError, lambda: fw.Family("T", "n", down, "t0"),  # type: ignore
        ("`T` has 't0' in place of a function",),
    ),
    "an index without components": (
        errors.RecurrenceError, lambda: fw.Family("T", (), down), ("components ()",),
    ),
    "an index by number": (
        errors.RecurrenceError, lambda: fw.Family("T", 2, down), ("components 2",),  # type: ignore
    ),
    "targets of nothing": (
        errors.RecurrenceError, lambda: asked(family(down), targets=None),
        ("targets are None, not a sequence",),
    ),
    "scalars of nothing": (
        errors.RecurrenceError, lambda: asked(family(down), scalars=None),
        ("scalars are None, not a sequence",),
    ),
    "families of nothing": (
        errors.RecurrenceError, lambda: fw.recurrence([("T", 1)], None),  # type: ignore
        ("families are None, not a sequence",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_refused(name: str) -> None:
    error, program, words = PROGRAMS[name]
    with pytest.raises(error) as caught:
        program()
    assert type(caught.value) is error and isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.where is not None and caught.value.where[0] == __file__  # type: ignore[attr-defined]


def test_the_line_is_that_of_the_family() -> None:
    with pytest.raises(fw.FusewrightError) as caught:
        asked(family(down, up))
    with open(__file__) as file:
        assert "# <" in file.read().splitlines()[caught.value.where[1] - 1]  # type: ignore[index]
    for wrong in (("x", "U", 0), ("x", "T", 0.5), ("y", "T", 0), ("x", "T")):
        with pytest.raises(fw.FusewrightError, match=r"`T\[3\]`") as caught:
            asked(family(lambda n, wrong=wrong: [wrong]))
        with open(__file__) as file:
            assert "# <" in file.read().splitlines()[caught.value.where[1] - 1]  # type: ignore[index]
            assert caught.value.where[1] < 40  # type: ignore[index]
    with pytest.raises(fw.FusewrightError) as caught:
        asked(family(down), targets=["T"])
    with open(__file__) as file:
        assert "# <" in file.read().splitlines()[caught.value.where[1] - 1]  # type: ignore[index]


def test_a_target_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demand, "MOST_VALUES", 1000)
    with pytest.raises(errors.RecurrenceSizeError) as caught:
        asked(family(down), family(lambda n: [(1, "U", n + 2)], name="U"),
              targets=[("T", 3), ("U", 5)])  # fmt: skip
    assert "the target `U[5]` needs more than 1000 values: U[5] -> U[7]" in str(caught.value)
    assert asked(family(down), targets=[("T", 900)]).graph.targets == (900,)


def test_what_grows_is_counted_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here 40 of 5,000 values are finished; what is multiplied by 0 does not count."""
    monkeypatch.setattr(demand, "MOST_VALUES", 5000)
    monkeypatch.setattr(demand, "COUNTED_FROM", 40)
    with pytest.raises(errors.RecurrenceSizeError) as caught:
        asked(family(down), family(lambda n: [(1, "T", n), (1, "U", n + 1)], name="U"),
              targets=[("U", 5)])  # fmt: skip
    assert "U[5] -> U[6] -> U[7] -> U[8] -> ... -> U[41]" in str(caught.value)
    below = family(lambda n: [(1, "U", n - 1), (0, "U", n + 1)], name="U")
    assert asked(below, targets=[("U", 900)]).graph.targets == (900,)


def row(n: int = 3) -> Any:
    return np.ones(n)


@pytest.mark.parametrize(
    ("error", "scalars", "leaves", "words"),
    [
        (errors.ArgumentError, [row(), row()], [row()], "2 rows of scalars are given for 1: x"),
        (errors.ArgumentError, {}, [row()], "no row is given for `x` of the scalars"),
        (errors.ArgumentError, [row()], {"t1": row()}, "`t1` is none of the leaves"),
        (errors.ShapeError, [row()], [row(4)], "rows do not fit together: `x` (3,), `t0` (4,)"),
        (errors.ShapeError, [row()], [np.ones((2, 3))], "the row `t0` has the shape (2, 3)"),
        (errors.DTypeError, [row()], [row() * 1j], "`t0` has elements of type complex128"),
        (errors.DTypeError, ["a"], [row()], "`x` has elements of type"),
        (errors.ArgumentError, 3.0, [row()], "the rows of scalars are 3.0"),
        (errors.ArgumentError, [row()], None, "the rows of leaves are None"),
    ],
)
def test_rows_that_do_not_fit(error: Any, scalars: Any, leaves: Any, words: str) -> None:
    for target in ("cpu", "reference"):
        with fw.options(target=target):
            compiled = asked(family(down)).compile()
        with pytest.raises(error) as caught:
            compiled(scalars, leaves)
        assert words in str(caught.value)


def test_rows_around_a_sum() -> None:
    """What is read after the sum has no axis of places, and something before it has one."""
    scaled = fw.Family("S", "n", lambda n: [[("y", "A", n)]])
    graph = asked(family(down), scaled, fw.Accumulate("A", "T", "pairs"), targets=[("S", 2)],
                  scalars=["x", "y"])  # fmt: skip
    compiled = graph.compile()
    with pytest.raises(errors.ShapeError, match="it is read after the sum"):
        compiled([1.0, np.ones((2, 3))], [row()])
    with pytest.raises(errors.ShapeError, match="a row has the axis of pairs and the columns"):
        compiled([np.ones((5, 2, 2)), 2.0], [row()])
    with pytest.raises(errors.ShapeError, match="no row has an axis of pairs"):
        compiled([1.0, 2.0], [row()])
    np.testing.assert_array_equal(compiled([2.0, 3.0], [np.ones((5, 2))]), [[60.0, 60.0]])


@pytest.mark.parametrize("given", [{"effort": "much"}, {"seed": 0.5}])
def test_search_by_whole_numbers(given: Any) -> None:
    graph = asked(family(down))
    for function in (graph.compile, graph.explain):
        with pytest.raises(TypeError, match="not an integer"):
            function(**given)


def test_another_family_of_the_same_name() -> None:
    """The name is right; what is wrong is that it names two objects."""
    first, second = (fw.Family("T", "n", lambda n: [], leaf=lambda n: 1.0) for _ in range(2))
    with pytest.raises(fw.FusewrightError, match="another one of this name is"):
        fw.recurrence([(first, 1)], [second])
