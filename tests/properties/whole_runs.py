# ruff: noqa: E501, RUF005
"""Runs whole programs (`whole_programs.py`) with NumPy and with ours, says how they differ, and makes
those that do smaller.

NumPy's run also says how far each variable is defined: EXACT to the bit, CLOSE where one statement
of exact operands rounds in another order, SIGNS but for the signs of zeros, OPEN where such a value
has been used since.  Our own runs must give one another's bits whatever NumPy defines.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from tests.properties.operands import Operand, attempt, classes, numbers
from tests.properties.whole_values import (
    CLOSE,
    EXACT,
    OPEN,
    SIGNS,
    compared,
    content_of,
    flat,
    holds_nan,
    is_beyond_floats,
    kind,
    overlap,
    roots,
    size,
)  # fmt: skip

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import Array

NAME = r"\bv\d+\b"
MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "unfused": {"fuse": False, "threads": 1},
    "small=0": {"small": 0},
    "small=0, unfused": {"small": 0, "fuse": False, "threads": 1},
    "compiled": {"small": 0, "interpret": False},
    "compiled, default": {"interpret": False},
}
"""Settings of a run; `default` is what users have."""
USERS = {"small": 512, "interpret": True}
SAME = (("default", "unfused"), ("small=0", "small=0, unfused"), ("small=0", "compiled"),
        ("default", "compiled, default"))  # fmt: skip
"""Pairs whose bits must be equal wherever both ran."""
ROUNDED = re.compile(
    r"np\.(exp|sin|tanh|log1p|arctan|cbrt|sqrt|round|gradient|linspace)\b|\*\*|mean|\bvar\b|std"
    r"|fft|median|percentile|quantile|average|interp|cov|corrcoef|trapezoid|histogram"
)
ADDED = re.compile(
    r"\b(sum|prod|trace|cumsum|cumprod|dot|v?dot|inner|einsum|tensordot|kron|cross|nansum)\b"
    r"|@|add\.(reduce|accumulate)|convolve|correlate|polyval"
)
MULTIPLIED = re.compile(r"[*/]|abs|square|multiply|sqrt|sign|prod")
SIGNED = re.compile(r"/|%|\*\*|sign|arctan|sqrt|cbrt|fmod|reciprocal|1j|c16|window|view|T\b")
UNBOUNDED = re.compile(r"/|np\.(inf|nan)")
EXTREME = re.compile(
    r"(?<!arg)(max|min|sort)|clip|unique|ptp|sign\b|union1d|intersect1d|setdiff1d|partition"
)
JUMPS = re.compile(
    r"[<>&|^%~]|==|!=|//|where|floor|ceil|rint|trunc|sign|astype|arg|logical|is\w+\(|round"
)
SIGN_OF = re.compile(r"signbit|copysign")
BOOLEAN = re.compile(r"np\.(less|greater|equal|not_equal|logical_|is)")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that stand together; `repeats` times where that is not 0."""

    lines: tuple[str, ...]
    repeats: int = 0
    guard: int = -1

    def guarded(self, number: int) -> Block:
        return replace(self, guard=number)

    def text(self) -> str:
        lines = list(self.lines)
        if self.repeats:
            lines = [f"for k in range({self.repeats}):", *("    " + line for line in lines)]
        if self.guard >= 0:
            lines = ["try:", *("    " + line for line in lines), "except Exception as error:",
                     f"    refused({self.guard}, error)"]  # fmt: skip
        return "\n".join(lines)

    def smaller(self) -> Iterator[Block]:
        """Forms of the block with a line or repetitions less."""
        if self.repeats:
            for at in range(len(self.lines)):
                if len(self.lines) > 1:
                    yield replace(self, lines=self.lines[:at] + self.lines[at + 1 :])
            yield replace(self, repeats=0) if "k" not in "".join(self.lines) else self
            for fewer in (1, 2, self.repeats // 2, self.repeats - 1):
                if 0 < fewer < self.repeats:
                    yield replace(self, repeats=fewer)


def source(blocks: list[Block]) -> str:
    return "\n".join(block.text() for block in blocks)


@lru_cache(4096)
def _compiled(text: str) -> Any:
    return compile(text, "<program>", "exec")


_numbers = lru_cache(64)(numbers)  # every run of a program begins with the same


@dataclass
class World:
    """The names a program begins with."""

    np: Any
    refusals: list[tuple[int, frozenset[type]]] = field(default_factory=list)

    def made(self, dtype: str, shape: tuple[int, ...], seed: int, tame: bool) -> Any:
        return self.np.array(_numbers(Operand(dtype, shape, seed, tame)))

    def plain(self, dtype: str, shape: tuple[int, ...], seed: int, tame: bool) -> Any:
        """NumPy's in both worlds."""
        return np.array(_numbers(Operand(dtype, shape, seed, tame)))

    def shared(self, value: Any) -> Any:
        """An array of the world in the memory of NumPy's."""
        return value if self.np is np else fw.asarray(value, copy=False)

    def window(self, value: Any) -> Any:
        """NumPy's array in the memory of one of the world's."""
        return value.view(np.ndarray) if isinstance(value, Array) else value

    def refused(self, number: int, error: Exception) -> None:
        self.refusals.append((number, classes(error)))

    def names(self) -> dict[str, Any]:
        return {"np": self.np, "made": self.made, "plain": self.plain, "shared": self.shared,
                "window": self.window, "refused": self.refused}  # fmt: skip


class Oracle:
    """NumPy's run, block by block."""

    def __init__(self) -> None:
        self.world = World(np)
        self.scope: dict[str, Any] = self.world.names()
        self.levels: dict[str, int] = {}
        self._contents: dict[str, Any] = {}
        self._made_nan = False
        self._values: dict[str, Any] | None = {}

    @property
    def values(self) -> dict[str, Any]:
        if self._values is None:
            self._values = {n: value for n, value in self.scope.items() if n[1:].isdigit()}
        return self._values

    def shapes(self) -> dict[str, Any]:
        return {name: np.shape(v) for name, v in self.values.items() if not isinstance(v, list)}

    def refuses(self, block: Block, shapes: dict[str, Any]) -> bool:
        """Whether the block fails here, or ends with other `shapes`; nothing is changed."""
        before = self.state()
        _, error = attempt(lambda: self.execute(block))
        refused = error is not None or self.shapes() != shapes
        self.restore(before)
        return refused

    def state(self) -> tuple[Any, ...]:
        """What `restore` goes back to: names, the bytes under all arrays, lists, refusals."""
        memory = {id(root): root for value in self.values.values() for root in roots(value)}
        lists = [(value, list(value)) for value in self.values.values() if isinstance(value, list)]
        kept = [(root, root.copy("K")) for root in memory.values()]
        return dict(self.scope), kept, lists, len(self.world.refusals)

    def restore(self, state: tuple[Any, ...]) -> None:
        scope, kept, lists, refusals = state
        self._values = None
        self.scope.clear()
        self.scope.update(scope)
        for root, content in kept:
            root[...] = content
        for value, items in lists:
            value[:] = items
        del self.world.refusals[refusals:]

    def execute(self, block: Block) -> None:
        self._values = None
        quiet = np.errstate(all="ignore", invalid="warn")
        with quiet, warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            exec(_compiled(block.text()), self.scope)
        self._made_nan = any("invalid value" in str(each.message) for each in told)

    def run(self, block: Block) -> None:
        """One block more, and what it leaves undefined."""
        before, content = self.values, self._contents
        text = block.text()
        names = [name for name in set(re.findall(NAME, text)) if name in before]
        level = max((self.levels.get(name, 0) for name in re.findall(NAME, text)), default=EXACT)
        if level > SIGNS or (level == SIGNS and SIGNED.search(text)):
            level = OPEN
        self.execute(block)
        after = self.values
        self._contents = {name: content_of(value) for name, value in after.items()}
        changed = {
            name for name, value in after.items()
            if value is not before.get(name) or self._contents[name] != content.get(name)
        }  # fmt: skip
        operands = [before[name] for name in names] + [after[name] for name in changed]
        written = [after[name] for name in changed]
        level = max(level, self.own_level(block, text, operands, written))
        new = [name for name in changed if name not in before]
        if level == EXACT:
            return
        if new and "=" in text and not block.repeats and text.startswith(f"{new[0]} = "):
            self.levels[new[0]] = level
            return
        for name, value in after.items():  # whatever shares memory with what was written
            pairs = itertools.product(flat([value]), flat(written))
            if name in changed or any(overlap(one, other) for one, other in pairs):
                self.levels[name] = max(level, SIGNS) if level < CLOSE else OPEN

    def own_level(self, block: Block, text: str, operands: list[Any], written: list[Any]) -> int:
        values = flat(operands)
        kinds = {kind(value) for value in values if value is not None}
        rounds = bool(ROUNDED.search(text))
        rounds |= bool(ADDED.search(text)) and not kinds <= set("?bBhHiIlLqQ")
        rounds |= bool(kinds & set("FD")) and bool(MULTIPLIED.search(text))
        rounds |= "/" in text and bool(ADDED.search(text))
        extreme = bool(kinds & set("efdFD")) and bool(EXTREME.search(text))
        if SIGN_OF.search(text) and (self._made_nan or extreme or any(map(holds_nan, values))):
            return OPEN  # signs of NaNs, and of zeros of which either is the largest
        if self._is_cast_beside_mask(text) and _meet(text, values):
            return OPEN  # NumPy writes beside the mask where it casts what overlaps
        as_uint32 = "u4" in text or "I" in map(kind, flat(written))
        if as_uint32 and (UNBOUNDED.search(text) or kinds & set("efdFD")):
            return OPEN  # numbers out of range
        rounds |= "1j" in text and bool(MULTIPLIED.search(text))
        if rounds and "prod" in text and kinds & set("efdFD"):
            return OPEN  # between overflow and zero the order decides
        if rounds and any(map(is_beyond_floats, values)):
            return OPEN  # what is left where such numbers cancel
        if extreme and (rounds or SIGNED.search(text)):
            return OPEN
        if not rounds:
            return SIGNS if extreme else EXACT
        several = len({np.finfo(kind).dtype.char.lower() for kind in kinds & set("efdFD")}) > 1
        narrow = bool(kinds & set("?bBhH"))  # what is computed from these may be float16
        return OPEN if block.repeats or several or narrow or JUMPS.search(text) else CLOSE

    def _is_cast_beside_mask(self, text: str) -> bool:
        """Whether truth is written as another type into what a mask selects."""
        outs = map(self.values.get, re.findall(r"out=(v\d+)", text))
        kinds = {getattr(out, "dtype", None) for out in outs}
        return "where=" in text and bool(BOOLEAN.search(text)) and bool(kinds - {np.dtype(bool)})

    def forget(self, most: int) -> None:
        """Names of what is too large, or is no array."""
        for name, value in self.values.items():
            if not isinstance(value, np.ndarray | np.generic | list) or size(value) > most:
                self.scope.pop(name)
                self._values = None
                self._contents.pop(name, None)


def _meet(text: str, values: list[Any]) -> bool:
    """Whether what is written may lie in memory that the statement reads."""
    names = re.findall(NAME, text)
    pairs = itertools.combinations(values, 2)
    return len(set(names)) < len(names) or any(overlap(a, b) for a, b in pairs if a is not b)


# ----------------------------------------------------------------------------------------- our runs


@contextmanager
def settings(mode: str) -> Iterator[None]:
    with fw.options(**(USERS | MODES[mode])), np.errstate(all="ignore"):
        yield


Refusals = list[tuple[int, frozenset[type]]]
Outcome = tuple[dict[str, Any], Refusals, str]
PLACE = re.compile(r"(v\d+)\[-?\d+(?:, -?\d+)*\] [^=]*= ")
"""One place that is set."""


def outcome(blocks: list[Block], mode: str) -> Outcome:
    """The variables in the end, what was refused, and an error that nobody caught."""
    world = World(fnp)
    scope = world.names()
    with settings(mode):
        code = _compiled(source(blocks))
        _, error = attempt(lambda: exec(code, scope))
        values, late = attempt(
            lambda: {
                name: list(map(_copy, value)) if isinstance(value, list) else _copy(value)
                for name, value in scope.items()
                if name[1:].isdigit()
            }
        )
    error = error or late
    return values or {}, world.refusals, f"{type(error).__name__}: {error}" if error else ""


def _copy(value: Any) -> Any:
    return np.array(np.asarray(value))


def numpys(blocks: list[Block]) -> Oracle | None:
    """NumPy's run; None where the blocks are no program."""
    oracle = Oracle()
    for block in blocks:
        _, error = attempt(lambda block=block: oracle.run(block))
        if error is not None:
            return None
    return oracle


def difference(blocks: list[Block], modes: tuple[str, ...], oracle: Oracle | None = None) -> str:
    """How the program's runs differ from NumPy's and from one another; nothing where they do not."""
    oracle = oracle or numpys(blocks)
    if oracle is None:
        return ""
    ours = {mode: outcome(blocks, mode) for mode in modes}
    for mode, (values, refusals, error) in ours.items():
        if error:
            return f"{mode}: {error}"
        if refusals != _refusals(blocks, oracle.world.refusals, refusals):
            return f"{mode}: refused {refusals} for {oracle.world.refusals}"
        for name, want in oracle.values.items():
            if not isinstance(want, np.ndarray | np.generic | list):
                continue
            found = compared(values[name], want, oracle.levels.get(name, EXACT))
            if found:
                return f"{mode}, {name}: {found}"
    for one, other in SAME:
        if one in ours and other in ours:
            for name, value in ours[one][0].items():
                found = compared(value, ours[other][0][name], EXACT)
                if found:
                    return f"{one} and {other}, {name}: {found}"
    return ""


def _refusals(blocks: list[Block], wanted: Refusals, found: Refusals) -> Refusals:
    """What has to be refused.  Where one place of NumPy's own array is set to one of ours with
    dims, NumPy's code asks it for a number, and passes on that there is none: a TypeError.
    """
    text = source(blocks)
    places = {block.guard: PLACE.match(block.lines[0]) for block in blocks if block.guard >= 0}
    own = frozenset({TypeError})
    return [
        (number, own)
        if (number, own) in found
        and ValueError in kinds
        and (place := places.get(number))
        and re.search(rf"^{place[1]} = (plain|window)\(|^v\d+ = shared\({place[1]}\)", text, re.M)
        else (number, kinds)
        for number, kinds in wanted
    ]


def reduced(blocks: list[Block], modes: tuple[str, ...], tries: int = 400) -> list[Block]:
    """A smaller program that differs in the same mode."""
    kind = difference(blocks, modes).split(":")[0].split(",")[0]
    changed = True
    while changed and tries > 0:
        changed = False
        for candidate in _candidates(blocks):
            tries -= 1
            if difference(candidate, modes).startswith(kind):
                blocks, changed = candidate, True
                break
            if tries <= 0:
                break
    return blocks


def _candidates(blocks: list[Block]) -> Iterator[list[Block]]:
    for at in reversed(range(len(blocks))):
        yield blocks[:at] + blocks[at + 1 :]
    for at, block in enumerate(blocks):
        for smaller in block.smaller():
            if smaller != block:
                yield blocks[:at] + [smaller] + blocks[at + 1 :]
