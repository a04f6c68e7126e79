"""`fusewright run --as pykokkos`: a program that imports pykokkos, as it is."""

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import pykokkos as pk
from pykokkos.interface.data_types import int32
import pykokkos.lib.ufuncs
import kernels


@pk.workunit
def work(i, a):
    a[i] = 3 * i // 2


if __name__ == "__main__":
    a = pk.View([4], int32)
    pk.parallel_for(4, work, a=a)
    kernels.run(a)
    assert type(np.zeros(1)) is np.ndarray and "fusewright" not in np.__name__
    print(a, pykokkos.pi > 3)
"""
KERNELS = """
import pykokkos as pk


@pk.workunit
def double(i, a):
    a[i] *= 2


def run(a):
    pk.parallel_for(pk.RangePolicy(pk.OpenMP, 0, 4), double, a=a)
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def run(*words):
    command = [sys.executable, "-m", "fusewright", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_runs_unmodified(program):
    done = run("run", "--as", "pykokkos", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[0 2 6 8] True\n"


def test_without_it_pykokkos_is_not_there(program):
    done = run("run", program)
    assert done.returncode == 1 and "pykokkos" in done.stderr


def test_other_libraries_are_refused(program):
    done = run("run", "--as", "scipy", program)
    assert done.returncode == 2 and "pykokkos" in done.stderr
