"""A kernel against CPython running the undecorated function: results, arrays and printed lines."""

from __future__ import annotations

import copy
import importlib.util
import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.edges import beside_the_edge, is_at_the_edge

import fusewright as fw
from fusewright._core import native
from fusewright.base.errors import KernelError
from fusewright.codegen.trees import lanes
from fusewright.machine import record as machine
from fusewright.targets import executable
from fusewright.targets.cpu.features import LEVELS, machine_flags, select

Outcome = tuple[Any, tuple[Any, ...], str]


def settings() -> Iterator[dict[str, Any]]:
    """Every way a kernel can run: interpreted and compiled, on threads or not, checked and not."""
    yield {"target": "reference", "debug": True}
    yield {"target": "reference", "check": True}
    for level in LEVELS:
        if set(level.flags) <= {*machine_flags(), "sse3"} or level.name == select("auto").name:
            yield {"features": level.name, "threads": 1}
            yield {"features": level.name, "threads": 2}
    yield {"fuse": False}
    yield {"fuse_level": "shift", "threads": 1}
    yield {"check": True}


@contextmanager
def small_work_on_threads() -> Iterator[None]:
    """Loops are divided among threads however little they do."""
    with machine.using(machine.current()._replace(fork=0.0)):
        yield


@contextmanager
def short_strips() -> Iterator[None]:
    """Strips and blocks of a few iterations, so that small arrays have several; vector loops begin
    with a part of a vector however short they are, and all arrays are written as large ones are.
    """
    usual = executable.settings_of
    aligned, lanes.ALIGNED = lanes.ALIGNED, 1
    executable.settings_of = lambda chosen: replace(
        usual(chosen),
        elements=8,
        columns=8,
        rows=(2, 3),
        row_bytes=1,
        block_rows=(12, 9),
        block_depth=3,
    )  # fmt: skip
    try:
        with machine.using(machine.current()._replace(past=0, block=0.0, wake=0.0)):
            yield
    finally:
        executable.settings_of = usual
        lanes.ALIGNED = aligned


def copied(value: Any) -> Any:
    """A copy with the same strides, at the edge of memory where it lies there."""
    if isinstance(value, tuple):
        items = map(copied, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, np.ndarray) and is_at_the_edge(value):
        return beside_the_edge(value)
    if not isinstance(value, np.ndarray) or value.flags.c_contiguous:
        return copy.deepcopy(value)
    low, high = np.lib.array_utils.byte_bounds(value)
    base = np.zeros(high - low, np.uint8)
    start = value.__array_interface__["data"][0] - low
    fresh: Any = np.ndarray(value.shape, value.dtype, base, start, value.strides)
    fresh[...] = value
    return fresh


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """What a call returns, what it leaves in its arguments, and what it prints."""
    own = tuple(map(copied, arguments))
    text = io.StringIO()
    with redirect_stdout(text), np.errstate(all="ignore"):
        result = function(*own)
    return result, own, text.getvalue()


def assert_same(found: Any, wanted: Any, where: str) -> None:
    """Equal bit for bit, and of the same type."""
    if isinstance(wanted, tuple | list):
        assert type(found) is type(wanted), where
        assert len(found) == len(wanted), where
        for a, b in zip(found, wanted, strict=True):
            assert_same(a, b, where)
    elif isinstance(wanted, np.ndarray | np.generic | float | complex):
        assert type(found) is type(wanted), f"{where}: {type(found)} for {type(wanted)}"
        a, b = np.asarray(found), np.asarray(wanted)
        assert a.dtype == b.dtype, where
        assert a.shape == b.shape, where
        same = (a.view(f"V{a.itemsize}") == b.view(f"V{b.itemsize}")) if a.ndim else (
            a.tobytes() == b.tobytes()
        )  # fmt: skip
        both_nan = (a != a) & (b != b)
        assert np.all(same | both_nan), f"{where}:\n{found!r}\nwanted\n{wanted!r}"
    elif hasattr(wanted, "__dict__") and not isinstance(wanted, int):
        assert_same(list(vars(found).values()), list(vars(wanted).values()), where)
    else:
        assert type(found) is type(wanted), f"{where}: {found!r} for {wanted!r}"
        assert found == wanted, where


def same_as_cpython(kernel: Any, *arguments: Any, returns: bool = True) -> None:
    """The kernel does what the function does, on every target."""
    wanted = outcome(kernel.__wrapped__, arguments)
    for chosen in settings():
        with fw.options(**chosen), small_work_on_threads():
            found = outcome(kernel, arguments)
        if returns:
            assert_same(found[0], wanted[0], f"result under {chosen}")
        assert_same(list(found[1]), list(wanted[1]), f"arguments under {chosen}")
        assert found[2] == wanted[2], f"printed under {chosen}"


def module_of(text: str, path: Path) -> Any:
    """The module of a text, written to a path."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loaded(text: str, path: Path) -> Any:
    """The kernel of a module's text, written to a path."""
    return module_of(text, path).kernel


def remembered(kernel: Any) -> list[tuple[Any, Any]]:
    """The settings and the code of each kind of call that the core knows."""
    return [(call.options, call.owner) for _, call in kernel.bound.added] if kernel.bound else []


def is_known(kernel: Any, *args: Any) -> bool:
    """Whether a call is like an earlier one; it is made.  Without the core none is."""
    if native is None:
        kernel(*args)
        return True
    return kernel.cache is not None and kernel.cache.run(args, {}) is not NotImplemented


def is_refused(kernel: Any, values: tuple[Any, ...]) -> bool:
    """Whether CPython, or the kernel's types, have no meaning for the program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            outcome(kernel.__wrapped__, values)
        outcome(kernel, values)
    except KernelError as error:
        return error.where is not None
    except (ArithmeticError, ValueError, IndexError, UnboundLocalError, RuntimeWarning):
        return True
    return False
