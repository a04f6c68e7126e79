"""Where a program's time goes, by a sampler of its process."""

import shutil
from pathlib import Path

import pytest
from tools import corpus_where
from tools.corpus_programs import Program
from tools.corpus_where import Looked, Spent, page, spent

SAMPLES = """\
30 python
10 /usr/lib/python3.11/lib-dynload/_random.so
40 /site-packages/numpy/_core/_multiarray_umath.so
5 /usr/lib/libm.so.6
5 /site-packages/numpy.libs/libscipy_openblas64_.so
4 /site-packages/scipy/linalg/_flapack.so
5 /src/fusewright/_core/_native.so
1 [compiled]
"""
SPINS = """import numpy as np
x = np.linspace(0.0, 1.0, 1000000)
for _ in range(60):
    x = np.sqrt(x * x + 1e-3)
text = "".join(str(k) for k in range(400000))
"""
MANIFEST = """
[[program]]
name = "someone-spins"
repository = "someone/spins"
commit = "c0"
path = "spins.py"
field = "simulation"
half = "open"
"""


def looked(plain: str, ours: str = SAMPLES) -> Looked:
    program = Program("a-b", "a/b", "c0", "b.py", "simulation", "open")
    return Looked(program, spent(plain, 1.0), spent(ours, 0.5))


def test_every_file_is_of_one_part() -> None:
    parts = spent(SAMPLES, 0.1).parts
    want = {"Python": 40, "other": 4, "NumPy": 45, "BLAS": 5, "core": 5, "compiled": 1}
    assert {part: round(value) for part, value in parts.items()} == want


def test_no_samples_are_no_time() -> None:
    assert Spent(spent("", 1.0).parts).whole == 0.0


def test_the_bound_is_amdahls() -> None:
    half = looked("50 python\n40 /numpy/a.so\n10 /numpy.libs/openblas.so\n")
    assert half.bound(2.0) == pytest.approx(1 / 0.75)
    assert half.bound(float("inf")) == pytest.approx(2.0)


def test_the_page_counts_programs() -> None:
    text = page([looked("100 python\n"), looked("25 python\n75 /numpy/a.so\n")])
    assert "| take no time | 2.00× | 2.50× | 1 | 1 | 1 |" in text
    assert "| a-b | 250 | 0 | 750 | 0 | 1000 |" in text


@pytest.mark.skipif(shutil.which("cc") is None, reason="the sampler is C")
def test_a_program_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "sources" / "someone+spins" / "c0"
    source.mkdir(parents=True)
    (source / "spins.py").write_text(SPINS)
    (tmp_path / "programs.toml").write_text(MANIFEST)
    words = ["--manifest", tmp_path / "programs.toml", "--sources", tmp_path / "sources"]
    words += ["--folder", tmp_path / "programs", "--write", tmp_path / "page.md"]
    assert corpus_where.main([str(word) for word in words]) == 0
    row = (tmp_path / "page.md").read_text().splitlines()[-1]
    _, name, python, _, numpy, _, whole, *_ = (cell.strip() for cell in row.split("|"))
    assert name == "someone-spins"
    assert 0 < float(python) < float(whole) > float(numpy) > 0.1 * float(whole)
    assert "someone-spins" in capsys.readouterr().out
