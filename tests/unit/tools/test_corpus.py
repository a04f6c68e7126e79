"""The corpus tool on programs of our own: what it changes, runs, measures and finds different."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tools import corpus
from tools.corpus_programs import (
    EPILOGUE,
    PROLOGUE,
    ManifestError,
    Program,
    adapt,
    materialise,
    read_manifest,
)
from tools.corpus_runs import Run, differences, measure, same_text

WAVES = '''"""A wave."""
from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from helper import doubled

x = np.linspace(0.0, 1.0, 5000)
for _ in range(20):
    x = x + 0.1 * np.sin(doubled(x))
np.save("x.npy", x)
noise = np.random.default_rng().normal(size=10)
fig, (left, right) = plt.subplots(1, 2)
left.plot(x)
line, = right.plot(x, x**2)
plt.show()
print("total", x.sum())
'''
HELPER = "def doubled(x):\n    return 2 * x\n"
CLOCK = """import sys
import numpy as np
a = np.arange(10.0)
b = a * 2 if "fusewright" in sys.modules else a
raise SystemExit
"""
MANIFEST = """
[[program]]
name = "someone-waves"
repository = "someone/waves"
commit = "c0"
path = "code/waves.py"
files = ["code/helper.py"]
replace = [["range\\\\(20\\\\)", "range(5)"]]
field = "simulation"
half = "open"

[[program]]
name = "other-differs"
repository = "other/differs"
commit = "c1"
path = "differs.py"
field = "textbook"
half = "held"
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    files = {
        "someone+waves/c0/code/waves.py": WAVES,
        "someone+waves/c0/code/helper.py": HELPER,
        "other+differs/c1/differs.py": CLOCK,
        "programs.toml": MANIFEST,
    }
    for name, text in files.items():
        path = tmp_path / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "sources"


def _programs(sources: Path) -> list[Program]:
    return read_manifest(sources / "programs.toml")


def test_our_lines_stand_after_future_imports() -> None:
    lines = adapt(WAVES, [(r"range\(20\)", "range(5)")]).splitlines()
    assert lines[1:3] == ["from __future__ import annotations", PROLOGUE]
    assert lines[-1] == EPILOGUE
    assert "default_rng(0)" in "\n".join(lines)
    with pytest.raises(ManifestError, match="nothing to replace"):
        adapt(WAVES, [("absent", "present")])


def test_a_program_runs_in_four_processes_with_one_result(sources: Path, tmp_path: Path) -> None:
    program = _programs(sources)[0]
    entry = materialise(program, sources, tmp_path / "programs")
    row = measure(program, entry, repeat=1, timeout=60, ours=True)
    assert (row.verdict, row.detail) == ("ok", "")
    assert set(row.inside) == {"plain", "cold", "second", "third"}
    assert all(0 < row.inside[kind] < row.whole[kind] for kind in row.inside)
    assert min(row.peak.values()) > 10_000_000
    left = {path.name for path in entry.parent.iterdir()} - {"__pycache__"}
    assert left == {"waves.py", "helper.py"}


def test_a_difference_is_named(sources: Path, tmp_path: Path) -> None:
    program = _programs(sources)[1]
    entry = materialise(program, sources, tmp_path / "programs")
    row = measure(program, entry, repeat=1, timeout=60, ours=True)
    assert row.verdict == "wrong"
    assert row.detail.startswith("cold: b: 9 of 10 elements differ")
    entry.write_text("import numpy\nnumpy.no_such_name\n", encoding="utf-8")
    row = measure(program, entry, repeat=1, timeout=60, ours=True)
    assert row.verdict == "unusable"
    assert "no_such_name" in row.detail


def test_the_page(sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--manifest", str(sources / "programs.toml"), "--sources", str(sources)]
    words += ["--folder", str(tmp_path / "programs"), "--write", str(tmp_path / "page.md")]
    assert corpus.main([*words, "--half", "held"]) == 1
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "1 programs from 1 public repositories" in page
    assert "| other-differs | other/differs | wrong |" in page
    assert "of 0.3 s and more (0)" in page
    assert page in capsys.readouterr().out


def _run(results: Mapping[str, object], stdout: str = "") -> Run:
    arrays = {name: np.asarray(value) for name, value in results.items()}
    return Run(1.0, 1.0, 1, "", arrays, stdout)


def test_results_agree_within_the_rows_tolerance(sources: Path) -> None:
    program = _programs(sources)[0]
    near, far = _run({"a": [1.0, 1e-12]}), _run({"a": [1.0 + 1e-9, 0.0]})
    assert differences(program, near, far) == ""
    assert "a: " in differences(replace(program, rtol=0.0), near, far)
    assert differences(replace(program, rtol=0.0, ignore=("a",)), near, far) == ""
    assert "only" in differences(program, near, _run({}))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("loss 0.12345678901", "loss 0.12345678902", True),
        ("loss 0.1234", "loss 0.1235", False),
        ("[1. 2.]", "[1. 2. 3.]", False),
        ("yes", "no", False),
        ("-1e-17", "1e-18", True),
    ],
)
def test_printed_numbers_may_differ_in_last_digits(left: str, right: str, same: bool) -> None:
    assert same_text(left, right, 1e-7) is same


def test_the_committed_manifest() -> None:
    programs = read_manifest()
    assert len(programs) >= 100
    assert len({program.repository for program in programs}) >= 50
    held = sum(program.half == "held" for program in programs)
    assert 0.35 < held / len(programs) < 0.65
