"""`--compare` finds every kind of difference, and cannot be silently off."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from fusewright.cli import console
from fusewright.cli import run as show
from fusewright.cli.compare import NoResults, collect, compare, compare_all

Run = Callable[..., tuple[int, str, str]]

ONE = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ONE, ONE),
        (ONE * (1 + 1e-14), ONE),
        (ONE.astype(np.float32) * np.float32(1 + 1e-6), ONE.astype(np.float32)),
        (np.array([np.nan, np.inf, -np.inf]), np.array([np.nan, np.inf, -np.inf])),
        (np.array([1e-17, 1.0]), np.array([0.0, 1.0])),
        (np.array([1 + 1j]), np.array([1 + 1j * (1 + 1e-15)])),
        (np.array(["a"]), np.array(["a"])),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.array(True), np.array(True)),
    ],
)
def test_agrees(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert compare("x", ours, theirs).problem == ""


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ONE * (1 + 1e-11), ONE),
        (ONE.astype(np.float32) * np.float32(1 + 1e-4), ONE.astype(np.float32)),
        (ONE, ONE.astype(np.float32)),
        (ONE, ONE[:2]),
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([2**62 + 1]), np.array([2**62])),
        (np.array([True]), np.array([False])),
        (np.array([np.nan]), np.array([1.0])),
        (np.array([1.0]), np.array([np.nan])),
        (np.array([np.inf]), np.array([1.0])),
        (np.array([np.inf]), np.array([-np.inf])),
        (np.array([1 + 1j]), np.array([1 - 1j])),
        (np.array(["a"]), np.array(["b"])),
    ],
)
def test_differs(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert compare("x", ours, theirs).problem != ""


def test_one_wrong_element_of_many_blocks() -> None:
    theirs = np.ones(3_000_000)
    ours = theirs.copy()
    ours[-1] = 1.5
    found = compare("x", ours, theirs)
    assert found.problem == "1 of 3,000,000 elements differ"
    assert found.largest_absolute == 0.5


def test_counts_units_in_the_last_place() -> None:
    found = compare("x", np.nextafter(ONE, 10), ONE)
    assert found.largest_ulp == 1.0
    assert not found.identical
    assert compare("x", ONE, ONE).identical


def test_rtol_is_the_users() -> None:
    assert compare("x", ONE * 1.01, ONE, rtol=0.1).problem == ""
    assert compare("x", ONE * (1 + 1e-15), ONE, rtol=0.0).problem != ""
    assert compare("n", np.array([101]), np.array([100]), rtol=0.1).problem != ""


def test_a_missing_result_differs() -> None:
    rows = compare_all({"a": ONE}, {"a": ONE, "b": ONE}, None)
    assert [bool(row.problem) for row in rows] == [False, True]
    with pytest.raises(NoResults, match="__results__"):
        compare_all({}, {}, None)


def test_which_names_count() -> None:
    names = {"a": ONE, "n": 3, "_p": ONE, "text": "x", "np": np, "t": [1, 2], "z": np.float32(1)}
    assert sorted(collect(names, None)) == ["a", "n", "z"]
    assert sorted(collect(names | {"__results__": ["t"]}, None)) == ["t"]
    assert sorted(collect(names | {"__results__": ["t"]}, ["text", "a"])) == ["a", "text"]
    with pytest.raises(NoResults, match="'nope'"):
        collect(names, ["nope"])
    with pytest.raises(NoResults, match="not an array"):
        collect(names, ["np"])


PROGRAM = """
    import sys
    import numpy as np
    print("hello")
    shifted = 1e-9 if np.__name__ != "numpy" and "wrong" in sys.argv else 0.0
    a = np.linspace(0.0, 1.0, 1000) + shifted
    n = 7
    x = np.sqrt(a) * 2
    sys.exit(0)
