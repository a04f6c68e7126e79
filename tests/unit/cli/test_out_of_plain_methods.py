"""A method of NumPy's array writes into an array of ours that `out=` names."""

from pathlib import Path

import numpy
import pytest
from tests.unit.cli.conftest import fresh

import fusewright.numpy as ours

PROGRAM = """
import numpy as np

def tell(call):
    try:
        print(call())
    except Exception as error:
        print([c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"][0])

for kind in ("f8", "i2"):
    n = 7
    v = np.arange(3 * n).reshape(3, n) % 11
    rows, planes = np.zeros((4, 900), kind)[:, :n], np.zeros((2, 3, 900), kind)[:, :, :n]
    places = np.zeros((4, 900), "i8")[:, :n]
    row = rows[2]
    tell(lambda: (v.mean(axis=0, out=row) is row, v.std(axis=0, out=rows[0])[:2]))
    tell(lambda: (v.var(0, out=row) is row, np.mean(v, axis=0, out=rows[3])))
    tell(lambda: v.cumsum(axis=1, out=planes[0]))
    tell(lambda: v.cumprod(axis=0, out=planes[1]))
    tell(lambda: v.argmax(axis=0, out=places[0]))
    tell(lambda: v.argmin(0, out=places[1]))
    tell(lambda: v.take([0, 2, 1], axis=0, out=planes[1]))
    tell(lambda: v.round(1, out=planes[0]))
    tell(lambda: v.compress([True, False, True], axis=0, out=planes[0, :2]))
    tell(lambda: v.dot(np.eye(n, dtype="i8"), out=places[:3]))
    tell(lambda: (v[0] % 2).choose([v[1], v[2]], out=places[0]))
    tell(lambda: v.trace(out=places[0, 0]))
    tell(lambda: v.clip(1, 3, out=places[:3]))
    tell(lambda: v.sum(axis=0, out=places[0]))
    print(rows, planes, places)
"""


def test_in_a_program(folder: Path) -> None:
    (folder / "p.py").write_text(PROGRAM)
    plain = fresh("p.py", cwd=folder)
    run = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    assert run.stdout == plain.stdout, run.stderr
    assert plain.stdout.startswith("(True, array(")


@pytest.mark.parametrize("name", ["mean", "std", "var", "sum", "max", "prod", "any"])
def test_without_the_command(name: str) -> None:
    plain = numpy.arange(1800.0).reshape(3, 600)
    out = ours.ones((2, 600))
    getattr(plain, name)(axis=0, out=out[1])
    assert out[0].tolist() == [1.0] * 600
    expected = getattr(plain, name)(axis=0)
    numpy.testing.assert_array_equal(numpy.asarray(out[1]), expected)
