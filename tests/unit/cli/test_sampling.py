"""Where a program's own Python spends its time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from fusewright.cli.sampling import FEWEST, HotPlace, Samples, loop_of, sampled

PROGRAM = """\
import numpy as np
x = np.linspace(0.0, 1.0, 400_000)
total = 0.0
for k in range(3):
    y = np.sin(x) * k
    for each in y:
        if each > 0.5:
            total += each * each
print(total > 0)
while total > 1e9:
    total -= 1
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(folder: Path) -> str:
    (folder / "slow.py").write_text(PROGRAM)
    return str(folder / "slow.py")


@pytest.mark.parametrize(
    ("line", "loop"), [(1, None), (4, 4), (5, 4), (6, 6), (8, 6), (9, None), (10, 10), (11, 10)]
)
def test_the_innermost_loop(program: str, line: int, loop: int | None) -> None:
    assert loop_of(program, line) == loop


def test_what_is_no_source() -> None:
    assert loop_of("<string>", 3) is None


def test_most_of_the_looks(program: str) -> None:
    samples = Samples()
    assert samples.hottest() is None
    samples.lines = Counter(
        {(program, 7): 30, (program, 8): 30, (program, 5): 20, (program, 9): 20}
    )
    assert samples.hottest() == HotPlace(program, 6, 0.6)
    samples.lines = Counter({(program, 7): FEWEST - 1})
    assert samples.hottest() is None


def test_nobody_looks_afterwards() -> None:
    with sampled():
        names = [each.name for each in threading.enumerate()]
    assert "fusewright-sampling" in names
    assert "fusewright-sampling" not in [each.name for each in threading.enumerate()]


def test_the_slow_loop_is_named(run: Run, program: str) -> None:
    """A script's time went into a loop over elements, and the advice was about something else."""
    code, out, err = run("--explain", "slow.py")
    assert (code, out) == (0, "True\n")
    assert "go into the loop at slow.py:6: where it goes over elements" in " ".join(err.split()), (
        err
    )


def test_the_page_names_it_too(run: Run, program: str) -> None:
    run("--report", "page.html", "slow.py")
    page = Path("page.html").read_text()
    assert "What to try" in page and "go into the loop at slow.py:6" in page


def test_a_program_without_arrays_of_ours(run: Run, folder: Path) -> None:
    """Nothing was evaluated, so nothing was said of the loop that took all of the time."""
    loop = "for k in range(30_000_000):\n    total += k\n    if total > 1e13:\n        break\n"
    (folder / "plain.py").write_text(f"total = 0.0\n{loop}")
    _, _, err = run("--explain", "plain.py")
    said = " ".join(err.split())
    assert "Nothing was evaluated" in said and "go into the loop at plain.py:2" in said, said
    assert "array operations ran" not in said and "kernels" not in said


def test_time_in_a_package_is_no_loop_of_the_program(run: Run, folder: Path) -> None:
    """A script drew pictures in a loop, and was told to put loops over elements into kernels."""
    (folder / "parsing.py").write_text(
        "import json\ntext = '[' + ', '.join(['{\"a\": [1, 2]}'] * 2000) + ']'\n"
        "for k in range(1200):\n    json.dumps(json.loads(text), indent=1)\n"
    )
    _, _, err = run("--explain", "parsing.py")
    said = " ".join(err.split())
    assert "go into json, called at parsing.py:4: that is not Fusewright's" in said, said
    assert "@fw.kernel" not in said
