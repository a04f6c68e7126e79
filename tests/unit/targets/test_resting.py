"""LLVM's pages go while nothing is compiled, and come back."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime.limits import resident_memory
from fusewright.targets.cpu import build, llvm, resting


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_llvm_rests_and_compiles_again(tmp_path: Path) -> None:
    llvm.started()
    fw.cache_clear()
    build._image.cache_clear()
    with fw.options(background=False, cache_dir=str(tmp_path)):
        fw.evaluate(fnp.asarray(np.arange(1e5)) * 3.25 + 0.125)
        before = resident_memory()
        llvm.rest()
        assert before - resident_memory() > 10 << 20
        value = fnp.asarray(np.arange(1e5)) * 3.5 - fnp.asarray(np.ones(100000)) / 7.0
        np.testing.assert_array_equal(np.asarray(value), np.arange(1e5) * 3.5 - np.ones(100000) / 7)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_only_what_was_never_written_goes() -> None:
    path = llvm._path()
    parts = resting._read_only(path)
    assert parts
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5] == str(Path(path).resolve()) and "w" in words[1]:
            start = int(words[0].split("-")[0], 16)
            assert all(not a <= start < a + n for a, n in resting._mapped(path, parts))


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "library"
    other.write_bytes(b"\0" * 200)
    assert resting._read_only(str(other)) == []
