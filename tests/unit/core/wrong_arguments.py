"""Calls every function, class and field of the core with what does not belong there.

Run as a script.  Each runs in a process of its own, which must come to its end: a wrong argument
raises.  "bare" calls a core that was never told about the rest of the package.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import fusewright as fw
from fusewright._core import native

CALLS = 60
"""Calls of one function with one number of arguments."""


LONGEST = 10
"""Seconds for one target."""


class Hostile:
    """Raises wherever it is asked."""

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __index__(self) -> int:
        raise RuntimeError("no number")


def values(core: Any) -> list[Any]:
    """Things of many kinds, some nearly right."""
    x = fw.asarray(np.arange(3.0))
    made = [
        None, True, 0, 1, -1, 5, 2**31, 2**70, -(2**70), 1.5, "add", "", b"", b"12345678",
        bytes(64),
        (), (1,), (None,), (1, 2, 3), ((),), [], [1], [[]], {}, {"a": 1}, set(), slice(1, 2), ...,
        object(), Hostile(), int, object, len, Hostile, np.arange(3), np.float64(1), lambda *a: a,
        values.__code__, x, x[1:], x + 1, x.sum(), x._node, (x + 1)._node, x._node.value[0],
        (x._node,), [x._node], fw.Array.__new__(fw.Array), type(x[1:]).__new__(type(x[1:])),
    ]  # fmt: skip
    for name in sorted(vars(core)):
        kind = getattr(core, name)
        if isinstance(kind, type):
            with suppress(Exception):
                made.append(kind())
    made += [core.Node(0, "", (), None, (3,)), core.Op("add", lambda *a: NotImplemented)]
    made += [core.Memory(x._node.value[0].address, 24, None), (core.Node(0, "", (), None, ()),)]
    with suppress(Exception):
        made.append(core.Program(1, b"", b"", b"", ()))
    return made


def targets(core: Any, things: list[Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Everything that can be called, and every field that can be set or deleted."""
    for name, each in sorted(vars(core).items()):
        if isinstance(each, types.BuiltinFunctionType | type):
            yield name, each
        if not isinstance(each, type):
            continue
        for thing in (thing for thing in things if type(thing) is each or isinstance(thing, each)):
            yield f"{name} called", thing
            yield from parts(name, each, thing)


def parts(name: str, kind: type, thing: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    for part, what in sorted(vars(kind).items()):
        if isinstance(what, types.MethodDescriptorType | types.WrapperDescriptorType):
            if part not in ("__new__", "__getattribute__", "__setattr__", "__delattr__"):
                yield f"{name}.{part}", lambda *args, w=what, t=thing: w(t, *args)
        elif isinstance(what, types.GetSetDescriptorType | types.MemberDescriptorType):
            yield f"{name}.{part} =", lambda value, t=thing, p=part: used(t, p, value)
            yield f"del {name}.{part}", lambda t=thing, p=part: used(t, p)


def used(thing: Any, part: str, *value: Any) -> None:
    """Set or delete a field, then do what reads it."""
    if value and isinstance(value[0], tuple | list) and any(each is thing for each in value[0]):
        return  # a value computed from itself hangs whoever computes it
    with suppress(Exception):
        setattr(thing, part, *value) if value else delattr(thing, part)
    for use in (
        repr, lambda t: getattr(t, part), lambda t: t(), lambda t: t(1, 2), lambda t: t + 1,
        lambda t: native.wrap(t) + 1, lambda t: fw.evaluate(native.wrap(t) + 1),
        lambda t: fw.evaluate(t + 1), lambda t: t[1:] + 1, float, lambda t: t.__iadd__(1),
    ):  # fmt: skip
        with suppress(Exception):
            use(thing)


def call(target: Callable[..., Any], things: list[Any], seed: str) -> None:
    """Calls of all lengths; then the core still works, or says why not."""
    chance = random.Random(seed)
    for count in range(7):
        every = itertools.product(things, repeat=count)
        few = list(itertools.islice(every, CALLS)) if count < 2 else []
        for arguments in few or [chance.choices(things, k=count) for _ in range(CALLS)]:
            with suppress(Exception):
                target(*arguments)
    with suppress(Exception):
        target(colour=1)
    with suppress(Exception):
        float((fw.asarray(np.ones(4)) + 1.0)[1:].sum())


def alone(number: int, core: Any) -> int:
    """Whether target `number` survives, in a child; -1 where there is none."""
    things = values(core)
    chosen = next(itertools.islice(targets(core, things), number, None), None)
    if chosen is None:
        return -1
    child = os.fork()
    if child == 0:
        faulthandler.enable()
        signal.alarm(LONGEST)
        sys.stdout.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        call(chosen[1], things, chosen[0])
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    if ended:
        print(f"target {number}, {chosen[0]}, ended with {ended}", flush=True)
    return ended


def bare(folder: str) -> Any:
    """Another copy of the extension, which knows no classes, lists or functions yet."""
    file = shutil.copy(native.__file__, folder)
    found = importlib.util.spec_from_file_location("fusewright._core._native", file)
    assert found is not None and found.loader is not None
    return importlib.util.module_from_spec(found)


def main() -> int:
    form, failed, number = sys.argv[1], 0, 0
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        core = bare(folder) if form == "bare" else native
        while (ended := alone(number, core)) >= 0:
            failed += ended != 0
            number += 1
    print(f"{number} targets, {failed} ended badly")
    return failed != 0


if __name__ == "__main__":
    raise SystemExit(main())
