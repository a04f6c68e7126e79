"""Short programs as people write them: what each prints, and what it puts into `R`, is NumPy's."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest

from fusewright.base.options import options
from fusewright.cli.redirect import compile_redirected
from fusewright.frontends.arrays import Array

FOLDER = Path(__file__).parent / "snippets"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py"))


def _run(name: str, redirected: bool) -> tuple[str, list[Any]]:
    path = FOLDER / f"{name}.py"
    source = path.read_text()
    code = (
        compile_redirected(source, str(path)) if redirected else compile(source, str(path), "exec")
    )
    names: dict[str, Any] = {"__name__": "__main__"}
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("ignore")
        exec(code, names)
    return out.getvalue(), names["R"]


def _same(got: Any, want: Any) -> None:
    if isinstance(want, list | tuple):
        assert isinstance(got, list | tuple) and len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            _same(one, other)
        return
    if not isinstance(want, numpy.ndarray | numpy.generic):
        assert got == want or repr(got) == repr(want)
        return
    got, want = numpy.asarray(got), numpy.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.dtype.kind not in "fc":
        numpy.testing.assert_array_equal(got, want)
        return
    near = 64 * float(numpy.finfo(want.dtype).eps)
    largest = numpy.max(abs(want[numpy.isfinite(want)]), initial=0.0)
    numpy.testing.assert_allclose(got, want, rtol=1e4 * near, atol=64 * near * float(largest))


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 40


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_snippet(name: str, fuse: bool) -> None:
    if name == "resized" and sys.version_info >= (3, 14):
        pytest.skip("NumPy resizes nothing there: it cannot tell who else holds an array")
    printed, results = _run(name, False)
    with options(fuse=fuse):
        ours, found = _run(name, True)
        assert ours == printed
        _same(found, results)


def test_the_drop_in_is_what_runs() -> None:
    assert any(isinstance(value, Array) for value in _run("reductions", True)[1])
