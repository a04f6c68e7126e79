# ruff: noqa: E501
"""Loops that repeat the same statements: whole updates, insides and borders, views held across
iterations, overlapping parts of one array, masks, repeated indices, `out=` with `where=` and
`casting=`, old versions kept, branches taken now and then.

What a loop records is computed in flushes of the same structure, from a memo: memory of dead
arrays is used again, regions are written in place, versions are merged.  All arithmetic is exact,
so every run must have NumPy's bits; only the sign of a zero may differ where either zero is the
smallest or largest.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from tests.properties.operands import attempt, classes

import fusewright as fw
import fusewright.numpy as fnp

FLAT = (16, 300, 511, 512, 513, 700, 1024, 1025, 2500, 4096, 4097, 9000, 2**15 - 1, 2**15, 2**15 + 1,
        2**16, 2**16 + 1, 2**20)  # fmt: skip
GRIDS = ((6, 50), (23, 23), (20, 60), (3, 400), (64, 64), (65, 63), (100, 90), (182, 180), (256, 256),
         (257, 256), (1024, 1024))  # fmt: skip
BOXES = ((5, 12, 10), (9, 9, 9), (4, 16, 64), (20, 30, 12), (33, 32, 31), (64, 32, 32))
"""On both sides of the sizes at which another way is taken; the last ones of each come seldom."""
LARGE = 2**16
FLOATS = ("f8", "f8", "f8", "f8", "f4", "f4", "f2", "c16", "c8")
INTEGERS = ("i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8")
OTHERS = (*FLOATS[:6], *(each for each in INTEGERS if each != "u4"))
"""What NumPy casts floats out of range to uint32 as depends on the place in the array."""
LAYOUTS = ("C", "C", "C", "F", "reversed", "steps", "turned", "windows", "row")
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "two threads": {"threads": 2},
    "small=0": {"small": 0},
    "small=0, unfused": {"small": 0, "fuse": False, "threads": 1},
    "compiled": {"interpret": False, "threads": 2},
    "compiled, small=0": {"interpret": False, "small": 0},
}
USERS = {"small": 512, "interpret": True, "threads": 1}
"""What every run begins with."""

OF_FLOATS = (
    "0.5 * {x} + 0.25 * {y}", "{x} - 0.5 * {y}", "0.25 * ({x} + {y} + {z})", "0.5 * ({x} - {y}) + 1",
    "({x} + {y}) / 2", "{x} * 0.5", "-{x}", "abs({x}) - 1", "np.where({m}, {x}, {y})", "{x} + k * 0.125",
    "0.5 * {x} * ({y} > 0)", "{x} + 0.125 * ({y} - 2 * {z} + {x})", "np.sqrt(abs({x}))", "{x} - {x}",
    "np.minimum({x}, {y})", "np.maximum({x}, 0.5 * {y})", "np.clip({x}, -3, 4)", "np.floor({x}) * 0.5",
    "1 / (1 + abs({x}))", "{x}.copy()", "{x} * 0.5 + s * 0.25",
)  # fmt: skip
OF_COMPLEX = (
    "0.5 * {x} + 0.25 * {y}", "{x} - 0.5 * {y}", "0.5j * {x} + 1", "{x}.conj()", "-{x}", "{x}.copy()",
    "np.where({m}, {x}, {y})", "{x} + k * 0.125", "{x}.real * 0.5 + 1j * {y}.imag", "0.5 * ({x} + {y})",
)  # fmt: skip
OF_INTEGERS = (
    "{x} + {y}", "{x} - {y} * 3", "{x} ^ {y}", "{x} & {y} | {z}", "({x} + {y}) // 2", "{x} % 7 + {y}",
    "np.where({m}, {x}, {y})", "np.minimum({x}, {y})", "{x} * 3 + 1", "~{x}", "{x} >> 1", "{x}.copy()",
    "{x} + ({y} > 3)", "np.maximum({x}, {y}) - {z}", "abs({x})", "{x} + k",
)  # fmt: skip
MASKS = ("{0} > 0.5", "{0} < {1}", "{0} != {1}", "({0} > -1) & ({1} < 2)", "~({0} > 0)", "m",
         "np.isnan({0})")  # fmt: skip
WHOLE = (
    "{a} = {e}", "{a} = {e}", "{a} = {e}", "{a}[...] = {e}", "{a} {o} {e}", "{a}[:] = {e}", "t = {e}\n{a} = t",
    "t = {e}\n{a} = t + {b}", "{a}, {b} = {b}, {a}", "{a}, {b} = {e}, {a}", "u = {a}\n{a} = {e}\n{b} = u",
    "{a} = np.roll({a}, 1, {axis})", "{a} = np.roll({b}, -2, {axis}) + {a}", "{a} = {a}[::-1].copy()",
    "{a} = np.concatenate(({b}[1:], {a}[:1]))", "{a} = {a}.copy()", "t = {a}.copy()\n{a} {o} {b}\n{b} = t",
    "{a} = {b}", "{a} = {a}.T.copy().T", "{a} = (lambda x, y: (x + y) - x)({a}, {b})", "{a} = step({a}, {b})",
    "step_in({a}, {b})", "for j in range(3):\n    {a} {o} {b}", "{a} = np.array({b})", "{a} = +{b}",
    "w = {b}[::-1]\n{a} = {a} + w", "{a} = {b}.reshape(-1).reshape({b}.shape)", "{a}.fill({n})",
    "{a} = np.zeros_like({b})\n{a}[1:] = {b}[:-1]", "t = {e}\n{a} = np.empty_like({b})\n{a}[...] = t",
    "{a} = np.stack(({a}, {b}))[k % 2]", "{a} = {a}.astype('f4').astype({a}.dtype)",
)  # fmt: skip
PARTS = (
    "{a}{p} = {e}", "{a}{p} = {e}", "{a}{p} {o} {e}", "{a}{p} {o} {e}", "{a}{p} = {n}", "{a}{p} {o} {n}",
    "np.add({x}, {y}, out={a}{p})", "np.subtract({x}, {y}, {a}{p})", "np.multiply({x}, 2, out={a}{p}, casting='unsafe')",
    "np.negative({x}, out={a}{p})", "np.add({x}, {y}, out={a}{p}, where={m})", "np.copyto({a}{p}, {x}, where={m})",
    "np.copyto({a}{p}, {e}, casting='unsafe')", "np.maximum({x}, {y}, out={a}{p}, where={m})",
    "{a}{p}[{m}] = {n}", "{a}{p}[{m}] {o} {n}", "{a}{p}[{m}] = {x}[{m}]", "v = {a}{p}\nv {o} {e}",
    "v = {a}{p}\nv[...] = {e}\nv[:1] = {n}", "np.positive({x}, out={a}{p})", "{a}{p} = {a}{p}[::-1]",
    "np.add({a}{p}, {x}, out={a}{p}, dtype={a}.dtype, casting='unsafe')",
)  # fmt: skip
PLACES = (
    "{a}[0] = {a}[-1]", "{a}[0] = {b}[1]", "{a}[-1] = {n}", "{a}[0] = {n}", "{a}[k % 5] = {b}[(k + 1) % 5]",
    "{a}[k % 5] {o} {n}", "{a}[-1] = {a}[-2]", "{a}[0], {a}[-1] = {a}[-2], {a}[1]", "{a}[k % 3:] {o} {b}[k % 3:]",
    "{a}[k % 2::2] = {b}[k % 2::2]", "{a}[..., 0] = {a}[..., 1]", "{a}[..., -1] = {n}", "{a}[..., 0] {o} {b}[..., -1]",
    "{a}[..., 0] = {a}[..., -2]\n{a}[..., -1] = {a}[..., 1]", "{a}[..., k % 5] = {n}", "{a}[i] = {n}", "{a}[i] {o} {n}",
    "{a}[i] = {b}[i]", "np.add.at({a}, i, {n})", "{a}[[0, -1]] = {b}[[1, 2]]", "{a}[i] {o} {b}[i]", "np.maximum.at({a}, i, {n})",
    "{a}.flat[k] = {n}", "{a}.T[0] = {n}", "{a}[0:0] = {n}", "{a}[..., i % 3] = {n}", "np.put({a}, i, {n})",
    "{a}[1:3] = {b}[:2]", "{a}.reshape(-1)[k::7] = {n}", "{a}.ravel()[:2] {o} {n}", "np.putmask({a}, {m}, {n})",
)  # fmt: skip
ASKED = (
    "s = {a}.max()", "kept.append({a}.max())", "kept.append({a}.any())", "kept.append({a})", "kept.append({a}{p})",
    "kept.append({a}{p}.copy())", "if k % 5 == 0: kept.append({a}.copy())", "kept.append({a}.ravel()[3])",
    "kept.append({a}.argmax())", "old = {a}", "if k == 20: {a} = {e}", "if k % 7 == 6: {a}[...] = {n}",
    "if {a}.max() > 2: {a} {o} {n}", "m = {a} > {n}", "m[1:] &= m[:-1]", "{a}[...] = old", "kept.append(old.max())",
    "kept.append(({a} > 1).sum())", "s = float({a}.min())", "r = {a}[::-1]", "r[:2] = {n}", "kept.append(r.max())",
    "if k > 30: kept.append({a} + {b})", "kept[-1:] = [{a} * 1]", "try: {a}[10**6] = 1\nexcept IndexError: pass",
    "if k == 11: base[...] = {n}", "del t\nt = {b}", "kept.append({a}.T)", "q = np.nonzero({a} > 1)[0]\nkept.append(q.sum())",
)  # fmt: skip


class Loop:
    """A program, as lines of its loop."""

    def __init__(self, seed: int) -> None:
        chance = self.chance = random.Random(seed)
        self.seed = seed
        kind = chance.choice((FLAT, FLAT, GRIDS, GRIDS, BOXES))
        last = len(kind) - (chance.random() < 0.85) * (len(kind) // 3)
        picked = kind[chance.randrange(last)]
        self.shape = picked if isinstance(picked, tuple) else (picked,)
        self.size = int(np.prod(self.shape))
        self.dtype = chance.choice(FLOATS if chance.random() < 0.7 else INTEGERS)
        self.other = self.dtype if chance.random() < 0.85 else chance.choice(OTHERS)
        self.names = ["a", "b", "c"][: chance.choice((2, 2, 3))]
        self.layout = chance.choice(LAYOUTS)
        self.special = chance.random() < 0.2
        self.turns = chance.choice((5, 13, 25, 40, 40, 70))
        if self.size >= LARGE:
            self.turns = 5 if self.size > 2**18 else 12
        few = chance.choice((1, 2, 3, 5, 8))
        self.lines = [self.line() for _ in range(few)]

    # ------------------------------------------------------------------------------- what is drawn

    def parts(self) -> tuple[str, list[str]]:
        """A region, and regions of the same shape that may be read for it."""
        chance = self.chance
        moved = [("1:-1", "2:", ":-2"), ("1:", ":-1"), (":-1", "1:"), (":", "::-1"), ("2:-2", "4:", "1:-3"),
                 ("::2", "::2"), ("::-1", ":"), (":-3", "3:")]  # fmt: skip
        dims = [chance.choice(moved[:4] if chance.random() < 0.6 else moved) for _ in self.shape]
        if len(dims) > 1 and chance.random() < 0.3:
            dims[chance.randrange(len(dims))] = (":",)
        region = "[" + ", ".join(d[0] for d in dims) + "]"
        others = [region, region]
        for _ in range(3):
            others.append("[" + ", ".join(chance.choice(d) for d in dims) + "]")
        if self.chance.random() < 0.3:
            others.append(region + ".copy()")
        return region, others

    def line(self) -> str:
        """One or more lines of the body."""
        chance = self.chance
        pick = chance.random()
        region, others = self.parts()
        if pick < 0.3:
            text, others = chance.choice(WHOLE), [""]
        elif pick < 0.65:
            text = chance.choice(PARTS)
        elif pick < 0.85:
            text, others = chance.choice(PLACES), [""]
        else:
            text, others = chance.choice(ASKED), [""]
        names = [
            name + chance.choice(others) for name in (chance.choice(self.names) for _ in range(5))
        ]
        given = dict(zip("xyz", names, strict=False)) | {"m": self.mask(*names[3:], others)}
        kind = np.dtype(self.dtype).kind
        table = OF_COMPLEX if kind == "c" else OF_FLOATS if kind == "f" else OF_INTEGERS
        number = (
            chance.choice(("0.5", "1", "-2", "0", "k", "0.25"))
            if kind in "fc"
            else chance.choice(("1", "3", "0", "k"))
        )
        sign = (
            chance.choice(("+=", "-=", "*="))
            if kind in "fc"
            else chance.choice(("+=", "-=", "*=", "^=", "|=", "//="))
        )
        if sign == "*=" and kind in "fc":
            number = "0.5"
        expression = chance.choice(table).format(**given)
        if sign in ("*=", "//=") and ("{e}" in text or "{o} {b}" in text):
            sign = "-="
        first, second = chance.sample(self.names, 2)
        return text.format(a=first, b=second, p=region, e=expression, o=sign, n=number,
                           axis=chance.randrange(len(self.shape)), **given)  # fmt: skip

    def mask(self, one: str, other: str, regions: list[str]) -> str:
        text = self.chance.choice(MASKS)
        if text == "m":
            return "m" + self.chance.choice(regions)
        return text.format(one, other)

    # ----------------------------------------------------------------------------------- what runs

    def source(self, lines: list[str] | None = None, turns: int = 0) -> str:
        """A function of the namespace and the arrays."""
        lines = self.lines if lines is None else lines
        body = "\n".join(lines).split("\n")
        text = [
            f"for k in range({turns or self.turns}):",
            *("    " + line for line in body or ["pass"]),
        ]
        head = ["def step(x, y):", "    z = x + y", "    z[1:] -= x[:-1]", "    return z - y",
                "def step_in(x, y):", "    x[1:] += y[1:]", "    x -= y"]  # fmt: skip
        start = [
            "kept, s, old, t = [], 0.5, a, b",
            "m, i, r = a > 1, np.array([3, 1, 3, 0, 2, 3]), b[::-1]",
        ]
        end = [
            "return kept + [" + ", ".join([*self.names, "base", "m", "old", "r", "t", "s"]) + "]"
        ]
        inner = [*start, *text, *end]
        arguments = ", ".join(["np", *self.names, "base"])
        return "\n".join([*head, f"def program({arguments}):", *("    " + line for line in inner)])

    def arrays(self, np_: Any) -> list[Any]:
        """The operands, as one world makes them, and the array under the first."""
        rng = np.random.default_rng(self.seed)
        made = [np_.array(numbers(rng, self.shape, dtype, self.special))
                for dtype in (self.dtype, *[self.other] * 2)][: len(self.names)]  # fmt: skip
        first, wide = made[0], (2 * self.shape[0] + 1, *self.shape[1:])
        if self.layout == "F":
            made = [np_.asfortranarray(each) for each in made]
        elif self.layout == "turned":
            turned = [np_.array(numbers(rng, self.shape[::-1], self.dtype, False)) for _ in made]
            return [*(each.T for each in turned), turned[0]]
        elif self.layout == "row":
            made[1] = np_.array(numbers(rng, self.shape[-1:], self.dtype, False)) + np_.zeros(
                self.shape, self.dtype
            )
        elif self.layout in ("reversed", "steps", "windows"):
            first = np_.array(numbers(rng, wide, self.dtype, self.special))
            size = self.shape[0]
            if self.layout == "reversed":
                made[0] = first[size - 1 :: -1]
            elif self.layout == "steps":
                made[0] = first[1::2]
            else:
                made[:2] = [first[:size], first[2 : size + 2]]
        return [*made, first]

    def run(self, np_: Any, text: str, setting: str = "") -> tuple[list[Any], str]:
        """What the program returns, as NumPy's arrays, or the class of the error it ends with."""
        scope: dict[str, Any] = {}
        exec(compile(text, f"<replayed {self.seed}>", "exec"), scope)
        with fw.options(**(USERS | SETTINGS.get(setting, {}))), np.errstate(all="ignore"):
            values, error = attempt(
                lambda: [
                    np.array(np.asarray(each)) for each in scope["program"](np_, *self.arrays(np_))
                ]
            )
        kinds = sorted(each.__name__ for each in classes(error)) if error else []
        return values or [], " ".join(kinds) or (type(error).__name__ if error else "")


