"""The border to installed packages: what crosses it, both ways, and what stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="the border is the native core's")

PACKAGE = '''
"""An installed package that knows NumPy's arrays alone."""
import functools
import math
import sys

import numpy as np

from . import tools


def kind(x):
    return type(x).__name__


def plain(x):
    assert type(x) is np.ndarray, type(x)
    return float(x.sum())


def write(x, value=7.0):
    plain(x)
    x[0] = value
    return x


kept = []


def keep(x):
    kept.append(x)


def seen():
    return kept[-1][1]


def fresh(n):
    return np.arange(float(n))


state = np.zeros(900)


def held():
    return state


def pair(x):
    return x, x * 2


def inside(items, table):
    assert all(type(each) is np.ndarray for each in [*items, *table.values()])
    return len(items) + len(table)


def is_numpys(function):
    return function in (np.sum, np.sin, np.ndarray, np)


def callers_names():
    return sorted(name for name in sys._getframe(1).f_globals if name.startswith("mine"))


def derivative(f):
    def slope(x):
        plain(x)
        return (f(x + 1e-3) - f(x)) * 1e3
    return slope


def raises(x):
    raise KeyError(kind(x))


@functools.singledispatch
def name_of(x):
    return "object"


@name_of.register(np.ndarray)
def _(x):
    return "ndarray"


class Base:
    def fit(self, x):
        plain(x)
        self.x = x
        return self


class Model(Base):
    def __init__(self, x):
        plain(x)
        self.x = x

    @classmethod
    def of(cls, x):
        return cls(x)

    @staticmethod
    def total(x):
        return plain(x)

    @property
    def part(self):
        return self.x[:5]

    def __getitem__(self, key):
        plain(key)
        return self.x[key]

    def __add__(self, other):
        return plain(other)

    def __call__(self, x):
        return plain(x)

    def unnamed(self, x):
        return kind(x)


def make(x):
    return Model(x)


hypot = math.hypot
'''
TOOLS = """
import numpy as np

def deep(x):
    assert type(x) is np.ndarray
    return x.mean()
"""
LAZY = """
import numpy as np

def __getattr__(name):
    if name == "late":
        def late(x):
            assert type(x) is np.ndarray
            return x.max()
        return late
    raise AttributeError(name)
"""
WITHOUT = """
def kind(x):
    return type(x).__name__
"""
PROGRAM = """
import pickle

import numpy as np

import pack
import pack.tools as tools
import lazypack
import without
from pack import Model, derivative, make, write

mine_one = 1
x = np.arange(1000.0)
print(pack.plain(x), pack.plain(x * 2), pack.plain(x[10:20]), pack.plain(x.reshape(10, -1).T))
y = write(x)
print(y is x, x[0], write(x=x, value=3.0)[0], x[0])
pack.keep(x)
x[1] = 55.0
print(pack.seen())
z = pack.fresh(2000)
print(z.sum(), isinstance(z, np.ndarray), pack.fresh(3).sum())
h = pack.held()
h[0] = 1.0
print(pack.held()[0], pack.held() is h, pack.state is h)
a, b = pack.pair(x)
print(a is x, b[2])
print(pack.inside([x, x], {"a": x}), pack.is_numpys(np.sum), pack.is_numpys(np.sin))
print(pack.is_numpys(np), pack.is_numpys(np.ndarray))
print(pack.callers_names(), derivative(lambda t: t * t)(x)[5].round(6))
print(pack.name_of(x), tools.deep(x), pack.tools.deep(x), lazypack.late(x))
try:
    pack.raises(x)
except KeyError as error:
    print(error)
m = Model(x)
print(m.fit(x) is m, Model.of(x).total(x), m[x > 990].sum())
print(m + x, m(x), m.part, isinstance(m, Model))
print(make(x).fit(x).x.sum(), make(x)(x * 2))
print(Model.__name__, Model.fit.__name__, pack.plain.__name__)


class Mine(Model):
    hypot = pack.hypot

    def fit(self, x):
        return super().fit(x * 2)


print(Mine(x).fit(x).x.sum(), Mine(x).hypot(3, 4))
print(pickle.loads(pickle.dumps(pack.plain)) is pack.plain)
print(pickle.loads(pickle.dumps(Model)) is Model)
"""
UNTOUCHED = """
import numpy as np
import without
import pack

x = np.arange(1000.0)
print(without.kind(x), type(pack.kind).__name__, type(pack.plain).__name__)
f = pack.kind
print(f(x), type(vars(pack)["plain"]).__name__)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    lib, user = tmp_path / "lib", tmp_path / "user"
    (lib / "pack").mkdir(parents=True)
    user.mkdir()
    (lib / "pack" / "__init__.py").write_text(PACKAGE)
    (lib / "pack" / "tools.py").write_text(TOOLS)
    (lib / "lazypack.py").write_text(LAZY)
    (lib / "without.py").write_text(WITHOUT)
    (user / "program.py").write_text(PROGRAM)
    return tmp_path


def run(place: Path, words: list[str], **settings: str) -> str:
    paths = [str(place / "lib"), os.environ.get("PYTHONPATH", "")]
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment["FUSEWRIGHT_CACHE_DIR"] = str(place / "cache")
    done = subprocess.run(
        [sys.executable, *words, str(place / "user" / "program.py")],
        env=os.environ | environment | settings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_packages_get_numpys_arrays_and_give_ours_back(place: Path) -> None:
    plain = run(place, [])
    for small in ("0", "512"):
        assert run(place, ["-m", "fusewright", "run"], FUSEWRIGHT_SMALL=small) == plain


def test_what_the_program_does_not_name_is_untouched(place: Path) -> None:
    (place / "user" / "program.py").write_text(UNTOUCHED)
    lines = run(place, ["-m", "fusewright", "run"]).splitlines()
    # The first package never meets NumPy; of the other the program names two functions.
    assert lines[0].split()[0] == "Array"
    assert lines[1].split()[0] == "ndarray"
