"""Runs time-step loops (`random_steps.py`) with NumPy and with ours, in this process and as files
by `fusewright run`, says how they differ, and makes those that do smaller.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.properties import step_templates as table
from tests.properties.operands import alike

import fusewright as fw
import fusewright.numpy as fnp

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "again": {},
    "unfused": {"fuse": False},
    "one thread": {"threads": 1},
    "avx2": {"features": "avx2"},
    "small=0": {"small": 0},
    "compiled": {"small": 0, "interpret": False},
    "compiled, default": {"interpret": False},
}
FEW = ("default", "again")
PYTHON = (str, bytes, bool, int, float)
NAMES = (
    "f0",
    "f1",
    "f2",
    "v0",
    "v1",
    "p",
    "s",
    "l",
    "o",
    "i0",
    "m0",
    "held",
    "log",
    "rng",
    "dt",
    "c",
)
KEPT = ("f0", "f1", "f2", "v0", "v1", "p", "s", "l", "i0", "m0", "held", "c", "dt")


CAUGHT = "except Exception as error: log.append(told_error(error))"
TURN = f"nonlocal {', '.join(NAMES)}"
STYLES = (
    ("try:\n    for t in range({turns}):", CAUGHT, 2),
    (
        "try:\n    for lap in range(2):\n        for t in range(lap * {half}, (lap + 1) * {half}):",
        CAUGHT,
        3,
    ),
    ("try:\n    t = -1\n    while t < {turns} - 1:\n        t += 1", CAUGHT, 2),
    (
        f"def turn(u):\n    {TURN}\n    for t in (u,):",
        f"try:\n    for u in range(TURNS): turn(u)\n{CAUGHT}",
        2,
    ),
    (
        f"def turns():\n    {TURN}\n    for t in range({{turns}}):\n        yield t",
        f"try:\n    for _ in turns(): c = c * 0.5 + 1\n{CAUGHT}",
        2,
    ),
)
"""What stands before and after a body, and how deep it is."""


@dataclass(frozen=True)
class Program:
    """Lines before the loop, those in it (each a statement of one or more lines), and its turns."""

    setup: tuple[str, ...]
    body: tuple[str, ...]
    turns: int
    style: int
    rounds: bool = False
    """Whether NumPy's bits are not promised: then ours are compared with one another."""

    def source(self) -> str:
        """A function `run` that returns what is left; `np` must be there."""
        head, tail, deep = STYLES[self.style]
        lines = [*self.setup, *head.format(turns=self.turns, half=self.turns // 2).split("\n")]
        for statement in self.body:
            lines += ["    " * deep + line for line in statement.split("\n")]
        lines += tail.replace("TURNS", str(self.turns)).split("\n")
        left = ", ".join(f"{name}={name}" for name in KEPT)
        lines.append(f"return dict({left}, o=[o.x, o.y, o.kept], log=log)")
        return "def run():\n" + "".join(f"    {line}\n" for line in lines)


def scope_of(namespace: Any, text: str) -> dict[str, Any]:
    """The names of the module."""
    scope: dict[str, Any] = {"np": namespace, "__name__": "program"}
    exec(_compiled(table.HEADER, "<header>"), scope)
    exec(_compiled(text, "<program>"), scope)
    return scope


_codes: dict[str, Any] = {}


def _compiled(text: str, name: str) -> Any:
    if name == "<program>":
        return compile(text, name, "exec")
    return _codes.setdefault(text, compile(text, name, "exec"))


def outcome(program: Program, namespace: Any) -> dict[str, Any]:
    """What is left after the program's turns, as NumPy's arrays."""
    np.random.seed(5)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        left = scope_of(namespace, program.source())["run"]()
        return {name: _own(value) for name, value in left.items()}


def _own(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_own(each) for each in value]
    if type(value) in PYTHON:
        return value
    return np.array(np.asarray(value))


def compared(got: Any, want: Any) -> str:
    """How a value differs from NumPy's, but for the signs of zeros."""
    if isinstance(want, list):
        if len(got) != len(want):
            return f"{len(got)} items for {len(want)}"
        pairs = enumerate(zip(got, want, strict=True))
        return next((f"[{n}]{how}" for n, (g, w) in pairs if (how := compared(g, w))), "")
    if type(want) in PYTHON:
        same = type(got) is type(want) and (got == want or (got != got and want != want))
        return "" if same else f" {got!r} for {want!r}"
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f" {got.dtype}{got.shape} for {want.dtype}{want.shape}"
    with np.errstate(all="ignore"):
        if want.dtype.kind == "b" or alike(got + 0, want + 0, 0):
            return "" if want.dtype.kind != "b" or np.array_equal(got, want) else " bool"
    places = np.argwhere((got != want) & ~((got != got) & (want != want)))
    at = tuple(map(int, places[0])) if len(places) else ()
    return f" {got[at]!r} for {want[at]!r} at {at} ({len(places)} of {want.size})"


def _ours(program: Program, changes: dict[str, Any]) -> dict[str, Any]:
    """What our run leaves."""
    with fw.options(**({"small": 512, "interpret": True} | changes)):
        return outcome(program, fnp)


def difference(program: Program, modes: tuple[str, ...]) -> str:
    """How the program's runs differ from NumPy's, or from one another."""
    try:
        want = outcome(program, np)
    except Exception:  # noqa: BLE001
        return ""
    apart = {}
    if program.rounds:
        apart = {small: _ours(program, {"small": small, "fuse": False}) for small in (0, 512)}
    for mode in modes:
        try:
            got = _ours(program, MODES[mode])
        except Exception as error:  # noqa: BLE001
            return f"{mode}: {type(error).__name__}: {error}"
        if program.rounds:
            want = apart[MODES[mode].get("small", 512)]
        for name in want:
            if how := compared(got[name], want[name]):
                return f"{mode}: {name}{how}"
    return ""


def reduced(program: Program, modes: tuple[str, ...], seconds: float = 60) -> Program:
    """A smaller program that differs."""
    end = time.monotonic() + seconds
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for candidate in _candidates(program):
            if time.monotonic() > end:
                break
            if difference(candidate, modes):
                program, changed = candidate, True
                break
    return program


def _candidates(program: Program) -> Iterator[Program]:
    for at in reversed(range(len(program.body))):
        yield replace(program, body=program.body[:at] + program.body[at + 1 :])
    for turns in (2, 4, 8, program.turns // 2, program.turns - 1):
        if 0 < turns < program.turns:
            yield replace(program, turns=turns)
    for at, statement in enumerate(program.body):
        lines = statement.split("\n")
        for line in range(len(lines) if len(lines) > 1 else 0):
            fewer = "\n".join(lines[:line] + lines[line + 1 :])
            try:
                compile(fewer.replace("continue", "pass").replace("break", "pass"), "", "exec")
            except SyntaxError:
                continue
            yield replace(program, body=(*program.body[:at], fewer, *program.body[at + 1 :]))
    if program.style:
        yield replace(program, style=0)


FILE = """import hashlib
import sys
import warnings

import numpy as np
{header}

def told(value):
    if type(value) in (str, bytes, bool, int, float):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(told(each) for each in value) + "]"
    value = np.array(value)
    plain = value if value.dtype.kind == "b" else value + 0
    plain[plain != plain] = 0
    return f"{{value.dtype}}{{value.shape}}" + hashlib.sha1(plain.tobytes()).hexdigest()[:8]


warnings.simplefilter("ignore")
np.seterr(all="ignore")
"""


def module(programs: dict[int, Program]) -> str:
    """One file that runs several programs and prints what each leaves."""
    parts = [FILE.format(header=table.HEADER)]
    for number, each in programs.items():
        parts.append(each.source().replace("def run():", f"def run_{number}():"))
        parts.append(
            f"np.random.seed(5)\nfor name, value in run_{number}().items():\n"
            f"    print({number}, name, told(value), flush=True)\n"
        )
    return "\n".join(parts)


def files_difference(made: dict[int, Program], path: Path, environment: dict[str, str]) -> str:
    """How a file of several programs differs when it is run as users run it."""
    path.write_text(module(made))
    environment = {**os.environ, "PYTHONHASHSEED": "0", **environment}

    def output(*words: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, *words, str(path)], env=environment, capture_output=True, text=True,
            cwd=path.parent,
        )  # fmt: skip
        return done.stdout, f"{done.returncode} {done.stderr[-2000:]}"

    (want, _), found = output(), []
    for _ in range(2):
        got, error = output("-m", "fusewright", "run")
        if got != want:
            pairs = itertools.zip_longest(got.splitlines(), want.splitlines())
            first = next((pair for pair in pairs if pair[0] != pair[1]), None)
            found.append(f"{path}: {first}\n{error}")
    return "\n".join(found)