"""


@pytest.fixture
def program(folder: Path) -> str:
    (folder / "p.py").write_text(textwrap.dedent(PROGRAM))
    return "p.py"


def test_a_right_program(run: Run, program: str) -> None:
    code, out, err = run("--compare", "--results", "a,x,n", program)
    assert (code, out) == (0, "hello\n")
    assert "All results agree." in err
    assert "NumPy" in err and "x" in err


def test_a_wrong_program(run: Run, program: str) -> None:
    code, _, err = run("--compare", "--results", "a,x,n", program, "wrong")
    assert code == 1
    assert "Results differ: a, x" in err
    assert run("--compare", "--results", "a", "--rtol", "1e-6", program, "wrong")[0] == 0
    assert run("--compare", "--results", "n", program, "wrong")[0] == 0


def test_the_difference_found_is_the_programs_own(run: Run, program: str) -> None:
    """Without names, every array and number counts: `shifted` differs too."""
    code, _, err = run("--compare", program, "wrong")
    assert code == 1
    assert "shifted" in err


def test_standard_input_is_given_to_both(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = tmp_path / "text"
    text.write_text("import numpy as np\nx = np.ones(3) * 2\n")
    with text.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        code, _, err = run("--compare", "-")
    assert code == 0, err
    assert "identical" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 'nothing numeric'", "no array or number to compare"),
        ("__results__ = ['gone']", "no result named 'gone'"),
        ("raise ValueError('both ways')", "both ways"),
        ("import sys; sys.exit(5)", "exit code 5"),
    ],
)
def test_nothing_compared_is_a_failure(run: Run, folder: Path, text: str, said: str) -> None:
    (folder / "p.py").write_text(text)
    code, _, err = run("--compare", "p.py")
    assert code == 1
    assert said in err


def test_a_program_that_fails_only_with_us(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text("import numpy as np\nx = 1\nassert np.__name__ == 'numpy'\n")
    code, _, err = run("--compare", "p.py")
    assert code == 1
    assert "AssertionError" in err
    assert "nothing was compared" in err


def test_the_time_compared_is_of_a_run_that_nobody_recorded(run: Run, folder: Path) -> None:
    """Every run writes down whether somebody listens; a recorded one is made to last."""
    (folder / "p.py").write_text(
        textwrap.dedent("""
        import sys, time
        import numpy as np
        profile = sys.modules.get("fusewright.runtime.profile")
        with open("runs.txt", "a") as file:
            print(np.__name__, bool(profile and profile.listeners), file=file)
        if profile and profile.listeners:
            time.sleep(3)
        x = np.arange(10.0) * 2
        """)
    )
    code, _, err = run("--compare", "--report", "r.html", "--threads", "1", "p.py")
    assert code == 0, err
    runs = (folder / "runs.txt").read_text().splitlines()
    assert runs == ["numpy False", "fusewright.numpy False", "fusewright.numpy True"]
    line = next(line for line in err.splitlines() if line.startswith("NumPy "))
    value, unit = re.findall(r"Fusewright ([0-9.]+) (\w+):", line)[0]
    assert unit in ("ms", "us") or float(value) < 2.5, line


def test_settings_reach_the_run_that_is_timed(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text(
        "import fusewright as fw, numpy as np\n"
        "from fusewright.base.options import current\n"
        "o = current()\n"
        "with open('runs.txt', 'a') as file: print(o.threads, o.strict, o.fuse, file=file)\n"
        "x = np.ones(5)\n"
    )
    words = ("--compare", "--explain", "--threads", "3", "--strict", "--no-fuse")
    assert run(*words, "p.py")[0] == 0
    runs = (folder / "runs.txt").read_text().splitlines()
    assert len(runs) == 3 and runs[1:] == ["3 True False"] * 2


def test_a_report_is_written_however_the_program_ends(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text("import numpy as np\nx = 1\nassert np.__name__ == 'numpy'\n")
    code, _, err = run("--compare", "--report", "r.html", "p.py")
    assert code == 1 and "nothing was compared" in err
    assert "AssertionError" in (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [76, 80, 99, 120])
def test_a_comparison_fits_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and numbers are not broken at 80 columns; sentences are, where a line ends."""
    stream = io.StringIO()
    screen = Console(file=stream, width=width, highlight=False)
    monkeypatch.setattr(console, "make_console", lambda _: screen)
    shape = (766, 766)
    rows = compare_all({"anomaly": np.ones(shape)}, {"anomaly": np.ones(shape)}, None)
    show.print_comparison(show.Compared(1.0, 2.0, tuple(rows)), stream)
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    (row,) = (line for line in lines if line.startswith("anomaly"))
    assert "766 x 766" in row and row.endswith("identical")
    sentences = lines[lines.index("NumPy 2.00 s, Fusewright 1.00 s: 2.00x") + 1 : -1]
    assert all(len(line) > width * 0.6 for line in sentences[:-1]) or width > show.WIDE
