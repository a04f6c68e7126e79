"""Random programs of arrays: views, writes, masks, in-place operators, `out=`, `where=`, casts,
reductions and errors, run by NumPy and by us statement by statement.

    python -m tests.properties.array_programs --seed 1 --count 100000

runs as many programs and prints those that end otherwise than NumPy's: a value, a type, a shape,
or the class of an error.  Sizes lie on both sides of those at which another way is taken.
"""

from __future__ import annotations

import argparse
import operator
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.properties.operands import DTYPES, Operand, alike, attempt, classes, made, ours, plain

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import Scalar

Chance = random.Random
SIZES = (1, 2, 3, 16, 17, 64, 511, 512, 513, 1000, 4096, 4097, 5000, 8193, 33_000)
MATRICES = (
    (1, 1), (2, 3), (3, 3), (16, 17), (17, 31), (1, 513), (513, 1), (20, 30), (64, 80), (3, 1700),
    (130, 260), (2, 3, 4), (8, 9, 10), (0, 5), (0,), (),
)  # fmt: skip
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "eq", "ne", "and_",
             "or_", "xor", "pow")  # fmt: skip
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "iand", "ior", "ipow")
EXACT_UNARY = ("negative", "absolute", "square", "floor", "ceil", "rint", "sign", "isnan",
               "isfinite", "logical_not", "conjugate", "positive", "signbit", "trunc",
               "isinf")  # fmt: skip
ROUNDED_UNARY = ("sqrt", "exp", "sin", "tanh", "log1p", "arctan", "cbrt")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "copysign", "less_equal",
          "logical_and", "fmod", "greater", "not_equal")  # fmt: skip
REDUCTIONS = ("sum", "min", "max", "any", "all", "argmin", "argmax", "prod", "mean", "var")
NUMBERS: tuple[Any, ...] = (
    0, 1, 2, -3, 0.5, -0.0, 2.5, True, 1j, 300, float("nan"), float("inf"), np.float32(1.5),
    np.int8(3), np.uint64(7), np.float64(-0.25), np.bool_(True), 2**40,
)  # fmt: skip


@dataclass
class World:
    """One library's variables."""

    np: Any
    convert: Callable[[Any], Any]
    values: list[Any] = field(default_factory=list)


Action = Callable[[World], Any]
"""What a statement does in a world; an array it returns becomes a variable."""


@dataclass(frozen=True, slots=True)
class Statement:
    """`rounds`: its floats may differ from NumPy's in the last bits."""

    text: str
    action: Action
    rounds: bool = False
    writes: int = -1


