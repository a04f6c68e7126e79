"""Operations compiled when the package is installed: found, trusted, not in front of a program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import fusewright as fw
from fusewright import operations
from fusewright._core import native
from fusewright.base.options import current
from fusewright.ir import graph
from fusewright.runtime.image import Image
from fusewright.runtime.trace import Slice, take
from fusewright.targets.cpu import ahead, ahead_writing, generator, threads


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, list[Any]]]:
    """A file of the first three operations, and their keys."""
    path = tmp_path / "ahead.bin"
    monkeypatch.setattr(ahead, "FILE", str(path))
    ahead.entry_places.cache_clear()
    keys: list[Any] = []

    def slices() -> Iterator[Slice]:
        for node in islice(operations.operations(), 3):
            slice_ = take([node])
            keys.append(slice_.code_key(current()))
            yield slice_

    with fw.options(background=False, small=0):
        assert ahead_writing.write(slices(), current(), str(path)) == 3
    ahead.entry_places.cache_clear()
    yield path, keys
    ahead.entry_places.cache_clear()


def test_the_threads_code_is_there(written: tuple[Path, list[Any]]) -> None:
    name = threads.image_name()
    assert Image.from_bytes(ahead.entry(name) or b"") == threads.compiled_image()
    assert ahead.entry("of another text") is None


def found(keys: list[Any]) -> list[bool]:
    ahead.entry_places.cache_clear()
    return [ahead.load(key, current()) is not None for key in keys]


def test_what_was_written_is_found(written: tuple[Path, list[Any]]) -> None:
    _, keys = written
    assert found([*keys, ("another", True, "auto")]) == [True, True, True, False]


def test_code_of_other_sources_is_not_used(
    written: tuple[Path, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, keys = written
    monkeypatch.setattr(generator, "version", lambda kind: "another")
    assert not any(found(keys)) and ahead.is_stale()


def test_times_of_files_do_not_count(written: tuple[Path, list[Any]]) -> None:
    path, keys = written
    os.utime(path, ns=(1, 1))  # as old as the archive that it came in says
    assert all(found(keys)) and not ahead.is_stale()


@pytest.mark.parametrize("content", [b"", b"FWAHEAD1", b"something else", None])
def test_a_file_that_is_none_of_ours_is_as_good_as_none(
    written: tuple[Path, list[Any]], content: bytes | None
) -> None:
    path, keys = written
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    assert not any(found(keys))


def test_a_file_replaced_while_the_process_runs_is_no_failure(
    written: tuple[Path, list[Any]],
) -> None:
    path, keys = written
    assert all(found(keys))
    path.write_bytes(path.read_bytes()[:-40])
    assert ahead.load(keys[-1], current()) is None
    path.write_bytes(path.read_bytes()[::-1])
    assert not any(ahead.load(key, current()) for key in keys)


def test_each_is_one_operation_that_numpy_does_not_compute_to_the_bit() -> None:
    with fw.options(small=0):
        for node in islice(operations.operations(), 0, None, 40):
            assert node.kind in (graph.MAP, graph.REDUCE, graph.SCAN)
            assert all(arg.kind in (graph.LEAF, graph.SCALAR) for arg in node.args)


PROGRAM = """
import sys, fusewright.numpy as np
x = np.linspace(0.1, 1, 5000)
grid = np.outer(x[:80], x)[:, ::3]
z = np.exp(x) * np.sin(x) + np.log10(x + grid[3].sum()) ** 1.5
w = np.exp(1j * grid) * (2 - grid) / np.abs(1j * grid + 3)
print(float(z.sum()), float(abs(w).max()), float(grid.mean(axis=0).min()))
print(sorted(name for name in sys.modules if name.startswith(("llvmlite.b", "fusewright.plan.f"))))
"""


@pytest.mark.skipif(native is None or not ahead.entry_places(), reason="made by the installation")
def test_a_short_program_neither_plans_nor_compiles(tmp_path: Path) -> None:
    settings = {name: text for name, text in os.environ.items() if "FUSEWRIGHT" not in name}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=settings | {"FUSEWRIGHT_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(native is None, reason="the native core runs operations one by one")
def test_no_operation_of_common_types_is_compiled_in_front_of_a_program(tmp_path: Path) -> None:
    """Types are converted first, extents broadcast first, and what is left has been compiled."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("ahead_operations.py"))],
        env=os.environ | {"FUSEWRIGHT_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split("\n", 1)[0] == "0", done.stdout
