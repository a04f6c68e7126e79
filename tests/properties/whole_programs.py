# ruff: noqa: E501, RUF005
"""Whole array programs as people write them, as Python source: expressions of several operators,
views with steps and without order, writes through views and masks, `out=` and `where=`, loops that
repeat a body, windows on NumPy's memory, errors that are caught.

A program is a list of blocks (statements of its outermost level).  A block that NumPy refuses stands
in a `try`; what it raised is compared, too.  `tests.properties.whole_runs` runs programs.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from typing import Any

import numpy as np
from tests.properties.array_programs import BINARY, EXACT_UNARY, REDUCTIONS, ROUNDED_UNARY, Maker
from tests.properties.operands import DTYPES, attempt
from tests.properties.whole_idioms import VALUES
from tests.properties.whole_idioms import WRITES as IDIOM_WRITES
from tests.properties.whole_runs import NAME, Block, Oracle

SIZES = (
    (1, 3, 16, 100, 511, 512, 513, 513, 600, 1000, 1024, 1025, 2049, 4096, 4097, 5000),
    (8192, 8193, 10_000, 10_001, 16_385, 40_000, 40_001, 2**17, 2**17 + 1),
)
"""On both sides of the sizes at which another way is taken; the larger ones come less often."""
MATRICES = (
    (
        (2, 3), (16, 17), (1, 513), (513, 1), (20, 30), (23, 23), (32, 32), (33, 31), (64, 80),
        (3, 1700), (8, 9, 10), (4, 130, 2), (2, 3, 4), (0, 5), (600, 2), (2, 600), (0,), (),
    ),
    ((100, 100), (101, 100), (130, 260), (200, 201), (21, 22, 23), (363, 363)),
)  # fmt: skip
REPEATS = (3, 4, 5, 7, 10, 20, 60)
MOST, LARGEST = 300_000, 1 << 20
"""Elements of a value that a program goes on with, and of what one statement or loop goes over."""
NAMED = re.compile(r"(v\d+)((?:\[[^\[\]{}]*None[^\[\]{}]*\]|\.T)*)")
"""Names with what makes them broadcast otherwise."""
PAIRS = re.compile(r"(?:outer|meshgrid)\((v\d+\[[^\]]*\]), (v\d+\[[^\]]*\])\)")
"""What is combined, each element with each."""
UPDATED = re.compile(r"\.at\((v\d+),")
"""What a ufunc's `at` changes."""
SQUARES = re.compile(r"tril\((v\d+)\)")
"""What may give a square of each row."""
NUMBERS = (
    "0", "1", "2", "3", "-1", "0.5", "0.25", "-2.5", "True", "1j", "300", "-0.0", "np.nan",
    "np.inf", "np.float32(1.5)", "np.int8(3)", "np.uint64(7)", "np.float64(-0.25)", f"{2**40}",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", ">", "&", "|",
             "^", "**")  # fmt: skip
