"""Random time-step loops as Python source, compared with NumPy to the bit: bodies of a few
statements over fields, their views, particles' columns, stacks, lists and objects, run for 40 to
300 turns.

    python -m tests.properties.random_steps --seed 1 --count 1000

    python -m tests.properties.random_steps --seed 1 --files FOLDER

runs them as files, by `fusewright run`.  Programs are the same at each run.  Statements of most are
exact: nothing in them rounds in an order that is ours.  Those of the others give the same bits with
and without fusion.  One that differs is made smaller and printed.
"""

from __future__ import annotations

import argparse
import builtins
import random
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.evaluators import begin, installed
from tests.properties import step_templates as table
from tests.properties.step_runs import (
    FEW,
    MODES,
    Program,
    difference,
    files_difference,
    outcome,
    reduced,
)

FIELDS = ("f0", "f1", "f2", "o.x", "o.y", "l[0]", "l[1]")
ERRORS = {kind.__name__ for kind in vars(builtins).values() if isinstance(kind, type)}
TRIED = 4
"""Turns that a new statement must run."""


class Writer:
    """One program being made up."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        chance = self.chance
        rank = chance.choice((1, 1, 2, 2, 2, 2, 3))
        self.rank = rank
        shapes = table.SHAPES[rank - 1]
        shape = chance.choice(
            shapes if chance.random() < 0.2 else shapes[: max(3, len(shapes) - 3)]
        )
        size = int(np.prod(shape))
        kind = chance.choice(table.DTYPES)
        particles = chance.choice((30, 300, 600, 1000, 3000))
        parts = {"n": particles, "q": chance.choice((2, 3, 3)), "x": chance.choice((3, 20))}
        makers = (
            f"rng.standard_normal({shape})", f"rng.random({shape})", f"np.zeros({shape})",
            f"np.ones({shape})", f"np.arange({size}.0).reshape({shape}) / {size}",
            f"np.random.default_rng(3).integers(-9, 9, {shape}) / 4",
            f"rng.standard_normal({shape[::-1]}).T",
        )  # fmt: skip
        setup = [f"rng = np.random.default_rng({seed})", "log, dt, c = [], 0.1, 0.5"]
        for name in ("f0", "f1", "f2"):
            made = chance.choice(makers) if name != "f0" else makers[0]
            cast = f".astype({kind!r})" if kind != "f8" and chance.random() < 0.8 else ""
            setup.append(f"{name} = ({made}){cast}")
        setup += [line.format(**parts) for line in table.SETUP]
        self.program = Program((), (), 0, 0)
        if chance.random() < 0.4:
            setup.append(self.filled(chance.choice(table.SHARED)))
        turns = chance.choice((40, 40, 60, 100, 150, 300))
        while turns > 40 and turns * size > 2_000_000:
            turns = turns // 2
        style, rounds = chance.choice((0, 0, 0, 1, 2, 3, 4)), chance.random() < 0.3
        self.program = Program(tuple(setup), (), max(turns, 12), style, rounds)
        self.grow(chance.randrange(3, 13))

    def grow(self, count: int) -> None:
        """Add statements that run."""
        for _ in range(count):
            fits = False
            for _ in range(6):
                line = self.filled(self.chance.choice(table.STATEMENTS))
                tried = replace(self.program, body=(*self.program.body, line))
                if fits := self.runs(replace(tried, turns=TRIED)):
                    break
            if not fits:
                continue
            self.program = tried
            if self.chance.random() < 0.15:
                name = self.chance.choice(FIELDS)
                calm = replace(tried, body=(*tried.body, f"{name} = np.clip({name}, -8, 8)"))
                if self.runs(replace(calm, turns=TRIED)):
                    self.program = calm

    @staticmethod
    def runs(program: Program) -> bool:
        """Whether NumPy runs it, and no field grows."""
        try:
            left = outcome(program, np)
        except Exception:  # noqa: BLE001
            return False
        if any(word in ERRORS for word in left["log"][-1:] if type(word) is str):
            return False
        return left["f0"].size < 300_000 and len(left["log"]) < 100

    # ------------------------------------------------------------------------------- what is drawn

    def filled(self, template: str) -> str:
        chance = self.chance
        f, g, h = chance.sample((*FIELDS[: chance.choice((2, 3, 7))], "f2"), 3)
        self.cuts = chance.choice(table.CUTS[self.rank])
        while "{" in template.replace("{{", ""):
            parts = {
                "f": f, "g": g, "h": h, "a": self.atom(), "b": self.atom(),
                "k": str(chance.randrange(2, 10)), "n": chance.choice(table.NUMBERS),
                "w": self.part(f), "r": self.part(chance.choice((f, f, g))),
            }  # fmt: skip
            if "{m}" in template:
                parts["m"] = chance.choice(table.MASKS).format(**parts)
            if "{e}" in template:
                parts["e"] = self.expression(self.atom, chance.randrange(1, 4))
            if "{d}" in template:
                parts["d"] = self.expression(
                    lambda: self.part(chance.choice((f, f, g, h))), chance.randrange(1, 4)
                )
            return template.format(**parts)
        return template.format()

    def part(self, name: str) -> str:
        return name + self.chance.choice(self.cuts)

    def atom(self) -> str:
        chance = self.chance
        if chance.random() < 0.12:
            return chance.choice(
                ("s[0]", "s[1]", "s[-1]", "s[t % 2]", "i0", "l[t % 2]", "s[:2][0]")
            )
        return chance.choice(FIELDS[: chance.choice((3, 3, 7))])

    def expression(self, atom: Any, depth: int) -> str:
        if depth <= 0:
            return str(atom())
        chance = self.chance
        operands = [self.expression(atom, depth - chance.randrange(1, 3)) for _ in range(3)]
        whole = atom == self.atom and chance.random() < 0.3
        template = chance.choice(table.WHOLE if whole else table.EXPRESSIONS)
        if self.program.rounds and atom == self.atom and chance.random() < 0.4:
            template = chance.choice(table.ROUNDED)
        return template.format(*operands, n=chance.choice(table.NUMBERS))


def program(seed: int) -> Program:
    """The program of this number."""
    return Writer(seed).program


# --------------------------------------------------------------------------------- what is compared
def check(number: int, modes: tuple[str, ...]) -> str:
    """How the program of a number differs, made smaller; nothing where it does not."""
    made = program(number)
    found = difference(made, modes)
    if not found:
        return ""
    small = reduced(made, modes)
    return f"{found}\n{difference(small, modes)}\n{small.source()}"


def files(count: int, seed: int, folder: Path, end: float) -> int:
    """How many files of ten programs each differ; every third one has no code on disk."""
    wrong = ran = 0
    for first in range(0, count, 10):
        if time.monotonic() > end:
            break
        cache = {"FUSEWRIGHT_CACHE_DIR": str(folder / f"cache{seed}")} if first % 30 else {}
        made = {number: program((seed << 32) + number) for number in range(first, first + 10)}
        made = {number: each for number, each in made.items() if not each.rounds}
        found = files_difference(made, folder / f"steps_{seed}_{first}.py", cache)
        ran += 1
        wrong += bool(found)
        if found:
            print(f"--- {found}", flush=True)
    print(f"{wrong} of {ran} files differ", flush=True)
    return wrong


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000, help="programs")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--only", type=int, help="the one program of this number")
    parser.add_argument("--files", default="", help="a folder: run as files, ten programs each")
    chosen = parser.parse_args()
    end = time.monotonic() + (chosen.seconds or float("inf"))
    if chosen.files:
        return bool(files(chosen.count, chosen.seed, Path(chosen.files), end))
    wrong = ran = 0
    with installed("interpreted"):
        begin()
        for number in [chosen.only] if chosen.only is not None else range(chosen.count):
            if time.monotonic() > end:
                break
            ran += 1
            modes = tuple(MODES) if number % 12 == 0 else (*FEW, list(MODES)[2 + number % 6])
            found = check((chosen.seed << 32) + number, modes)
            if found:
                wrong += 1
                print(f"--- seed {chosen.seed}, program {number}: {found}", flush=True)
    print(f"{wrong} of {ran} programs differ", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
