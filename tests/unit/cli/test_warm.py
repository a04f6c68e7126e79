"""`fusewright cache warm`: the process after it compiles nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import fresh

PROGRAM = """
import sys
import numpy as np
import fusewright as fw

@fw.kernel
def smooth(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3

n = int(sys.argv[1])
x = np.linspace(0.0, 1.0, n)
for step in range(4):
    x = np.sqrt(x * x + 0.5) - 0.25 * np.sin(x)
y = np.zeros(n)
smooth(x, y)
print(round(float(y.sum() + np.exp(-x).max()), 9))
"""
COMPILED = """
import json, sys
from fusewright.base import options
from fusewright.cli.main import main
options.set_defaults(interpret=False)
main(["run", *sys.argv[1:]])
made = ("fusewright.targets.cpu.workers", "fusewright.targets.cpu.build", "llvmlite.binding")
print(json.dumps([name for name in made if name in sys.modules]))
"""


def test_the_next_process_compiles_nothing(folder: Path) -> None:
    (folder / "p.py").write_text(PROGRAM)
    (folder / "watched.py").write_text(COMPILED)
    first = fresh("watched.py", "p.py", "50000", cwd=folder)
    answer, made = first.stdout.splitlines()
    assert json.loads(made), "the program needs no compiler: this test shows nothing"
    assert fresh("-m", "fusewright", "cache", "clear", cwd=folder).returncode == 0

    warm = fresh("-m", "fusewright", "cache", "warm", "p.py", "50000", cwd=folder)
    assert (warm.returncode, warm.stdout.strip()) == (0, answer)
    assert "new files in" in warm.stderr
    again = fresh("-m", "fusewright", "cache", "warm", "p.py", "50000", cwd=folder)
    assert "0 new files in" in again.stderr
    # Extents are no part of the key: the same code serves other sizes.
    for size in ("50000", "70000"):
        later = fresh("watched.py", "p.py", size, cwd=folder)
        assert json.loads(later.stdout.splitlines()[-1]) == []
    assert later.stdout.splitlines()[0] != answer


def test_what_makes_no_sense_is_refused(folder: Path) -> None:
    (folder / "p.py").write_text("print('ran')")
    for words in (["--compare", "p.py"], ["--explain", "p.py"], ["no.py"], []):
        done = fresh("-m", "fusewright", "cache", "warm", *words, cwd=folder)
        assert done.returncode == 2
        assert "ran" not in done.stdout
        assert "Traceback" not in done.stderr


def test_the_programs_own_end(folder: Path) -> None:
    (folder / "p.py").write_text("import sys\nsys.exit(3)")
    done = fresh("-m", "fusewright", "cache", "warm", "p.py", cwd=folder)
    assert done.returncode == 3


def test_integrals_of_a_basis_set(folder: Path) -> None:
    pytest.importorskip("pyscf")
    words = ("-m", "fusewright", "cache", "warm", "pyscf", "--basis", "sto-3g", "--elements")
    done = fresh(*words, "He", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "sto-3g: 1 kind of integrals" in done.stderr
    assert "0 new files" not in done.stderr
    assert "0 new files" in fresh(*words, "He", cwd=folder).stderr
    several = fresh(*words, "He,Ne", "H", "--range-separated", "short", cwd=folder)
    assert "sto-3g: 18 kinds of integrals" in several.stderr  # six of each, three ways
    wrong = fresh(*words[:-2], "nonsense", cwd=folder)
    assert wrong.returncode == 2
    assert "PySCF has no basis set 'nonsense' for H, C, N, O" in wrong.stderr
    script = folder / "fusewright-script"
    script.write_text("import sys\nfrom fusewright.cli.main import main\nsys.exit(main())\n")
    started = fresh(str(script), *words[2:-2], "nonsense", cwd=folder)
    assert started.returncode == 2 and "PySCF has no basis set" in started.stderr
    assert "sys.exit(main())" not in started.stderr  # where we are started from