def numbers(rng: Any, shape: tuple[int, ...], dtype: str, special: bool) -> Any:
    """Multiples of a quarter, with NaNs, infinities and negative zeros where they are `special`."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        return rng.integers(0, 9, shape).astype(kind)
    values = rng.integers(-20, 21, shape) / 4 + (
        1j * rng.integers(-20, 21, shape) / 4 if kind.kind == "c" else 0
    )
    if special:
        hit = rng.random(shape) < 0.05
        values = np.where(
            hit, np.array([np.nan, np.inf, -np.inf, -0.0])[rng.integers(0, 4, shape)], values
        )
    return values.astype(kind)


def differs(got: Any, want: Any, signs: bool) -> bool:
    """Whether two values are not the same; with `signs`, those of zeros count."""
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return True
    if not np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"):
        return True
    if not signs or want.dtype.kind not in "fc":
        return False
    pairs = (
        [(got.real, want.real), (got.imag, want.imag)] if want.dtype.kind == "c" else [(got, want)]
    )
    return any(bool((np.signbit(g) != np.signbit(w))[w == w].any()) for g, w in pairs)


EITHER_ZERO = ("minimum", "maximum", "max()", "min()", "clip")


def compare(loop: Loop, text: str, settings: tuple[str, ...]) -> str:
    """How the runs differ from NumPy's; nothing where they do not."""
    want, refused = loop.run(np, text)
    signs = not any(word in text for word in EITHER_ZERO)
    for setting in settings:
        got, error = loop.run(fnp, text, setting)
        if error != refused:
            return f"{setting}: {error or 'no error'} for {refused or 'no error'}"
        if len(got) != len(want):
            return f"{setting}: {len(got)} values for {len(want)}"
        for n, (one, other) in enumerate(zip(got, want, strict=True)):
            if differs(one, other, signs):
                return f"{setting}: value {n} of {len(want)}"
    return ""


def settings_of(seed: int) -> tuple[str, ...]:
    """Compiling takes most of the time: few programs are compiled at once."""
    if seed % 10 == 0:
        return tuple(SETTINGS)
    return (("default",), ("small=0",), ("two threads",), ("default", "small=0, unfused"))[seed % 4]


def replay_difference(seed: int) -> str:
    """A program that differs, made smaller, as text."""
    loop, settings = Loop(seed), settings_of(seed)
    found = compare(loop, loop.source(), settings)
    if not found:
        return ""
    only = (found.split(":")[0],)
    lines, turns = list(loop.lines), loop.turns
    for _ in range(3):
        for n in reversed(range(len(lines))):
            fewer = lines[:n] + lines[n + 1 :]
            if fewer and compare(loop, loop.source(fewer, turns), only):
                lines = fewer
        for less in (1, 2, 3, 5, 8, 12, turns // 2, turns - 1):
            if 0 < less < turns and compare(loop, loop.source(lines, less), only):
                turns = less
                break
    text = loop.source(lines, turns)
    return (f"{found}; {compare(loop, text, only)}; {loop.dtype}, {loop.other}, {loop.shape}, "
            f"{loop.layout}, special={loop.special}\n{text}")  # fmt: skip
