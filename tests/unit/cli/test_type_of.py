"""`type(x)` in a program is NumPy's class, whichever kind of array `x` is."""

from pathlib import Path

import pytest
from tests.unit.cli.conftest import fresh

PROGRAM = """
import pickle
import numpy as np
from numpy import ndarray

class Point:
    def __repr__(self):
        return type(self).__name__

small, large = np.ones(3), np.ones(3000)
for x in (small, large, large[5:2000], large[large > 0], large.reshape(30, 100).T):
    print(type(x), type(x).__name__, type(x).__module__, type(x) is np.ndarray, type(x) == ndarray)
    print(type(x) is type(small), type(x) in (list, np.ndarray), {np.ndarray: 1}[type(x)])
    print(type(x)((2,)).shape, isinstance(large, type(x)), x.view(type(x)).shape == x.shape)
    print(x.__class__ is np.ndarray, ndarray is x.__class__, x.__class__ is not np.ndarray)
    print(x is np.ndarray, x is not ndarray, x.__class__ is ndarray is np.ndarray)
    print(pickle.loads(pickle.dumps(type(x))))
for s in (large.sum(), large.argmax(), large[3], (large > 0).any(), large.astype("f4").max()):
    print(type(s), type(s) is np.float64, isinstance(s, type(s)), np.dtype(type(s)))
print(np.ndarray == [1], {} != ndarray, np.ndarray in ([], "a", np.ndarray), None == ndarray)
print(type(np.ma.array([1])) == np.ndarray, type(3), type("a"), Point(), type(Point()) is Point)
print(type("Made", (Point,), {})(), isinstance(Point, type), list(map(type, [1, 2.0])))
"""


def test_it_is_numpys(folder: Path) -> None:
    (folder / "p.py").write_text(PROGRAM)
    plain = fresh("p.py", cwd=folder)
    ours = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    assert ours.stdout == plain.stdout, ours.stderr
    assert plain.stdout.startswith("<class 'numpy.ndarray'> ndarray numpy True True\n")


@pytest.mark.parametrize(
    "text",
    [
        "def f(type): return type(3)\nprint(f(str), np.ones(2)[0])",
        "type = str\nprint(type(3))",
        "from builtins import str as type\nprint(type(3))",
        "for type in (str, int): print(type('3'))",
        "class A:\n    def type(self): return 1\n    x = 2\nprint(A().type(), type(A()).__name__)",
        "import builtins\nprint(builtins.type(3), type(*[3]), type(type))",
    ],
)
def test_what_else_is_called_type_stays_what_it_is(folder: Path, text: str) -> None:
    (folder / "p.py").write_text(f"import numpy as np\n{text}\n")
    plain = fresh("p.py", cwd=folder)
    ours = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    assert plain.returncode == 0 and ours.stdout == plain.stdout, ours.stderr


ASKING = """
makers = {}

def made(value):
    return makers[type(value)](value), type(value).__name__
"""
ASKED = """
import numpy as np
from asking import made, makers

makers.update({np.ndarray: len, np.float64: float, int: str})
print(made(np.ones(3000)), made(np.ones(3)), made(np.ones(3000).sum()), made(3))
kept = [n for n in ("ndarray", "int8", "nditer", "matrix") if type(getattr(np, n)) is type]
print(kept, type(np.ndarray), type(type(np.ones(3000))))
"""


def test_it_is_numpys_in_modules_that_do_not_name_numpy(folder: Path) -> None:
    (folder / "asking.py").write_text(ASKING)
    (folder / "p.py").write_text(ASKED)
    plain = fresh("p.py", cwd=folder)
    for _ in range(2):  # the second reads the code that the first has kept
        ours = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
        assert ours.stdout == plain.stdout, ours.stderr


COPYING = """
import numpy as np

for name, value in np.__dict__.items():
    if callable(value):
        globals()[name] = value
"""


def test_a_module_that_copies_numpys_names_exports_them_as_numpys_does(folder: Path) -> None:
    (folder / "wrapper.py").write_text(COPYING)
    (folder / "p.py").write_text(
        "linalg = 1\nfrom wrapper import *\nprint(linalg, sum.__name__, 'fft' in globals())\n"
    )
    plain = fresh("p.py", cwd=folder)
    ours = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    assert ours.stdout == plain.stdout == "1 sum False\n", ours.stderr
