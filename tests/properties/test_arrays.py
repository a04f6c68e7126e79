"""Random programs of operators, views, writes, reductions and exports mean what they mean in NumPy.

The same program runs twice: with `numpy` arrays and with ours.  Everything must agree to the last
bit except float sums and functions whose rounding NumPy does not define.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.chance import examples

import fusewright.frontends.arrays as fa

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint32", "float32", "float64", "complex128"]
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "<": lambda x, y: x < y,
    "==": lambda x, y: x == y,
    "&": lambda x, y: x & y,
    "max": np.maximum,
    "hypot": np.hypot,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda x: -x,
    "abs": abs,
    "square": lambda x: x**2,
    "sqrt": lambda x: np.sqrt(abs(x)),
    "invert": lambda x: ~x,
    "floor": np.floor,
    "isnan": np.isnan,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "conj": lambda x: x.conj(),
    "copy": lambda x: x.copy(),
    "astype f8": lambda x: x.astype(np.float64),
    "astype i4": lambda x: (x % 50).astype(np.int32),
}
REDUCTIONS = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "argmin", "argmax"]
IN_PLACE = ["+=", "-=", "*=", "/=", "//=", "**2", "&="]
FOREIGN = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)


@dataclass
class World:
    """The variables of one program, in both libraries."""

    theirs: list[Any] = field(default_factory=list)
    ours: list[Any] = field(default_factory=list)
    exact: list[bool] = field(default_factory=list)

    def add(self, their: Any, our: Any, exact: bool) -> None:
        self.theirs.append(their)
        self.ours.append(our)
        self.exact.append(exact)


def compare(world: World) -> None:
    for their, our, exact in zip(world.theirs, world.ours, world.exact, strict=True):
        got = np.asarray(our)
        want = np.asarray(their)
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        if exact:
            np.testing.assert_array_equal(got, want)
        else:
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def attempt(function: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        with np.errstate(all="ignore"):
            return function(), None
    except FOREIGN as error:
        return None, error


def both(
    world: World, data: Any, function: Callable[[Any], Any], *numbers: int, exact: bool = True
) -> None:
    """Run a step on both sides: they succeed or fail together."""
    exact = exact and all(world.exact[n] for n in numbers)
    theirs, refused = attempt(lambda: function([world.theirs[n] for n in numbers]))
    ours, ours_refused = attempt(lambda: function([world.ours[n] for n in numbers]))
    if (refused is None) != (ours_refused is None):
        raise AssertionError(f"NumPy: {refused!r}; ours: {ours_refused!r}") from ours_refused
    if refused is None:
        world.add(theirs, ours, exact)


@st.composite
def values(draw: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    count = int(np.prod(shape))
    seed = draw(st.integers(0, 2**16))
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    low = 0 if dtype.startswith("u") else -9
    array = np.asarray(generator.integers(low, 9, shape)).astype(dtype)
    if dtype.startswith(("float", "complex")) and count:
        array = array / 4
        array = np.asarray(array, dtype)
        if dtype.startswith("complex"):
            array = array + 1j * generator.integers(-5, 5, shape)
        elif draw(st.booleans()):
            array.flat[draw(st.integers(0, count - 1))] = draw(
                st.sampled_from([np.nan, np.inf, -0.0])
            )
    return array


shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def index_for(data: Any, shape: tuple[int, ...], arrays: bool) -> Any:
    entries: list[Any] = []
    for extent in shape[: data.draw(st.integers(0, len(shape)))]:
        kinds = ["slice", "slice", "int", "new"] + (["array", "mask"] if arrays else [])
        kind = data.draw(st.sampled_from(kinds))
        if kind == "new":
            entries.append(None)
        if kind == "int" and extent:
            entries.append(data.draw(st.integers(-extent, extent - 1)))
        elif kind == "array" and extent:
            entries.append(
                data.draw(st.lists(st.integers(-extent, extent - 1), min_size=2, max_size=2))
            )
        elif kind == "mask" and extent:
            entries.append(np.arange(extent) % 2 == 0)
        else:
            bound = st.none() | st.integers(-5, 5)
            step = data.draw(st.sampled_from([None, 1, 2, -1, -2]))
            entries.append(slice(data.draw(bound), data.draw(bound), step))
    if data.draw(st.booleans()):
        entries.insert(data.draw(st.integers(0, len(entries))), Ellipsis)
    return tuple(entries)


def step_binary(data: Any, world: World, n: int, m: int) -> None:
    op = BINARY[data.draw(st.sampled_from(sorted(BINARY)))]
    both(world, data, lambda v: op(v[0], v[1]), n, m)


def step_scalar(data: Any, world: World, n: int, _m: int) -> None:
    op = BINARY[data.draw(st.sampled_from(sorted(BINARY)))]
    number = data.draw(st.sampled_from([2, 0.5, -3, True, 1j, 300, np.float32(1.5), np.int8(3)]))
    turned = data.draw(st.booleans())
    both(world, data, lambda v: op(number, v[0]) if turned else op(v[0], number), n)


def step_unary(data: Any, world: World, n: int, _m: int) -> None:
    name = data.draw(st.sampled_from(sorted(UNARY)))
    # NumPy's complex magnitude differs in the last bit between contiguous and strided operands
    exact = not (name in ("abs", "sqrt") and world.theirs[n].dtype.kind == "c")
    both(world, data, lambda v: UNARY[name](v[0]), n, exact=exact)


def step_view(data: Any, world: World, n: int, _m: int) -> None:
    key = index_for(data, world.theirs[n].shape, arrays=False)
    both(world, data, lambda v: v[0][key], n)


def step_fancy(data: Any, world: World, n: int, _m: int) -> None:
    key = index_for(data, world.theirs[n].shape, arrays=True)
    both(world, data, lambda v: v[0][key], n)


def step_reshape(data: Any, world: World, n: int, _m: int) -> None:
    how = data.draw(st.sampled_from(["flat", "T", "split", "squeeze", "expand"]))
    moves: dict[str, Callable[[Any], Any]] = {
        "flat": lambda x: x.reshape(-1),
        "T": lambda x: x.T,
        "split": lambda x: x.reshape(2, -1),
        "squeeze": lambda x: x.squeeze(),
        "expand": lambda x: x[None],
    }
    both(world, data, lambda v: moves[how](v[0]), n)


def step_write(data: Any, world: World, n: int, m: int) -> None:
    if np.ndim(world.theirs[n]) == 0:
        return
    key = index_for(data, world.theirs[n].shape, arrays=data.draw(st.booleans()))
    if world.theirs[m].dtype.kind == "c" and world.theirs[n].dtype.kind != "c":
        return
    if not all_finite(world.theirs[m]) and world.theirs[n].dtype.kind not in "fc":
        return

    region, _ = attempt(lambda: world.theirs[n][key])
    if region is not None and np.size(region) == 0:
        return  # NumPy checks no shapes when an index array names nothing; we do

    def write(v: list[Any]) -> Any:
        v[0][key] = v[1]
        return v[0]

    mark(world, n, m)
    both(world, data, write, n, m)


def all_finite(value: Any) -> bool:
    return bool(np.isfinite(value).all() and (abs(value) < 100).all())


def mark(world: World, n: int, m: int) -> None:
    """What has met an inexact value may be inexact wherever memory is shared."""
    if not world.exact[m]:
        world.exact = [False] * len(world.exact)


def step_in_place(data: Any, world: World, n: int, m: int) -> None:
    if np.ndim(world.theirs[n]) == 0:
        return
    op = data.draw(st.sampled_from(IN_PLACE))

    def write(v: list[Any]) -> Any:
        x, y = v
        if op == "+=":
            x += y
        elif op == "-=":
            x -= y
        elif op == "*=":
            x *= y
        elif op == "/=":
            x /= y
        elif op == "//=":
            x //= y
        elif op == "**2":
            x **= 2
        else:
            x &= y
        return x

    mark(world, n, m)
    both(world, data, write, n, m)


def step_mask(data: Any, world: World, n: int, _m: int) -> None:
    if np.ndim(world.theirs[n]) == 0 or world.theirs[n].dtype.kind == "c":
        return

    def write(v: list[Any]) -> Any:
        v[0][v[0] > 1] = 3
        return v[0]

    both(world, data, write, n)


def step_reduce(data: Any, world: World, n: int, _m: int) -> None:
    name = data.draw(st.sampled_from(REDUCTIONS))
    rank = np.ndim(world.theirs[n])
    axis = data.draw(st.none() | st.integers(-rank - 1, rank))
    keep = data.draw(st.booleans())
    exact = name in ("min", "max", "any", "all", "argmin", "argmax")
    both(world, data, lambda v: getattr(v[0], name)(axis=axis, keepdims=keep), n, exact=exact)


def step_scan(data: Any, world: World, n: int, _m: int) -> None:
    name = data.draw(st.sampled_from(["cumsum", "cumprod"]))
    rank = np.ndim(world.theirs[n])
    axis = data.draw(st.none() | st.integers(-rank, rank))
    both(world, data, lambda v: getattr(v[0], name)(axis=axis), n, exact=False)


def step_where(data: Any, world: World, n: int, m: int) -> None:
    def choose(v: list[Any]) -> Any:
        from fusewright.frontends.arrays import record

        if isinstance(v[0], fa.Array) or isinstance(v[1], fa.Array):
            condition = v[0] == v[1]
            return fa.core.wrap(record.map_node("where", condition, v[0], v[1]))
        return np.where(v[0] == v[1], v[0], v[1])

    if np.ndim(world.theirs[n]) or np.ndim(world.theirs[m]):
        both(world, data, choose, n, m)


def step_export(data: Any, world: World, n: int, _m: int) -> None:
    """A NumPy window on both sides: from now on writes through it must be seen."""
    their, our = world.theirs[n], world.ours[n]
    if np.ndim(their):  # NumPy's own `asarray(ours)` would be a read-only window
        window = our.view(np.ndarray) if isinstance(our, fa.Array) else our
        world.add(np.asarray(their), window, world.exact[n])


STEPS = [
    step_binary,
    step_binary,
    step_scalar,
    step_unary,
    step_view,
    step_view,
    step_fancy,
    step_reshape,
    step_write,
    step_write,
    step_in_place,
    step_in_place,
    step_mask,
    step_reduce,
    step_scan,
    step_where,
    step_export,
]


@pytest.mark.filterwarnings("ignore")
@examples(125)
@given(st.data())
def test_random_programs(data: Any) -> None:
    world = World()
    for _ in range(2):
        array = data.draw(values(data.draw(st.sampled_from(DTYPES)), data.draw(shapes)))
        world.add(np.array(array), fa.asarray(np.array(array)), True)
    for _ in range(data.draw(st.integers(1, 10))):
        count = len(world.theirs)
        n = data.draw(st.integers(0, count - 1))
        m = data.draw(st.integers(0, count - 1))
        data.draw(st.sampled_from(STEPS))(data, world, n, m)
    compare(world)
