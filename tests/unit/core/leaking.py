"""What every entry of the core keeps when it is called again and again with the same arguments.

Run as a script: `python leaking.py PART [NAME]`, PART "core" or "public"; it takes minutes.
The entries are found by looking (as in `wrong_arguments`): each function, class, method, slot and
field of the native module, and each public name of the drop-in, its linear algebra, its transforms
and its arrays.  Each runs in
a child, with arguments right and wrong.  Prints those after which more blocks of memory are in use
than before, by calls.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
from wrong_arguments import targets, values

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.frontends.arrays import trace
from fusewright.runtime import background

ROUNDS, CALLS, WARM = 60, 12, 12
"""Rounds that are measured, of so many calls each; those before, in which tables are filled."""
MOST = 0.5
"""Blocks that may be kept for each round: one for each second round is no reference per call."""
LONGEST = 60
ENDLESS = frozenset(
    ("input", "test", "info", "fromfile", "save", "savez", "savetxt", "show_config")
)
"""Names of the drop-in that read, write or print."""

Entry = tuple[str, Callable[..., Any], list[tuple[Any, ...]]]


def sensible() -> list[Any]:
    """Operands that most functions take."""
    x = fw.asarray(np.linspace(0.1, 0.9, 1000))
    return [
        x, x[10:900], x.reshape(10, 100), x + 1.0, x > 0.5, fw.asarray(np.arange(1000)),
        np.linspace(0.1, 0.9, 6), 2.0, 3,
    ]  # fmt: skip


KEYS = (
    0, -1, 5000, slice(1, -1), slice(None, None, -2), (slice(None), None), ..., (0, 0), [1, 2, 3],
    np.array([3, 1]), True, "a", 1.5, (), None, slice(0, 0),
)  # fmt: skip


def calls_for(name: str, things: list[Any]) -> list[tuple[Any, ...]]:
    """Some of each number of arguments, the same at each run."""
    chance = random.Random(name)
    return [tuple(chance.choices(things, k=n % 4)) for n in range(CALLS)]


def public() -> Iterator[Entry]:
    """What programs call."""
    things = sensible()
    spaces = {"": fnp, "linalg.": fnp.linalg, "fft.": fnp.fft, "x.": things[0], "2-d.": things[2]}
    for prefix, space in spaces.items():
        for name in sorted(set(dir(space)) - ENDLESS):
            found = None
            with suppress(Exception):  # some attributes are of matrices only
                found = getattr(space, name)
            if callable(found) and not isinstance(found, type) and not name.startswith("_"):
                arguments = calls_for(name, things)
                yield prefix + name, found, [*arguments, (things[0],), (things[0], things[1])]
    for name in ("reduce", "accumulate", "outer", "at", "reduceat"):
        for ufunc in ("add", "maximum", "sqrt"):
            method = getattr(getattr(fnp, ufunc), name)
            yield f"{ufunc}.{name}", method, [(things[0],), (things[0], things[5]), (1, 2, 3)]
    for key, x in product(KEYS, (0, 2, 3)):
        yield f"[{key!r}] of {x}", lambda k, x=x: things[x][k], [(key,)]
        yield f"[{key!r}] = of {x}", lambda k, x=x: (things[x] + 1.0).__setitem__(k, 2.0), [(key,)]


def core() -> Iterator[Entry]:
    """What is in the native module."""
    things = [*values(native), *sensible(), fnp.add, fnp.where, fnp.sum, fnp.concatenate]
    for name, target in targets(native, things):
        yield name, target, calls_for(name, things)


def entries(part: str) -> list[Entry]:
    return list({"core": core, "public": public}[part]())


def rounds(target: Callable[..., Any], arguments: list[tuple[Any, ...]], times: int) -> int:
    """Blocks in use after so many rounds."""
    for _ in range(times):
        for given in arguments:
            with suppress(BaseException):
                target(*given)
    with suppress(BaseException):
        trace.flush()
        background.wait()  # what is compiled meanwhile is no call's
    gc.collect()
    return sys.getallocatedblocks()


def kept(target: Callable[..., Any], arguments: list[tuple[Any, ...]], often: int) -> float:
    """Blocks for each round, of the best of three measurements."""
    rounds(target, arguments, WARM)
    before, least = rounds(target, arguments, ROUNDS // 3), float("inf")
    for _ in range(3):
        after = rounds(target, arguments, often)
        least, before = min(least, (after - before) / often), after
    return least


def child(target: Callable[..., Any], arguments: list[tuple[Any, ...]], often: int) -> str:
    """What a child says of an entry: blocks for each round, or nothing where it ended."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        faulthandler.disable()
        signal.alarm(LONGEST)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(theirs, f"{kept(target, arguments, often):.2f}".encode())
        os._exit(0)
    os.close(theirs)
    said = os.read(ours, 30).decode()
    os.close(ours)
    os.waitpid(pid, 0)
    return said


def main() -> int:
    warnings.simplefilter("ignore")
    leaking, every = 0, entries(sys.argv[1])
    for name, target, arguments in every:
        if len(sys.argv) > 2 and name != sys.argv[2]:
            continue
        said = child(target, arguments, ROUNDS)
        if said and float(said) >= MOST:  # tables that still grow, or a reference for each call?
            said = child(target, arguments, 8 * ROUNDS)
        if not said or float(said) >= MOST:
            leaking += 1
            print(f"{name}: {said or 'did not end'}", flush=True)
    print(f"{len(every)} entries, {leaking} keep something")
    return leaking != 0


if __name__ == "__main__":
    raise SystemExit(main())
