"""The lessons run, and print what they promise."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
LESSONS = sorted(FOLDER.glob("[0-9][0-9]_*.py"))
PRINTS = {
    "00_first_steps": "# out2: the blocks are combined by halving",
    "01_laziness": "refused at once",
    "02_explain": "kept in cache",
    "03_fusion": "every bit is the same",
    "04_reductions": "one operation at a time",
    "05_stencils": "for i in range(max(begin, 1), min(end, n - 1)):",
    "06_views": "for i in range(n):  # threads",
    "07_jit": "is run anew each time",
    "08_options": "strict=True forbids",
    "09_numpy": "[0. 2. 4. 6. 8.]",
    "10_library_steps": "library step linalg.solve",
    "11_kernels": "is out of bounds for dim 0 of `b`, which has 5 elements",
    "12_lazy_kernels": "norm 1.000000",
    "13_loops_fused": "read after write of `a`",
    "14_pykokkos": "name `undefined` is not defined",
    "15_kernel_between_statements": "1 kernel ran; arrays of 12.6 MB",
    "16_functions_for_numba": "raised: width must be positive",
    "17_products": "every bit is the same",
    "80_recurrence": "`T[2]` needs itself: T[2] -> T[1] -> T[2]",
    "81_integrals": "shell 0 (l = 2, atom 0) has the exponent -0.1",
    "82_pyscf": "PySCF",
    "83_torch": "torch",
}


def test_the_lessons_are_numbered() -> None:
    assert [path.stem for path in LESSONS] == sorted(PRINTS)
    numbers = [int(path.stem[:2]) for path in LESSONS]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_lesson(lesson: Path) -> None:
    # As users run them: in a process of its own, with the settings that everybody has.
    assert ast.get_docstring(ast.parse(lesson.read_text(encoding="utf-8")))
    done = subprocess.run([sys.executable, lesson], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert PRINTS[lesson.stem] in done.stdout