IN_PLACE = ("+=", "-=", "*=", "+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "**=")
MASKS = ("{0} > 1", "{0} < {1}", "{0} != 0", "np.isnan({0})", "({0} > -3) & ({0} < 2)", "{0} == {1}",
         "~({0} > 0)", "np.arange({0}.size).reshape({0}.shape) % 3 == 0")  # fmt: skip
VIEWS = (
    "{0}.T", "{0}[::-1]", "{0}[::2]", "{0}[..., ::-1]", "{0}[..., 1:]", "{0}[1:-1]", "{0}[None]",
    "{0}.reshape(-1)", "{0}.ravel()", "{0}.swapaxes(0, -1)", "{0}.squeeze()", "{0}[..., None]",
    "{0}.real", "{0}.imag", "np.moveaxis({0}, 0, -1)", "{0}[:]", "{0}.view()", "np.flip({0})",
    "{0}.reshape(2, -1)", "np.broadcast_to({0}, (2, *{0}.shape))", "{0}.diagonal()", "{0}[-1]",
    "np.atleast_2d({0})", "{0}[..., 0]", "{0}[3::-1]", "{0}[-2:1:-3]",
)  # fmt: skip
ARRANGED = (
    "np.concatenate(({0}, {1}))", "np.roll({0}, 2)", "np.roll({0}, -1, axis=0)", "np.flipud({0})",
    "np.stack(({0}, {1}), -1)", "np.clip({0}, -2, 3)", "{0}.clip(0, None)", "np.repeat({0}, 2)",
    "np.tile({0}, 2)", "np.sort({0})", "np.take({0}, [0, -1])", "np.diff({0})", "np.unique({0})",
    "np.nonzero({0})[0]", "np.round({0}, 1)", "np.pad({0}, 1)", "np.isin({0}, [1, 2])",
    "np.count_nonzero({0})", "np.cumsum({0})", "{0}.cumsum(axis=-1)", "np.cumprod({0} > 0)",
    "np.where({0} > {1}, {0}, {1})", "np.where({0} > 0, {1}, 0)", "np.vstack(({0}, {1}))",
    "np.nan_to_num({0})", "np.tril({0})", "np.argsort({0}, kind='stable')", "np.searchsorted({0}, 1)",
    "np.hstack([{0}, {1}])", "np.zeros_like({0})", "np.ones({0}.shape) * {1}", "{0}.copy()",
    "np.arange({0}.size) * 2", "np.linspace(0, 1, {0}.size).reshape({0}.shape) > 0.5", "+{0}",
    "np.minimum.accumulate({0})", "np.add.outer({0}[:3], {1}[:4])", "np.maximum.reduce({0})",
    "{0}.astype('f4')", "{0}.astype('f8')", "{0}.astype(bool)", "({0} > 0).astype('i4')",
    "({0} > 0).astype('u1') * 3", "{0}.astype('c16')", "np.meshgrid({0}[:5], {1}[:3])[0]",
    "np.expand_dims({0}, 0) + {1}", "np.split({0}, [1, 3])[1]", "np.array([{0}, {0}])", "{0}.flatten()",
    "np.gradient({0})", "np.ptp({0})", "{0}.all() | {1}.any()", "np.array_equal({0}, {1})",
    "np.trace({0})", "np.ediff1d({0})", "np.bincount(({0} > 0).ravel())", "np.append({0}, 1)",
    "np.insert({0}, 0, 2)", "np.delete({0}, 0)", "np.full({0}.shape, {0}.size)", "np.outer({0}[:3], {1}[:2])",
    "np.logical_xor({0}, {1})", "np.divmod({0}, 3)[1]", "np.select([{0} > 1, {0} < 0], [{0}, {1}], 7)",
)  # fmt: skip
WRITES = (
    "{0}.fill({n})", "{0}.sort()", "{0}[...] = {e}", "{0}[:] = {0}[::-1]", "{0}[1:] = {0}[:-1]",
    "{0}[1:] += {0}[:-1]", "{0}[::2] = {n}", "{0}[::-1][1:] -= {n}", "{0}.T[...] *= {n}",
    "{0}.T[1:] = {n}", "{0}[0], {0}[-1] = {0}[-1], {0}[0]", "np.add({0}, {e}, out={0})",
    "np.multiply({0}, {n}, out={0}, where={m})", "np.subtract({0}, {1}, out={2})",
    "np.maximum({0}, {1}, out={2}, where={m})", "np.copyto({0}, {1}, where={m})",
    "np.putmask({0}, {m}, {n})", "np.clip({0}, -1, 2, out={0})", "np.add.at({0}, [0, 1, 0], {n})",
    "{0}[[0, -1, 1]] = {n}", "{0}[[0, 0]] += {n}", "{0}[np.array([1, 0])] = {0}[:2]",
    "{0}[{m}] = {n}", "{0}[{m}] += {n}", "{0}[{m}] = {1}[{m}]", "{0}[{m}] *= {1}[{m}]",
    "{0}[1:][{0}[1:] > 1] += {n}", "{0}[..., 1:][{0}[..., 1:] < 0] = {n}", "{0}[{0} > 2] -= {0}[{0} > 2]",
    "{0}[::2][{0}[::2] != 0] *= {n}", "{0}.T[{0}.T > 0] = {n}", "{0}.reshape(-1)[::3] = {n}",
    "{0}.ravel()[1:] += {n}", "np.negative({0}, out={0})", "np.put({0}, [0, 2], {n})", "{0}.flat[1:3] = {n}",
    "{0}[np.nonzero({m})] = {n}", "{0}[np.where({m})] += {n}", "{0}.real += {n}", "{0}[0] += {0}.max()",
    "{0}[..., 0] = {0}[..., -1]", "{0}[1:-1] = ({0}[:-2] + {0}[2:]) * 0.5", "{0}[:, 0] = {0}[:, 1]",
    "{0}[1:-1, 1:-1] += 0.25 * ({0}[:-2, 1:-1] + {0}[2:, 1:-1] - 2 * {0}[1:-1, 1:-1])",
    "np.fill_diagonal({0}, {n})", "{0}[0] = {0}.sum()", "{0}[{0}.shape[0] // 2:] = {n}",
    "np.floor({0}, out={0})", "np.sqrt(abs({0}), out={0}, where={m})", "{0} = {0}[::-1].copy()",
    "np.take_along_axis({0}, np.argsort({0}, axis=0), 0)[0] = 1", "{0}[-1:] = {1}[:1]",
)  # fmt: skip
OF_THE_ROUND = (
    "{0}[k % {0}.shape[0]] = {n}", "{0}[k % {0}.shape[0]] += {1}[k % {1}.shape[0]]", "{0} = {0} + k",
    "{0}[k % 3:] += {n}", "{0}[k % 2::2] = {1}[k % 2::2]", "{0} = {0} * 0.5 + {1}", "{0} += {1} * k",
    "{0}[..., k % {0}.shape[-1]] -= {n}", "{0}, {1} = {1}, {0}", "{0} = np.where({m}, {0}, {1})",
    "{0}[{0} > k] = {n}", "{0} = np.roll({0}, 1)", "{0}[:-1] = {0}[1:] - {0}[:-1]", "{0} = -{0}",
    "{0} = np.maximum({0}, {1}) - {n}", "{0}[1:-1] = {1}[2:] - {1}[:-2]", "{0} = {0}.copy()",
    "{0} = {1} - {0}.max()", "{0} = np.clip({0} + {n}, -50, 50)", "{0}[k % 3] = {1}[-1 - k % 3]",
    "{0} = np.concatenate(({0}[1:], {0}[:1]))", "{0}[:, k % {0}.shape[1]] = {n}",
    "if k % 2: {0} += {n}", "if {0}.max() > 2: {0} -= {n}",
)  # fmt: skip
CUTS = (("",),) * 6 + (
    ("[1:]", "[:-1]"), ("[::-1]", ""), ("[::2]",), ("[2:]", "[1:-1]", "[:-2]"), (".T",), ("", ".copy()"),
    ("[..., 1:]", "[..., :-1]"), ("[1:, 1:]", "[:-1, 1:]", "[1:, :-1]"), ("[:, None]", "[None]"),
)  # fmt: skip
"""What stands behind the names of one expression: neighbours, turned ones, rows beside columns."""


class Written(Maker):
    """One program being made up; `oracle` has run what stands so far."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed))
        self.oracle = Oracle()
        self.blocks: list[Block] = []
        self.count = 0
        self.cuts: tuple[str, ...] = ("",)
        self.budget = self.chance.randrange(2, 12)
        shape = self.shape()
        for number in range(self.chance.choice((2, 2, 3))):
            self.operand(shape if number < 2 or self.chance.random() < 0.5 else self.shape())
        while self.budget > 0:
            self.budget -= 1
            self.block()

    # ------------------------------------------------------------------------------- what is drawn

    def shape(self) -> tuple[int, ...]:
        rare = self.chance.random() < 0.1
        if self.chance.random() < 0.5:
            return (self.chance.choice(SIZES[rare]),)
        return self.chance.choice(MATRICES[rare])

    def operand(self, shape: tuple[int, ...]) -> None:
        chance = self.chance
        dtype = (
            chance.choice(("f8", "f4", "i8")) if chance.random() < 0.5 else chance.choice(DTYPES)
        )
        maker = "shared" if chance.random() < 0.06 and 0 not in shape else "made"
        tame = chance.random() < 0.85
        text = f"{maker}({dtype!r}, {shape}, {chance.randrange(1 << 16)}, {tame})"
        if maker == "shared":  # NumPy's memory, and our array of it
            plain = self.new()
            self.keep(Block((f"{plain} = plain{text[6:]}",)))
            text = f"shared({plain})"
        self.keep(Block((f"{self.new()} = {text}",)))

    def new(self) -> str:
        self.count += 1
        return f"v{self.count - 1}"

    def arrays(self) -> list[str]:
        return [name for name, value in self.oracle.values.items() if isinstance(value, np.ndarray)]

    def name(self, beside: str = "") -> str:
        """An array, mostly one that fits the one `beside`."""
        names = self.arrays()
        if beside in names and self.chance.random() < 0.9:
            shape = self.oracle.values[beside].shape
            names = [name for name in names if self.oracle.values[name].shape == shape]
        recent = names[-4:] if self.chance.random() < 0.5 else names
        return self.chance.choice(recent)

    def number(self) -> str:
        few = self.chance.random() < 0.6
        return self.chance.choice(NUMBERS[:8] if few else NUMBERS)

    def mask(self, beside: str) -> str:
        return self.chance.choice(MASKS).format(beside, self.name(beside))

    def filled(self, template: str, first: str) -> str:
        """A template with names, a number, a mask and an expression."""
        names = [first, self.name(first), self.name(first)]
        parts = {"n": self.number(), "m": self.mask(first), "e": self.expression(first, 1)}
        return template.format(*names, **parts)

    def expression(self, beside: str, depth: int) -> str:
        """Operators and functions of arrays that fit."""
        chance = self.chance
        if depth <= 0 or chance.random() < 0.15:
            if chance.random() < 0.25:
                return self.number()
            return self.name(beside) + chance.choice(self.cuts)
        left, right = self.expression(beside, depth - 1), self.expression(beside, depth - 2)
        pick = chance.random()
        if pick < 0.55:
            sign = chance.choice(OPERATORS)
            if sign == "**" and not re.search(NAME, left + right):
                sign = "*"  # a power of Python's own integers has no end
            return f"({left} {sign} {right})"
        if pick < 0.7:
            return f"np.{chance.choice(EXACT_UNARY)}({left})"
        if pick < 0.75:
            return f"np.{chance.choice(ROUNDED_UNARY)}({left})"
        if pick < 0.9:
            return f"np.{chance.choice(BINARY)}({left}, {right})"
        return f"np.where({self.mask(beside)}, {left}, {right})"

    def subscript(self, name: str) -> str:
        """`v1[...]`, as text."""
        key = self.index(self.oracle.values[name].shape, self.chance.random() < 0.4)
        return f"{name}[{', '.join(map(_spelled, key)) or '...'}]"

    # ------------------------------------------------------------------------------- what is added

    def keep(self, block: Block) -> None:
        """Run a block with NumPy and add it to the program; where it fails, inside a `try`."""
        if not self.fits(block):
            return
        before = self.oracle.state()
        _, error = attempt(lambda: self.oracle.run(block))
        if error is not None:
            self.oracle.restore(before)
            if self.chance.random() >= 0.3:  # not too many of these
                return
            block = block.guarded(len(self.blocks))
            self.oracle.run(block)
        self.blocks.append(block)
        self.oracle.forget(MOST)

    def fits(self, block: Block) -> bool:
        """Whether no value on the way, and no loop, can be too large: as if all that is named were
        broadcast together, and a loop kept what each round makes.
        """
        text = block.text()
        if any(not self.part(name).flags.writeable for name in UPDATED.findall(text)):
            return False  # NumPy's `at` writes into what is read-only, too
        shapes = [self.part(name + cut).shape for name, cut in set(NAMED.findall(text))]
        pairs = [self.part(one).size * self.part(other).size for one, other in PAIRS.findall(text)]
        pairs += [
            self.part(one).size * max((1, *self.part(one).shape)) for one in SQUARES.findall(text)
        ]
        together = itertools.zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
        size = max([math.prod(map(max, together)), *pairs])
        return size * (1 + block.repeats * len(block.lines) / 4) <= LARGEST

    def part(self, text: str) -> Any:
        """A view of a variable; nothing where it has none."""
        view, _ = attempt(lambda: eval(text, dict(self.oracle.values)))
        return np.asarray(() if isinstance(view, list) else view)

    def block(self) -> None:
        """One more statement, or a loop."""
        if not self.arrays():
            return
        if self.chance.random() < 0.2:
            self.loop()
        else:
            self.keep(Block((self.line(),)))

    def line(self) -> str:
        """A statement of the outermost level."""
        chance, first = self.chance, self.name()
        self.cuts = chance.choice(CUTS)
        pick = chance.random()
        if pick < 0.2:
            return f"{self.new()} = {self.expression(first, chance.randrange(1, 5))}"
        if pick < 0.3:
            return f"{self.new()} = {chance.choice(VIEWS).format(first)}"
        if pick < 0.38:
            return f"{self.new()} = {self.subscript(first)}"
        if pick < 0.48:
            return f"{self.new()} = {chance.choice(ARRANGED).format(first, self.name(first))}"
        if pick < 0.58:
            return f"{self.new()} = {self.reduction(first)}"
        if pick < 0.61:
            return f"{self.new()} = window({first})"
        if pick < 0.68:
            return f"{self.new()} = {chance.choice(VALUES).format(first, self.name(first))}"
        if pick < 0.7:
            return (
                f"{first}[{self.mask(first)}].sum()"
                if chance.random() < 0.5
                else f"float({first}.max())"
            )
        return self.write(first)

    def write(self, first: str) -> str:
        """A statement that changes an array or a name."""
        chance, pick = self.chance, self.chance.random()
        value = self.expression(first, chance.randrange(3))
        if pick < 0.15:
            return f"{self.subscript(first)} = {value}"
        if pick < 0.35:
            return f"{self.subscript(first)} {chance.choice(IN_PLACE)} {value}"
        if pick < 0.5:
            return f"{first} {chance.choice(IN_PLACE)} {value}"
        if pick < 0.55:
            name = chance.choice(BINARY)
            where = f", where={self.mask(first)}" if chance.random() < 0.6 else ""
            return f"np.{name}({first}, {self.name(first)}, out={self.name(first)}{where})"
        return self.filled(chance.choice(WRITES if pick < 0.82 else IDIOM_WRITES), first)

    def reduction(self, first: str) -> str:
        chance, rank = self.chance, self.oracle.values[first].ndim
        axes: tuple[Any, ...] = (None, *range(-rank, rank), *([tuple(range(rank))] if rank else []))
        if rank > 2:
            axes += ((0, 2), (1, 2), (0, 1))
        given = f"axis={chance.choice(axes)}" + (", keepdims=True" if chance.random() < 0.3 else "")
        name = chance.choice(REDUCTIONS)
        if name in ("sum", "any", "all", "prod") and chance.random() < 0.15:
            given += f", where={self.mask(first)}"
        value = first if chance.random() < 0.6 else self.expression(first, 2)
        return f"np.{name}({value}, {given})" if value != first else f"{first}.{name}({given})"

    def loop(self) -> None:
        """A body that is repeated: each line must run, and change no shape."""
        body: list[str] = []
        self.cuts = ("",)
        held = self.new()
        self.keep(Block((f"{held} = []",)))
        shapes = self.oracle.shapes()
        for _ in range(self.chance.randrange(1, 6)):
            line = self.repeated(self.name(), held)
            tried = Block(tuple(body + [line]), 3)
            if self.fits(tried) and not self.oracle.refuses(tried, shapes):
                body.append(line)
        repeats = self.chance.choice(REPEATS)
        while body and repeats > 1 and not self.fits(Block(tuple(body), repeats)):
            repeats //= 2
        if body:
            self.keep(Block(tuple(body), repeats))

    def repeated(self, first: str, held: str) -> str:
        """A line of a loop; `held` is a list that keeps what a round has made."""
        chance, pick = self.chance, self.chance.random()
        arranged = ARRANGED if chance.random() < 0.75 else VALUES
        other = chance.choice(arranged).format(first, self.name(first))
        if pick < 0.4:
            return self.filled(chance.choice(OF_THE_ROUND), first)
        if pick < 0.55:
            return self.write(first)
        if pick < 0.65:
            return f"{first} = {self.expression(first, 3)}"
        if pick < 0.8:
            return f"{first} = {other} {chance.choice('+-*')} {self.name(first)}"
        if pick < 0.9:
            return f"{held}.append({other})"
        return f"{held}.append({self.reduction(first)})"


def _spelled(entry: Any) -> str:
    """An entry of a subscript as people write it."""
    if isinstance(entry, np.ndarray):
        step = 2 if entry.size < 3 or entry[2] else 3
        return f"np.arange({entry.size}) % {step} == 0"
    if isinstance(entry, slice):
        parts = ["" if part is None else str(part) for part in (entry.start, entry.stop)]
        return ":".join(parts) + ("" if entry.step is None else f":{entry.step}")
    return "..." if entry is Ellipsis else repr(entry)


def program(seed: int) -> tuple[list[Block], Oracle]:
    """The blocks of the program of this number, and NumPy's run of them."""
    written = Written(seed)
    return written.blocks, written.oracle