class Maker:
    """Makes up statements for variables of which it knows NumPy's."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.values: list[Any] = []

    def pick(self) -> int:
        return self.chance.randrange(len(self.values))

    def index(self, shape: tuple[int, ...], fancy: bool) -> Any:
        chance = self.chance
        entries: list[Any] = []
        for extent in shape[: chance.randrange(len(shape) + 1)]:
            kind = chance.choice(("slice", "slice", "int") + (("list", "mask") if fancy else ()))
            if kind == "int" and extent:
                beyond = extent if chance.random() < 0.02 else 0
                entries.append(chance.randrange(-extent, extent) + beyond)
            elif kind == "list" and extent:
                entries.append([chance.randrange(-extent, extent) for _ in range(3)])
            elif kind == "mask" and extent:
                entries.append(np.arange(extent) % chance.choice((2, 3)) == 0)
            else:
                bound = (None, None, 0, 1, 2, extent // 2, -1, -2, extent)
                step = chance.choice((None, None, 1, 2, -1, -2, 3))
                entries.append(slice(chance.choice(bound), chance.choice(bound), step))
        if chance.random() < 0.2:
            entries.insert(chance.randrange(len(entries) + 1), chance.choice((None, ...)))
        return tuple(entries)

    def statement(self) -> Statement:
        """Any statement."""
        return self.chance.choice(STATEMENTS)(self)


def _binary(maker: Maker) -> Statement:
    name, n, m = maker.chance.choice(OPERATORS), maker.pick(), maker.pick()
    function = getattr(operator, name)
    return Statement(
        f"{name}(v{n}, v{m})", lambda w: function(w.values[n], w.values[m]), name == "pow"
    )


def _with_number(maker: Maker) -> Statement:
    name, n = maker.chance.choice(OPERATORS), maker.pick()
    number, turned = maker.chance.choice(NUMBERS), maker.chance.random() < 0.4
    function = getattr(operator, name)

    def action(w: World) -> Any:
        return function(number, w.values[n]) if turned else function(w.values[n], number)

    return Statement(f"{name} of v{n}, {number!r}, turned={turned}", action, name == "pow")


def _unary(maker: Maker) -> Statement:
    rounds = maker.chance.random() < 0.25
    name, n = maker.chance.choice(ROUNDED_UNARY if rounds else EXACT_UNARY), maker.pick()
    complex_size = maker.values[n].dtype.kind == "c" and name == "absolute"
    return Statement(
        f"{name}(v{n})", lambda w: getattr(w.np, name)(w.values[n]), rounds or complex_size
    )


def _ufunc(maker: Maker) -> Statement:
    name, n, m, o, k = maker.chance.choice(BINARY), *(maker.pick() for _ in range(4))
    masked = maker.chance.random() < 0.6
    inputs = [maker.values[i] for i in (n, m)]

    def action(w: World) -> Any:
        v = w.values
        keywords = {"where": v[k] > 1} if masked and np.dtype(v[k].dtype).kind != "c" else {}
        return getattr(w.np, name)(v[n], v[m], out=v[o], **keywords)

    return Statement(f"{name}(v{n}, v{m}, out=v{o}, where=v{k} > 1: {masked})", action,
                     any(x.dtype.kind == "c" for x in inputs), o)  # fmt: skip


def _view(maker: Maker) -> Statement:
    n = maker.pick()
    key = maker.index(maker.values[n].shape, False)
    return Statement(f"v{n}[{key}]", lambda w: w.values[n][key])


def _fancy(maker: Maker) -> Statement:
    n = maker.pick()
    key = maker.index(maker.values[n].shape, True)
    return Statement(f"v{n}[{key}]", lambda w: w.values[n][key])


def _masked(maker: Maker) -> Statement:
    n, m = maker.pick(), maker.pick()
    return Statement(f"v{n}[v{m} > 1]", lambda w: w.values[n][w.values[m] > 1])


def _turned(maker: Maker) -> Statement:
    n = maker.pick()
    how = maker.chance.choice(("T", "new", "flat", "squeeze", "copy", "swap"))
    straight = maker.values[n].flags.c_contiguous

    def action(w: World) -> Any:
        v = w.values[n]
        if how == "flat":  # a view where both worlds give one
            return v.reshape(-1) if straight else v.reshape(-1).copy()
        return {"T": lambda: v.T, "new": lambda: v[None], "squeeze": lambda: v.squeeze(),
                "copy": lambda: v.copy(), "swap": lambda: v.swapaxes(0, -1)}[how]()  # fmt: skip

    return Statement(f"v{n}: {how}", action)


def _write(maker: Maker) -> Statement:
    n, m = maker.pick(), maker.pick()
    fancy = maker.chance.random() < 0.4
    key = maker.index(maker.values[n].shape, fancy)
    number = maker.chance.choice(NUMBERS) if maker.chance.random() < 0.4 else None
    turned = maker.chance.random() < 0.3

    def action(w: World) -> None:
        v = w.values[m]
        w.values[n][key] = number if number is not None else v[::-1] if turned else v

    return Statement(f"v{n}[{key}] = {number if number is not None else f'v{m}'}", action, writes=n)


def _write_mask(maker: Maker) -> Statement:
    n, m = maker.pick(), maker.pick()
    number = maker.chance.choice(NUMBERS)

    def action(w: World) -> None:
        w.values[n][w.values[m] > 1] = number

    return Statement(f"v{n}[v{m} > 1] = {number!r}", action, writes=n)


def _in_place(maker: Maker) -> Statement:
    name, n, m = maker.chance.choice(IN_PLACE), maker.pick(), maker.pick()
    number = maker.chance.choice(NUMBERS) if maker.chance.random() < 0.4 else None
    part = maker.chance.random() < 0.4
    key = maker.index(maker.values[n].shape, False) if part else ...

    def action(w: World) -> None:
        other = w.values[m] if number is None else number
        if part:
            w.values[n][key] = getattr(operator, name)(w.values[n][key], other)
        else:
            getattr(operator, name)(w.values[n], other)

    text = f"{name}(v{n}[{key}], {number if number is not None else f'v{m}'})"
    return Statement(text, action, name == "ipow", n)


def _reduce(maker: Maker) -> Statement:
    name, n = maker.chance.choice(REDUCTIONS), maker.pick()
    rank = maker.values[n].ndim
    axis = maker.chance.choice((None, *range(-rank, rank))) if rank else None
    keep = maker.chance.random() < 0.3
    rounds = name in ("sum", "prod", "mean", "var") and maker.values[n].dtype.kind in "fcb"
    rounds = rounds or name in ("mean", "var")
    return Statement(f"v{n}.{name}(axis={axis}, keepdims={keep})",
                     lambda w: getattr(w.values[n], name)(axis=axis, keepdims=keep),
                     rounds)  # fmt: skip


def _reduce_where(maker: Maker) -> Statement:
    name, n = maker.chance.choice(("sum", "max", "any", "min", "prod")), maker.pick()
    first = {"initial": 1} if name in ("max", "min") else {}
    return Statement(f"{name}(v{n}, where=v{n} > 0)",
                     lambda w: getattr(w.np, name)(w.values[n], where=w.values[n] > 0, **first),
                     name in ("sum", "prod") and maker.values[n].dtype.kind in "fc")  # fmt: skip


def _scan(maker: Maker) -> Statement:
    n = maker.pick()
    axis = maker.chance.choice((None, -1))
    return Statement(f"cumsum(v{n}, {axis})", lambda w: w.np.cumsum(w.values[n], axis=axis))


def _where(maker: Maker) -> Statement:
    n, m, k = (maker.pick() for _ in range(3))
    return Statement(f"where(v{k}, v{n}, v{m})",
                     lambda w: w.np.where(w.values[k], w.values[n], w.values[m]))  # fmt: skip


def _cast(maker: Maker) -> Statement:
    n, dtype = maker.pick(), maker.chance.choice(DTYPES)
    source = maker.values[n]
    fits = source.dtype.kind not in "fc" or np.isfinite(source).all()
    if not fits or (source.size and source.dtype.kind in "fc" and abs(source).max() > 100):
        dtype = "f8"  # NumPy's own casts of such numbers to integers depend on the place
    return Statement(f"v{n}.astype({dtype!r})", lambda w: w.values[n].astype(dtype))


def _arrange(maker: Maker) -> Statement:
    n, m = maker.pick(), maker.pick()
    actions: dict[str, Action] = {
        "concatenate": lambda w: w.np.concatenate((w.values[n], w.values[m])),
        "roll": lambda w: w.np.roll(w.values[n], 2),
        "flip": lambda w: w.np.flip(w.values[n]),
        "stack": lambda w: w.np.stack((w.values[n], w.values[m]), -1),
        "clip": lambda w: w.np.clip(w.values[n], -2, 3),
        "repeat": lambda w: w.np.repeat(w.values[n], 2),
        "tile": lambda w: w.np.tile(w.values[n], 2),
        "sort": lambda w: w.np.sort(w.values[n]),
        "take": lambda w: w.np.take(w.values[n], [0, -1]),
        "diff": lambda w: w.np.diff(w.values[n]),
        "nonzero": lambda w: w.np.nonzero(w.values[n])[0],
        "unique": lambda w: w.np.unique(w.values[n]),
        "round": lambda w: w.np.round(w.values[n], 1),
        "broadcast": lambda w: w.np.broadcast_to(w.values[n], (2, *w.values[n].shape)).copy(),
        "pad": lambda w: w.np.pad(w.values[n], 1),
        "isin": lambda w: w.np.isin(w.values[n], [1, 2]),
        "count": lambda w: w.np.count_nonzero(w.values[n]),
    }
    name = maker.chance.choice(sorted(actions))
    return Statement(f"{name}(v{n}, v{m})", actions[name], name == "round")


def _at(maker: Maker) -> Statement:
    n, name = maker.pick(), maker.chance.choice(("add", "multiply", "maximum", "negative"))
    extent = maker.values[n].shape[0] if maker.values[n].ndim else 1
    places = [maker.chance.randrange(max(extent, 1)) for _ in range(4)]
    operands = () if name == "negative" else (2,)
    return Statement(f"{name}.at(v{n}, {places})",
                     lambda w: getattr(w.np, name).at(w.values[n], places, *operands),
                     writes=n)  # fmt: skip


def _fill(maker: Maker) -> Statement:
    n = maker.pick()
    number = maker.chance.choice(NUMBERS)
    return Statement(f"v{n}.fill({number!r})", lambda w: w.values[n].fill(number), writes=n)


def _sort(maker: Maker) -> Statement:
    n = maker.pick()
    return Statement(f"v{n}.sort()", lambda w: w.values[n].sort(), writes=n)


def _mixed(maker: Maker) -> Statement:
    """One of our arrays beside one of NumPy's, in another byte order."""
    n = maker.pick()
    plain_one = (np.arange(maker.values[n].size) % 7).reshape(maker.values[n].shape).astype(">i4")
    return Statement(f"v{n} + swapped", lambda w: w.values[n] + plain_one)


