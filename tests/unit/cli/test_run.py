"""`run --explain` and `--report` on real programs: kernels, lines, library steps, errors."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

PROGRAM = """\
import sys
import numpy as np

a = np.linspace(0.0, 1.0, 5000)
b = np.sqrt(a * a + 1.0)
c = b - np.exp(-a)
print(round(float(c.sum()), 6))
m = np.linalg.det(np.eye(30) * 2.0) ** 0.1
print(round(float(m), 6))
if "fail" in sys.argv:
    raise ValueError("half-way")
"""
PRINTED = "2578.372575\n8.0\n"


@pytest.fixture
def program(folder: Path) -> str:
    (folder / "p.py").write_text(textwrap.dedent(PROGRAM))
    return "p.py"


def test_explain(run: Run, program: str) -> None:
    code, out, err = run("--full", program)
    assert (code, out) == (0, PRINTED)
    assert re.search(r"K1 kernel", err)
    for number in (5, 6):
        assert f"p.py:{number}" in err
    assert "numpy: linalg.det" in err
    assert "p.py:8" in err
    assert re.search(r"memory moved [\d.]+ k?B", err)


def test_explain_command_gives_standard_output_to_the_explanation(run: Run, program: str) -> None:
    code, out, err = run("--full", program, command="explain")
    assert (code, err) == (0, PRINTED)
    assert "K1 kernel" in out


def test_no_fuse_runs_more_kernels(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text(
        "import numpy as np\nx = np.asarray(np.random.default_rng(1).random((400, 500)))\n"
        "print((x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True))"
    )

    def kernels(*words: str) -> int:
        err = run("--explain", *words, "p.py")[2]
        found = re.search(r"ran as ([\d,]+) kernel run", err)
        assert found
        return int(found[1].replace(",", ""))

    assert kernels("--no-fuse") > kernels("--fuse")


def test_report_of_a_program_that_fails_half_way(run: Run, folder: Path, program: str) -> None:
    code, out, err = run("--report", "r.html", program, "fail")
    assert (code, out) == (1, PRINTED)
    assert 'line 11, in <module>\n    raise ValueError("half-way")\nValueError: half-way' in err
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "ended early: ValueError: half-way" in page
    assert 'class="kernel"' in page
    assert "linalg.det" in page
    assert "np" in page and "sqrt" in page


def test_report_of_a_comparison(run: Run, folder: Path, program: str) -> None:
    code, _, err = run("--compare", "--report", "r.html", program)
    assert code == 0, err
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "results agree with NumPy" in page
    assert "Speed-up over NumPy" in page


def test_strict_names_the_line(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text(
        "import numpy as np\na = np.ones((300, 3))\nprint(np.apply_along_axis(np.sum, 0, a))\n"
    )
    assert run("p.py")[:2] == (0, "[300. 300. 300.]\n")
    code, out, err = run("--strict", "p.py")
    assert (code, out) == (1, "")
    assert "line 3, in <module>" in err
    assert "apply_along_axis" in err
    assert "p.py:3" in err


def test_strict_lets_library_steps_pass_unless_it_is_all(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text(
        "import numpy as np\na = np.arange(3000.0)\nprint(np.sort(-a)[0])\nprint(np.median(a))\n"
    )
    assert run("p.py")[:2] == (0, "-2999.0\n1499.5\n")
    code, out, err = run("--strict", "p.py")
    assert (code, out) == (1, "-2999.0\n")
    assert "median would run" in err and "p.py:4" in err and "[FW111]" in err
    code, out, err = run("--strict=all", "p.py")
    assert (code, out) == (1, "")
    assert "sort would run" in err and "p.py:3" in err and "strict='all'" in err


def test_nothing_asked_for(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text("import numpy as np\nx = np.ones(10) + 1\n")
    code, _, err = run("--explain", "p.py")
    assert code == 0
    assert "Nothing was evaluated" in err


def test_comparing_what_runs_only_with_the_drop_in(run: Run, folder: Path) -> None:
    """Plain NumPy's run has no PyKokkos: advice to give the option that was given helps nobody."""
    (folder / "p.py").write_text(
        "import pykokkos as pk\nprint(pk.View([3], pk.double).extent(0))\n"
    )
    code, out, err = run("--compare", "--as", "pykokkos", "p.py")
    assert code != 0 and not out
    assert "needs pykokkos itself: install it, or leave `--compare` out" in err
    assert "--as pykokkos ...` runs" not in err


def test_types_that_are_numpys_own_are_named(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text(
        "import numpy as np\nx = np.linspace(0.0, 1.0, 200_000)\nl = x.astype(np.longdouble)\n"
        "print((x * l).size, (np.sin(x) + x.astype(object)).size)\n"
    )
    _, _, err = run("--explain", "--full", "p.py")
    for name in ("float128", "object"):
        assert f"not compiled: arrays of {name} are NumPy's own" in err
