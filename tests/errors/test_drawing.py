"""How an error is drawn, and what a refused statement leaves behind: nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.base import errors, options, source
from fusewright.frontends.arrays import opaque


def table() -> Any:
    return fa.asarray(np.arange(12.0).reshape(3, 4))


def integers() -> Any:
    return fa.asarray(np.arange(4))


def test_a_refused_write_leaves_the_array_alone() -> None:
    x = integers()
    with pytest.raises(errors.DTypeError):
        x += 0.5
    with pytest.raises(errors.ShapeError):
        x[:2] = np.ones(3)
    assert x.tolist() == [0, 1, 2, 3]


def test_read_only_memory_stays_as_it_is() -> None:
    data = np.ones(3)
    data.flags.writeable = False
    shared = fa.asarray(data, copy=False)
    with pytest.raises(errors.ReadOnlyError):
        shared[0] = 2.0
    with pytest.raises(errors.ReadOnlyError):
        shared.flags.writeable = True
    copied = fa.asarray(data)
    copied += 1.0
    assert data.tolist() == [1.0] * 3
    assert copied.tolist() == [2.0] * 3


def test_setflags_locks() -> None:
    x = integers()
    x.setflags(write=False)
    with pytest.raises(errors.ReadOnlyError):
        x += 1
    x.setflags(write=True)
    x += 1
    assert x.tolist() == [1, 2, 3, 4]


def test_strict_refuses_delegation_at_the_line() -> None:
    x = table()
    with options.options(strict=True), pytest.raises(errors.StrictError) as caught:
        opaque.delegate("kron", np.kron, (x, x))
    assert "kron would run as an uncompiled step" in str(caught.value)
    assert caught.value.where is not None


def test_the_drawing() -> None:
    x, y = table(), integers()[:3]
    with pytest.raises(errors.ShapeError) as caught:
        x * y
    drawn = str(caught.value).splitlines()
    assert drawn[0] == (
        "operands could not be broadcast together with shapes (3, 4) and (3,) in multiply [FW101]"
    )
    assert drawn[1].startswith(f"  --> {__file__}:")
    assert drawn[2] == "   |         x * y"
    assert drawn[3] == "   |         ^^^^^"
    assert drawn[4].startswith("why: ")
    assert drawn[-1].startswith("help: ")


def test_spans_count_characters() -> None:
    line = ("é", source.user_span())[1]
    assert line is not None
    text = Path(__file__).read_text().splitlines()[line[1] - 1]
    assert text[line[2] - 1 : line[3] - 1] == "source.user_span()"


def test_internal_errors_name_the_stages() -> None:
    text = str(errors.InternalError("no such op", ("slice", "plan")))
    assert "stages: slice -> plan" in text
    assert "please report" in text


@pytest.mark.parametrize("place", [0, 60, 150, 290])
def test_long_lines_are_cut_to_the_terminal(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = "x" * place + "HERE" + "y" * (300 - place)
    (tmp_path / "long.py").write_text(text + "\n")
    head, line, caret = source.draw((str(tmp_path / "long.py"), 1, place + 1, place + 5))
    assert head.endswith(f"long.py:1:{place + 1}")
    assert len(line) == 80
    assert line[caret.index("^") : caret.rindex("^") + 1] == "HERE"
    assert line.startswith("   | ...") == (place > 50)
    assert line.endswith("...") == (place < 250)