STATEMENTS: tuple[Callable[[Maker], Statement], ...] = (
    _binary, _binary, _with_number, _with_number, _unary, _unary, _ufunc, _view, _view, _fancy,
    _masked, _turned, _write, _write, _write_mask, _in_place, _in_place, _reduce, _reduce_where,
    _scan, _where, _cast, _arrange, _arrange, _at, _fill, _sort, _mixed,
)  # fmt: skip


# ------------------------------------------------------------------------------------- programs

MOST = 200_000
"""Elements of an array that a program goes on with."""


class Program:
    """A program that runs in both worlds while it is made up."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.maker = Maker(self.chance)
        self.theirs, self.ours = World(np, plain), World(fnp, ours)
        self.exact: list[bool] = []
        self.lines: list[str] = []
        shape = self._shape()
        for _ in range(2):
            dtype = self.chance.choice(DTYPES)
            recipe = Operand(dtype, shape, self.chance.randrange(1 << 16))
            self.lines.append(f"v{len(self.exact)} = {recipe}")
            self._add(made(recipe, plain), made(recipe, ours), True)

    def _shape(self) -> tuple[int, ...]:
        if self.chance.random() < 0.5:
            return (self.chance.choice(SIZES[:11] if self.chance.random() < 0.8 else SIZES),)
        return self.chance.choice(MATRICES)

    def _add(self, their: Any, our: Any, exact: bool) -> None:
        self.theirs.values.append(their)
        self.ours.values.append(our)
        self.exact.append(exact)
        self.maker.values = self.theirs.values

    def step(self) -> str:
        """One more statement; how it differs, nothing where it does not."""
        statement = self.maker.statement()
        self.lines.append(statement.text)
        want, refused = attempt(lambda: statement.action(self.theirs))
        got, error = attempt(lambda: statement.action(self.ours))
        if classes(refused) != classes(error) or (refused is None) != (error is None):
            return f"{type(error).__name__} for {type(refused).__name__}"
        exact = not statement.rounds and all(self.exact)
        if statement.writes >= 0 and not exact:
            self.exact = [False] * len(self.exact)
        if refused is not None or want is None:
            return ""
        if isinstance(want, np.generic) != isinstance(got, np.generic | Scalar):
            return f"{type(got).__name__} for {type(want).__name__}"
        if isinstance(want, np.ndarray | np.generic) and want.size <= MOST:
            new = not any(want is value for value in self.theirs.values)
            if new and isinstance(want, np.ndarray):
                self._add(want, got, exact)
            elif new:
                return self._compared(got, want, exact)
        return ""

    def finish(self) -> str:
        """How the variables differ in the end."""
        pairs = zip(self.ours.values, self.theirs.values, self.exact, strict=True)
        found = (
            f"v{n}: {how}" for n, (g, w, e) in enumerate(pairs) if (how := self._compared(g, w, e))
        )
        return next(found, "")

    def _compared(self, got: Any, want: Any, exact: bool) -> str:
        got, want = np.asarray(got), np.asarray(want)
        if (got.dtype, got.shape) != (want.dtype, want.shape):
            return f"{got.dtype}{got.shape} for {want.dtype}{want.shape}"
        if exact:
            return "" if alike(got, want, 0) else f"{_shown(got, want)}"
        return ""  # what was rounded otherwise may have gone another way since


def _shown(got: Any, want: Any) -> str:
    if not want.shape:
        return f"{got} for {want}"
    place = np.argwhere((got != want) & ~((got != got) & (want != want)))
    at = tuple(place[0]) if len(place) else (0,) * want.ndim
    return f"{got[at]} for {want[at]} at {at}" if want.size else "nothing"


def run(seed: int, options: dict[str, Any] | None = None) -> tuple[str, list[str]]:
    """How the program of this number differs, and its lines."""
    with fw.options(**(options or {})), np.errstate(all="ignore"):
        program = Program(seed)
        for _ in range(program.chance.randrange(2, 14)):
            found = program.step()
            if found:
                return found, program.lines
        return program.finish(), program.lines


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--compiled", action="store_true", help="compile small work, too")
    parser.add_argument("--small", type=int, default=0, help="elements of arrays left to NumPy")
    chosen = parser.parse_args()
    options = {"interpret": not chosen.compiled, "small": chosen.small}
    wrong = 0
    for number in range(chosen.seed * chosen.count, (chosen.seed + 1) * chosen.count):
        found, lines = run(number, options)
        if found:
            wrong += 1
            print(f"program {number}: {found}", *lines, sep="\n    ", flush=True)
    print(f"{wrong} of {chosen.count} programs differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
