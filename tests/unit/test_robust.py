"""What a program may do to us at any time: interruptions, limits, too many dims."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.targets.cpu import build, features

INTERRUPTED = """
import fusewright as fw, numpy as np
from fusewright.base.options import set_defaults
from fusewright.targets.cpu import workers

real = workers.WorkerProcess._collect
def interrupted(worker):
    workers.WorkerProcess._collect = real
    raise KeyboardInterrupt

workers.WorkerProcess._collect = interrupted
set_defaults(interpret=False, cache_dir={folder!r})
x = fw.asarray(np.linspace(0, 1, 1000))
try:
    fw.evaluate(x * 2.0, (x[:500] * 3.0).sum(), fw.asarray(np.ones(77)) + 1.0)
except KeyboardInterrupt:
    print("interrupted")
print(float((x * 2.0)[-1]), float((x * 3.0 + 1.0).sum() > 0))
"""


def test_an_interruption_while_compiling_lets_the_program_end(tmp_path: Any) -> None:
    text = INTERRUPTED.format(folder=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["interrupted", "2.0", "1.0"]


@pytest.mark.parametrize("error", [MemoryError(), RecursionError(), KeyboardInterrupt()])
def test_limits_of_the_program_stay_what_they_are(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> None:
        raise error

    monkeypatch.setattr(build, "lower_once", failing)
    x = fw.asarray(np.linspace(0.0, 1.0, 1000))
    with pytest.raises(type(error)), fw.options(interpret=False):
        fw.evaluate(x * 1.25 + 17.5, x - 3.75)
    monkeypatch.undo()
    assert float((x * 1.25 + 17.5)[0]) == 17.5


def test_a_program_at_the_end_of_its_stack() -> None:
    x = fw.asarray(np.linspace(0.0, 1.0, 1000))

    def deeper(depth: int) -> float:
        try:
            return deeper(depth + 1)
        finally:
            float((x * float(depth) + 1.0)[0])

    with pytest.raises(RecursionError):
        deeper(0)
    assert float((x + 1.0)[0]) == 1.0


@pytest.mark.parametrize("kind", ["interruption", "handler", "no memory", "stack"])
def test_the_first_import_disturbed(kind: str, tmp_path: Path) -> None:
    """Whatever happens in it, the program that goes on has the whole package."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("first_imports.py")), kind, "12"],
        env=os.environ | {"FUSEWRIGHT_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.stdout == "fine\n", done.stdout + done.stderr[-3000:]


def test_flags_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real = features.machine_flags()
    features.reported_flags.cache_clear()

    def none_left(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", none_left)
        meanwhile = features.machine_flags()
    assert features.select("auto", meanwhile) == features.select("auto", real)
    assert features.machine_flags() == real


ROW = np.zeros(600)
DEEP: dict[str, Callable[[Any, Any], Any]] = {
    "reshape": lambda np, x: x.reshape((1,) * 64 + (600,)),
    "new axes": lambda np, x: x[(None,) * 64],
    "one more": lambda np, x: x.reshape((1,) * 63 + (600,))[None],
    "expand_dims": lambda np, x: np.expand_dims(x, tuple(range(64))),
    "zeros": lambda np, x: np.zeros((1,) * 65),
    "full": lambda np, x: np.full((1,) * 65, 2.0),
    "broadcast_to": lambda np, x: np.broadcast_to(x, (1,) * 64 + (600,)),
    "outer": lambda np, x: np.add.outer(x.reshape((1,) * 63 + (600,)), x[:2]),
    "stack": lambda np, x: np.stack([x.reshape((1,) * 63 + (600,))] * 2),
    "tile": lambda np, x: np.tile(x, (1,) * 65),
}


@pytest.mark.parametrize("name", DEEP)
def test_too_many_dims_are_refused_at_the_line(name: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        DEEP[name](np, ROW)
    with pytest.raises((ValueError, IndexError)):
        DEEP[name](fnp, fw.asarray(ROW))


def test_as_many_dims_as_numpy_has() -> None:
    x = fw.asarray(ROW).reshape((1,) * 63 + (600,)) + 1.0
    assert np.asarray(x).shape == (1,) * 63 + (600,)
