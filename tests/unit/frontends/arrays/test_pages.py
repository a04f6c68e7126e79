"""Arrays at the end of a notebook's cell."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as np
from fusewright.frontends.arrays import pages
from fusewright.ir.graph import LEAF


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that shows HTML."""
    formatter = SimpleNamespace(active_types=["text/plain", "text/html"])
    session = SimpleNamespace(display_formatter=formatter)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: session))


@pytest.mark.usefixtures("notebook")
def test_a_pending_array_stays_pending() -> None:
    x = fw.asarray(numpy.arange(2000.0).reshape(40, 50))
    y = np.exp(x * 2 + x.T.reshape(40, 50) * 2)
    shown: Any = y._repr_mimebundle_()
    assert y._node.kind != LEAF
    for text in shown.values():
        assert "float64 array of shape 40×50, 15.6 KiB" in text
        assert "pending" in text
        assert "2 multiply" in text
        assert "exp" in text
    assert "&lt;" not in shown["text/plain"]


@pytest.mark.usefixtures("notebook")
def test_a_computed_array_shows_its_values() -> None:
    x = fw.asarray(numpy.arange(2000.0))
    shown: Any = x._repr_mimebundle_()
    assert shown["text/plain"] == repr(numpy.arange(2000.0))
    assert "<details>" in shown["text/html"]
    assert "array([0.000e+00" in shown["text/html"]


@pytest.mark.usefixtures("notebook")
def test_what_numpy_prints_whole_is_printed() -> None:
    for x in (fw.asarray(numpy.arange(1000.0)) + 1, fw.asarray(numpy.arange(5000.0)).sum()):
        assert x._repr_mimebundle_() is None


@pytest.mark.usefixtures("notebook")
def test_long_histories_are_counted_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    x = fw.asarray(numpy.arange(2000.0))
    with fw.lazy():
        for _ in range(4):
            x = np.sqrt(x) + 1
        assert "pending: 8 operations (4 add, 4 sqrt)" in x._repr_mimebundle_()["text/plain"]
        monkeypatch.setattr(pages, "MOST_WALKED", 5)
        assert "pending: more than 3 operations" in x._repr_mimebundle_()["text/plain"]


@pytest.mark.usefixtures("notebook")
@pytest.mark.parametrize("shape", [(4000,), (500, 3), (1000, 1000), (3, 4, 50, 60)])
def test_a_corner_is_shown_on_request(shape: tuple[int, ...]) -> None:
    x = fw.asarray(numpy.arange(float(numpy.prod(shape))).reshape(shape)) + 1
    text = x._repr_mimebundle_()["text/plain"]
    index = text.partition("; x[")[2].partition("]")[0]
    assert text.endswith(f"x[{index}] shows a corner and computes what that needs>")
    corner: Any = eval(f"x[{index}]", {"x": x})
    assert corner._repr_mimebundle_() is None
    assert corner.size <= pages.CORNER**2
    (step,) = fw.explain(corner).kernels
    assert step.bytes_written == 8 * corner.size
    assert x._node.kind != LEAF


def test_a_terminal_shows_values() -> None:
    assert (fw.asarray(numpy.arange(2000.0)) * 2)._repr_mimebundle_() is None


CELLS = """
import numpy
import fusewright as fw, fusewright.numpy as np
x = np.linspace(0.0, 1.0, 100_000)
y = np.sqrt(x) * 2 + 1
y
#
float(y.sum())
#
y
#
np.arange(3) * 2
#
@fw.kernel
def double(a):
    for i in range(len(a)):
        a[i] = 2 * a[i]
double(numpy.ones(1000))
double.explain()
#
fw.explain(np.exp(y))
#
fw.explain(double, numpy.ones(1000))
"""


def test_a_real_notebook() -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(text.strip()) for text in CELLS.split("\n#\n")]
    nbclient.NotebookClient(book, timeout=120).execute()
    shown = [cell.outputs[-1]["data"] for cell in book.cells]
    assert "pending" in shown[0]["text/html"]
    assert "sqrt" in shown[0]["text/html"]
    assert float(shown[1]["text/plain"]) > 0
    assert "text/plain" in shown[2]
    assert shown[3]["text/plain"] == "array([0, 2, 4])"
    assert "<table>" in shown[4]["text/html"]
    assert "<code" in shown[4]["text/html"] and "for i in range(len(a))" in shown[4]["text/html"]
    assert "on threads and in vectors" in shown[4]["text/html"]
    assert "<table>" in shown[5]["text/html"] and "exp" in shown[5]["text/html"]
    assert "<th" in shown[6]["text/html"] and "for i in range(len(a))" in shown[6]["text/html"]
    assert "scalar" not in shown[6]["text/html"]


WRONG = """
import numpy
import fusewright as fw, fusewright.numpy as np
x = np.linspace(0.0, 1.0, 100_000)
x + np.ones(3000)
#
def refused(row):
    raise KeyError("mine")
np.apply_along_axis(refused, 0, x)
#
np.sine(x)
#
@fw.kernel
def shift(a):
    for i in range(len(a)):
        a[i] = a[i + 1]
with fw.options(check=True):
    shift(numpy.ones(1000))
#
np.linalg.inv(np.zeros((100, 100)))
#
1 / 0
#
eval("1 +")
"""


def test_errors_in_a_real_notebook() -> None:
    """They end at the user's line, name no frame of ours, and a cell has the name it has there."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook()
    cells = [
        *WRONG.strip().split("\n#\n"),
        "np.arange(100_000.0) * 2",
        "fw.explain(np.exp, x)",
        "fw.explain(lambda: float(np.exp(x).sum()))",
    ]
    book.cells = [nbformat.v4.new_code_cell(text) for text in cells]
    nbclient.NotebookClient(book, timeout=120, allow_errors=True).execute()
    outputs = [cell.outputs[-1] for cell in book.cells]
    wrong = [re.sub(r"\x1b\[[\d;]*m", "", "\n".join(o.traceback)) for o in outputs[:-3]]
    for number, text in enumerate(wrong, 1):
        assert "/fusewright/" not in text and "ipykernel_" not in text
        assert f"Cell In[{number}], line " in text
    assert "  --> Cell In[1]:4:1" in wrong[0] and "ShapeError" in wrong[0]
    assert "KeyError: 'mine'" in wrong[1]
    assert "has no attribute 'sine'" in wrong[2]
    assert "  --> Cell In[4]:4:16" in wrong[3]
    assert "Singular matrix" in wrong[4]
    assert "ZeroDivisionError" in wrong[5] and "SyntaxError" in wrong[6]
    assert "arange" in outputs[-3]["data"]["text/html"] and "iota" not in str(outputs[-3])
    assert "ipykernel_" not in str(outputs[-2:]) and "Cell In[10]:1" in str(outputs[-1])
