"""User modules that another tool loads are redirected too: pytest makes code of its own from tests
(the one that is run here), type checkers from what they check.
"""

import zipfile
from pathlib import Path

import pytest
from tests.unit.cli.conftest import fresh

TESTS = """
import importlib
import numpy as np
import numpy.linalg
import numpy.linalg as la
from numpy.testing import assert_equal
from numpy import *
import pytest
import lib

def test_all_names_are_the_drop_ins(made):
    import numpy
    here = [np, numpy, importlib.import_module("numpy"), __import__("numpy"), lib.np]
    assert {each.__name__ for each in here} == {EXPECTED}
    assert la is numpy.linalg is np.linalg and la.__name__ == EXPECTED + ".linalg"
    assert type(made) is type(lib.ones()) is type(np.ones(3)) is made.__class__ is ndarray
    assert_equal({"a": made}, {"a": lib.ones()})

class Duck:
    def __array_function__(self, function, types, args, kwargs):
        assert function is np.sum
        return vars(np)["sum"] is function

def test_protocols():
    assert np.sum(Duck())

def test_that_fails_by_type(made):
    assert type(made) is list

def test_that_fails():
    total = lib.ones().sum()
    assert total == 3001
"""
CONFTEST = "import numpy as np, pytest\n@pytest.fixture\ndef made():\n    return np.ones(3000)\n"


def test_pytest_and_its_messages(folder: Path) -> None:
    (folder / "lib.py").write_text("import numpy as np\ndef ones():\n    return np.ones(3000)\n")
    (folder / "conftest.py").write_text(CONFTEST)
    for expected, command in [
        ("fusewright.numpy", ["-m", "fusewright", "run"]),
        ("numpy", []),  # what pytest keeps of the tests' code is as good without us
        ("fusewright.numpy", ["-m", "fusewright", "run"]),
    ]:
        (folder / "test_it.py").write_text(TESTS.replace("EXPECTED", repr(expected)))
        done = fresh(*command, "-m", "pytest", "-q", cwd=folder)
        assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
        assert "assert np.float64(3000.0) == 3001" in done.stdout
        assert "assert <class 'numpy.ndarray'> is list" in done.stdout
        assert "where <class 'numpy.ndarray'> = type(array([1., 1., 1.," in done.stdout


CHECKER = """
import importlib.machinery, sys

class Loader({base}):
    def exec_module(self, module):
        source = open(self.path).read()
        exec(compile(source + "\\nchecked = True", self.path, "exec"), vars(module))
    {rest}

class Finder:
    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if name == "checked_module":
            spec.loader = Loader(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder())
import json.tool  # any module: from here on the finder stands behind ours
import checked_module
print(checked_module.checked, checked_module.np.__name__, checked_module.__loader__.path)
"""
OWN = "def __init__(self, name, path): self.path = path\n    def create_module(self, spec): pass"


@pytest.mark.parametrize(
    ("base", "rest"),
    [("importlib.machinery.SourceFileLoader", ""), ("object", OWN)],
    ids=["a loader of Python's", "any loader"],
)
def test_other_loaders(folder: Path, base: str, rest: str) -> None:
    (folder / "checked_module.py").write_text("import numpy as np\n")
    (folder / "p.py").write_text(CHECKER.format(base=base, rest=rest))
    done = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    path = folder / "checked_module.py"
    assert done.stdout == f"True fusewright.numpy {path}\n", done.stderr


ZIPPED = """
import sys, pkgutil, inspect
sys.path.insert(0, "app.zip")
import inside.part as part
print(part.np.__name__, pkgutil.get_data("inside", "words.txt"), part.__loader__.archive[-7:])
print(inspect.getsource(part.one).strip(), part.one())
"""


def test_modules_in_an_archive(folder: Path) -> None:
    """A loader that reads no files answers for its data, its source and its code."""
    with zipfile.ZipFile(folder / "app.zip", "w") as archive:
        archive.writestr("inside/__init__.py", "")
        archive.writestr("inside/words.txt", "words")
        archive.writestr(
            "inside/part.py", "import numpy as np\ndef one(): return float(np.ones(1)[0])\n"
        )
    (folder / "p.py").write_text(ZIPPED)
    done = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    said = "def one(): return float(np.ones(1)[0]) 1.0\n"
    assert done.stdout == "fusewright.numpy b'words' app.zip\n" + said, done.stderr
