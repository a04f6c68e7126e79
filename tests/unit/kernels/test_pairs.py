"""Which pairs of loops fuse, and that fused or not they do what CPython does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kernel_runs import loaded, same_as_cpython
from tests.unit.kernels.pair_kernels import ILLEGAL, LEGAL, arguments, source

import fusewright as fw


@pytest.mark.parametrize("number", LEGAL)
def test_legal(number: str, tmp_path: Path) -> None:
    pair = LEGAL[number]
    kernel = loaded(source(pair), tmp_path / f"pair_{number}.py")
    with fw.options(threads=2):  # what pays depends on their number
        kernel(*arguments())
    text = str(kernel.explain())
    if pair.fused == "yes":
        assert kernel.stats.fused == 1, text
        assert ": on (i), one loop" in text
    elif pair.fused == "strips":
        assert ": on (i), strips, dims" in text
    else:
        assert kernel.stats.fused == 0
        assert "read after write of" not in text.partition("not fused")[2].partition("\n")[0] or (
            pair.fused == "cost"
        )
    same_as_cpython(kernel, *arguments())


@pytest.mark.parametrize("number", ILLEGAL)
def test_illegal(number: str, tmp_path: Path) -> None:
    pair = ILLEGAL[number]
    kernel = loaded(source(pair), tmp_path / f"pair_{number}.py")
    kernel(*arguments())
    assert "one loop" not in str(kernel.explain())
    same_as_cpython(kernel, *arguments())
