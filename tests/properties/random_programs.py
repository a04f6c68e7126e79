"""Random array programs for the contract tests: steps over a growing list of values.

Every value keeps the program's shape, so that steps combine freely; reductions come back by
broadcasting.  Products are of clipped operands, so nothing overflows and a rounding error stays
small; steps with jumps (comparisons, casts to integers) act on exact values only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

Action = Callable[[Any, Any, Any, int, int], Any]
"""(namespace, first operand, second operand, small number, axis) -> value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a step does.  `rounds`: its floats may differ from NumPy's in the last bits.  `jumps`:
    it is not continuous.
    """

    action: Action
    rounds: bool = False
    jumps: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """`first` and `second` count values from the newest."""

    name: str
    first: int
    second: int
    number: int
    axis: int


@dataclass(frozen=True, slots=True)
class Program:
    """Inputs have these dtypes and all this shape; the newest `outputs` values are asked for."""

    shape: tuple[int, ...]
    dtypes: tuple[str, ...]
    steps: tuple[Step, ...]
    outputs: int
    seed: int


def _signed(np: Any, x: Any) -> Any:
    return x.astype("int8") if x.dtype == bool else x


def _product(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    return np.clip(_signed(np, x), -8, 8) * np.clip(_signed(np, y), -8, 8)


def _along(axis: int, part: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (part,)


def _stencil(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    """In-place time steps, one to three."""
    z = _signed(np, x).copy()
    inner, left, right = (_along(axis, slice(a, b)) for a, b in ((1, -1), (0, -2), (2, None)))
    for _ in range(number % 3 + 1):
        if z.dtype.kind == "f":
            z[inner] += 0.25 * (z[left] - 2 * z[inner] + z[right])
        else:
            z[inner] += z[right] - z[left]
    return z


def _two_field(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    """Two fields stepping together, as reaction and diffusion do."""
    inner, right = _along(axis, slice(0, -1)), _along(axis, slice(1, None))
    u, v = np.clip(_signed(np, x), -8, 8) * 0.5, np.clip(_signed(np, y), -8, 8) * 0.5
    for _ in range(number % 2 + 1):
        change = v[right] - u[inner]
        u[inner] += 0.5 * change
        v[right] -= 0.25 * change
    return u + v


def _partial_write(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    z = _signed(np, x).copy()
    z[_along(axis, slice(number % 3, None, number % 2 + 1))] *= 2
    return z


def _masked(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    z = _signed(np, x).copy()
    z[z > 1] = 3
    return z


def _join(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    extent = x.shape[axis]
    start = min(number, extent)
    return np.concatenate([x, y], axis=axis)[_along(axis, slice(start, start + extent))]


def _pad(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    widths = [(0, 0)] * x.ndim
    widths[axis] = (number % 3, 2)
    padded = np.pad(x, widths, mode="edge" if number % 2 and x.size else "constant")
    return padded[_along(axis, slice(number % 3 and 1, (number % 3 and 1) + x.shape[axis]))]


def _gather(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    extent = x.shape[axis]
    indices = [(7 * k + number) % extent for k in range(extent)] if extent <= 64 else None
    if indices is None:
        return np.take(x, (np.arange(extent) * 7 + number) % extent, axis=axis)
    return np.take(x, np.asarray(indices, dtype="int64"), axis=axis)


def _reduced(name: str) -> Action:
    def action(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
        if x.shape[axis] == 0:
            return x
        scale = 1 if name in ("min", "max") else max(x.shape[axis], 1)
        whole = getattr(_signed(np, y), name)(axis=axis, keepdims=True)
        return _signed(np, x) - whole if scale == 1 else _signed(np, x) - whole / scale

    return action


def _softmax(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    if x.shape[axis] == 0:
        return x
    x = np.clip(_signed(np, x), -8, 8)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _scan(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    return np.cumsum(np.clip(_signed(np, x), -1, 1), axis=axis) / max(x.shape[axis], 1)


def _cast(np: Any, x: Any, y: Any, number: int, axis: int) -> Any:
    dtype = ("float32", "float64", "int32", "int16", "uint8", "bool")[number % 6]
    if dtype.startswith("f"):
        return x.astype(dtype)
    bounded = np.where(abs(_signed(np, x)) < 100, _signed(np, x), 7)
    return abs(bounded).astype(dtype)


KINDS: dict[str, Kind] = {
    "add": Kind(lambda np, x, y, n, axis: x + y),
    "subtract": Kind(lambda np, x, y, n, axis: _signed(np, x) - y),
    "product": Kind(_product),
    "scale": Kind(lambda np, x, y, n, axis: np.clip(_signed(np, x), -50, 50) * (0.5 + n)),
    "quotient": Kind(lambda np, x, y, n, axis: x / (abs(_signed(np, y)) + 1.5)),
    "root": Kind(lambda np, x, y, n, axis: np.sqrt(abs(_signed(np, x)) + 0.25)),
    "negative": Kind(lambda np, x, y, n, axis: -_signed(np, x)),
    "larger": Kind(lambda np, x, y, n, axis: np.maximum(x, y)),
    "where": Kind(lambda np, x, y, n, axis: np.where(x > y, x, y + 1), jumps=True),
    "floor": Kind(lambda np, x, y, n, axis: np.floor(_signed(np, x) * 1.5), jumps=True),
    "cast": Kind(_cast, jumps=True),
    "masked": Kind(_masked, jumps=True),
    "exp": Kind(lambda np, x, y, n, axis: np.exp(-abs(_signed(np, x) * 1.0)), rounds=True),
    "sin": Kind(lambda np, x, y, n, axis: np.sin(np.clip(_signed(np, x), -9, 9) / 1), rounds=True),
    "tanh": Kind(lambda np, x, y, n, axis: np.tanh(_signed(np, x) * 1.0), rounds=True),
    "hypot": Kind(lambda np, x, y, n, axis: np.hypot(_signed(np, x) * 1.0, y), rounds=True),
    "stencil": Kind(_stencil),
    "two fields": Kind(_two_field),
    "partial write": Kind(_partial_write),
    "roll": Kind(lambda np, x, y, n, axis: np.roll(x, n - 3, axis=axis)),
    "flip": Kind(lambda np, x, y, n, axis: np.flip(x, axis=axis)),
    "reverse": Kind(lambda np, x, y, n, axis: x[::-1] + y),
    "stack": Kind(lambda np, x, y, n, axis: np.stack([x, y, x])[n % 3]),
    "join": Kind(_join),
    "pad": Kind(_pad),
    "gather": Kind(_gather),
    "transpose": Kind(lambda np, x, y, n, axis: (x.T + y.T).T),
    "sum": Kind(_reduced("sum"), rounds=True),
    "mean": Kind(_reduced("mean"), rounds=True),
    "max": Kind(_reduced("max")),
    "min": Kind(_reduced("min")),
    "softmax": Kind(_softmax, rounds=True),
    "scan": Kind(_scan, rounds=True),
}  # fmt: skip

DTYPES = ("float64", "float64", "float32", "int32", "int64", "uint8", "bool")
SHAPES = (
    (0,), (1,), (7,), (8,), (9,), (15,), (17,), (8191,), (8192,), (8193,), (24_581,), (40_001,),
    (0, 5), (1, 1), (3, 3), (5, 17), (3, 8193), (64, 257), (700, 33), (2, 3, 4), (40, 9, 65),
)  # fmt: skip
"""Nothing, one, a vector and a tile and their neighbours, several tiles; more rows than threads."""

steps = st.builds(
    Step, st.sampled_from(sorted(KINDS)), st.integers(0, 3), st.integers(0, 5), st.integers(0, 7),
    st.integers(0, 2),
)  # fmt: skip
programs = st.builds(
    Program,
    st.sampled_from(SHAPES),
    st.tuples(st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.just("float64")),
    st.lists(steps, min_size=2, max_size=9).map(tuple),
    st.integers(1, 4),
    st.integers(0, 2**16),
)


def inputs(program: Program) -> list[Any]:
    """Random numbers with a few exact ties, and small integers."""
    generator = np.random.default_rng(program.seed)
    made = []
    for dtype in program.dtypes:
        if dtype.startswith("float"):
            values = generator.standard_normal(program.shape) * 3
        else:
            values = generator.integers(0, 2 if dtype == "bool" else 9, program.shape)
        made.append(np.asarray(values).astype(dtype))
    return made


def run(
    np: Any, program: Program, arrays: list[Any], demand: Callable[[Any], Any] = lambda x: x
) -> list[Any]:
    """Every value of the program, the inputs first; `demand` sees each when it is recorded."""
    values = list(arrays)
    exact = [True] * len(values)
    for step in program.steps:
        first, second = (-1 - n % len(values) for n in (step.first, step.second))
        kind = KINDS[step.name]
        precise = exact[first] and exact[second]
        if kind.jumps and not precise:
            kind = KINDS["negative"]
        axis = step.axis % len(program.shape)
        made = kind.action(np, values[first], values[second], step.number, axis)
        values.append(demand(made))
        exact.append(precise and not kind.rounds)
    return values


def exactness(program: Program) -> list[bool]:
    """Which values NumPy's must equal bit for bit."""
    exact = [True] * len(program.dtypes)
    for step in program.steps:
        first, second = (-1 - n % len(exact) for n in (step.first, step.second))
        kind = KINDS[step.name]
        precise = exact[first] and exact[second]
        exact.append(precise and not (kind.rounds and not (kind.jumps and not precise)))
    return exact
