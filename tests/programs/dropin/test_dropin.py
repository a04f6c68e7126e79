"""Whole NumPy programs, unmodified, under NumPy and under the drop-in: the results they name
must agree.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

from fusewright.cli.redirect import compile_redirected
from fusewright.frontends.arrays import Array

FOLDER = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in FOLDER.glob("[!ct_]*.py"))


def _run(name: str, redirected: bool) -> dict[str, Any]:
    path = FOLDER / f"{name}.py"
    source = path.read_text()
    if redirected:
        code = compile_redirected(source, str(path))
    else:
        code = compile(source, str(path), "exec")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(code, names)
    return names


def test_there_are_programs() -> None:
    assert len(PROGRAMS) == 10


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    plain, fused = _run(name, False), _run(name, True)
    arrays = 0
    for result in plain["__results__"]:
        want, got = plain[result], fused[result]
        arrays += isinstance(got, Array)
        if isinstance(want, str):
            assert got == want
            continue
        want, got = numpy.asarray(want), numpy.asarray(got)
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        if want.dtype.kind in "fc":
            near = 1e-5 if want.dtype.itemsize == 4 else 1e-9
            numpy.testing.assert_allclose(got, want, rtol=near, atol=near)
        else:
            numpy.testing.assert_array_equal(got, want)
    assert arrays, "the drop-in was not used"
