"""What README and the docs claim is what the committed pages and a profile say."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tools import coverage
from tools.coverage_page import PAGE, lines_of

from fusewright.runtime import profile

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "benchmarks" / "results"
README = (ROOT / "README.md").read_text(encoding="utf-8")
KERNELS = re.compile(r"#.*?\b(\d+) kernels?\b")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")


# ------------------------------------------------------------------------- comments in code blocks


def _pages() -> Iterator[Path]:
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").rglob("*.md"))


def _blocks(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_comments_count_kernels_in_digits() -> None:
    """Else the next test would not see them."""
    for page in _pages():
        for line in "".join(_blocks(page)).splitlines():
            said = re.search(r"#.*\b(one|two|three|four|five|a single) kernels?\b", line)
            assert said is None, f"{page.name}: {line}"


@pytest.mark.parametrize("page", list(_pages()), ids=lambda page: page.name)
def test_counted_kernels_are_what_runs(page: Path) -> None:
    blocks = _blocks(page)
    if not KERNELS.search("".join(blocks)):
        return
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks):
        file = f"<{page.name}, block {number}>"
        linecache.cache[file] = (len(block), None, block.splitlines(True), file)
        for statement in ast.parse(block).body:
            code = compile(ast.Module([statement], []), file, "exec")
            with profile.listen() as heard, contextlib.redirect_stdout(io.StringIO()):
                exec(code, names)
            line = block.splitlines()[(statement.end_lineno or 1) - 1]
            claim = KERNELS.search(line)
            if claim is not None:
                assert (len(heard.kernels), len(heard.opaque)) == (int(claim[1]), 0), line


def test_readme_claims_kernels() -> None:
    assert len(KERNELS.findall("".join(_blocks(ROOT / "README.md")))) == 2


# ------------------------------------------------------------------------------ what is supported

LINES = {line.row.name: line for line in lines_of(PAGE.read_text(encoding="utf-8"))}
OURS = {coverage.COMPILED, coverage.VIEW, coverage.SHARED}
THEIRS = {coverage.FALLBACK, coverage.LIBRARY, coverage.MIXED}
FAMILIES = {
    "trigonometry of complex numbers": ("complex128", "sin cos tan arcsin arccos arctan sinh cosh"),
    "powers and": ("complex128", "power float_power"),
    "extremes and running sums of float16": ("float16", "min max argmin argmax cumsum cumprod"),
}
"""What the table says in words: of which element type, and of which names."""


def _table(heading: str) -> list[list[str]]:
    text = README.partition(heading)[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


SUPPORTED = _table("## What is supported")


def _named(cell: str) -> list[str]:
    """Names in code that are NumPy's, or of `special`."""
    words = [word for code in re.findall(r"`([^`]*)`", cell) for word in code.split()]
    found = [word if word in LINES else f"special.{word}" for word in words]
    return [name for name in found if name in LINES]


def test_the_names_said_to_be_compiled_are() -> None:
    names = [name for row in SUPPORTED for name in _named(row[1])]
    assert len(names) > 30
    assert {name: LINES[name].kind for name in names if LINES[name].kind not in OURS} == {}


def test_the_names_said_to_be_numpys_are() -> None:
    rows = [row for row in SUPPORTED if "kernel" not in row[0]]
    names = [name for row in rows for name in _named(row[2])]
    assert len(names) > 15
    assert {name: LINES[name].kind for name in names if LINES[name].kind not in THEIRS} == {}


def test_every_name_of_the_table_exists() -> None:
    for row in SUPPORTED:
        for code in re.findall(r"`([a-z_0-9 .]+)`", " ".join(row)):
            for word in code.split():
                known = word in LINES or f"special.{word}" in LINES
                assert known or word.startswith(("np.", "fw.")) or word == "try", word


@pytest.mark.parametrize("words", FAMILIES)
def test_what_is_said_of_element_types(words: str) -> None:
    dtype, names = FAMILIES[words]
    assert words in " ".join(row[2] for row in SUPPORTED)
    for name in names.split():
        assert re.search(rf"fallback: [^;]*{dtype}", LINES[name].exceptions), name


def test_complex_functions_said_to_be_compiled_are() -> None:
    (row,) = (row for row in SUPPORTED if row[0] == "dtypes")
    for name in re.findall(r"complex64/128 \(arithmetic, `([^`]*)`\)", row[1])[0].split():
        assert LINES[name].kind == coverage.COMPILED and "complex128" not in LINES[name].exceptions


# ------------------------------------------------------------------------------------- the figures

FIGURES = {
    "E, 1e6 float64": r"^\| E float64 1e6",
    "E, 1e6 float32": r"^\| E float32 1e6",
    "the same, an earlier run": r"^E float(64|32) 1e6  torch",
    "E, 1e8 float64, float32": r"^\| E float(64|32) 1e8: (NumPy|every peer)",
    "E, 1e8: share of the bandwidth of a copy": r"^\| E float(64|32) 1e8: share",
    "heat, Gray-Scott 2048², 100 steps": r"^\| (heat|Gray-Scott) 2048",
    "horizontal diffusion (256, 256, 160)": r"^\| horizontal diffusion .*: (best peer|loop)",
    "masked Mandelbrot 512², 100 iterations": r"^\| Mandelbrot .*: best peer",
    "softmax (4096, 4096), (65536, 128) float32": r"^\| softmax \(.*: every peer",
    "layer norm, the same shapes": r"^\| layer norm \(.*: every peer",
    "first call in a new process, code on disk": r"^\| (Fusewright|numexpr|jax|torch) \|",
    "first call ever (starts LLVM)": r"^\| (Fusewright|numexpr|jax|torch) \|",
    "each further new kernel": r"^\| (Fusewright|numexpr|jax|numba) \|",
    "E at n = 1, recorded afresh; under `fw.jit`": r"^\| E at n = 1",
    "ODE loop on 16 elements, 20 000 steps": r"^\| (NumPy|recorded) \| \d+ \| \d+ \|$",
    "15 textbook programs on small arrays": r"\| NumPy \| .*× \|$",
    "5 loop kernels through 4 temporaries, 2²² float64": r"^\| temporaries \w+: gcc",
    "the same, 10 elements, temporaries kept; made anew": r"^\| 5 kernels, N = 10",
    "a known kernel call recorded; a flush": r"^\| (recorded kernel|flush)",
    "3 array statements and 2 loop kernels, 2²² float64": r"4194304",
    "the same, 1024 to 65536 elements": r" (1024|8192|16384|65536) float64 \| gcc",
    "PyKokkos: `parallel_for`; 5 kernels and a value, N = 10; 2²²": r"^\| (parallel_for|5 kernels)",
    "group of 4 loops, 18 × 8192 and 18 × 30000": r"^\| group of 4, .*: ",
    "3 stencils in a row, 2²⁰ and 2²⁶": r"^\| (3 stencils|temporaries kept)",
    "25 loop nests as in PolyBench, larger sizes": r"^\| \w+ \| (300|\d{4,}|80|60) \|",
    "the same, small sizes (a few microseconds)": r"^\| \w+ \| (60|100|20|2000) \|",
    "products, square, float32 and float64, one thread": r"^\| square nn \|",
    "chains of products, float32: 64-256-64; attention 8×1024×64; one thread": (
        r"^\| (65536; 64-256-64|attention 8x1024)"
    ),
    "electron-repulsion integrals, s to d; f, one thread": r"^\| [spdf]{4} \| [13] \|",
    "J and K, direct, 192 to 270 functions, one thread": r"^\| (\(H2O\)8|caffeine|benzene)",
    "peak memory, 20 operators on 1e8 float64": r"^\| (fusewright|numpy) \|",
}
"""The rows of the table, and in which lines of their page the figures stand."""
COUNTED: dict[str, Callable[[str], set[float]]] = {
    "the same, small sizes (a few microseconds)": lambda text: {
        float(len(_small_nests(text))), float(sum(r < 0.9 for r in _small_nests(text))), 0.9,
    },
}  # fmt: skip
"""Figures that are counted in a page, not printed there."""


def _small_nests(text: str) -> list[float]:
    ratios: dict[str, float] = {}
    for line in text.splitlines():
        found = re.match(r"\| (\w+) \| \d+ \|.*\| ([\d.]+)× \| [\d.]+× \|$", line)
        if found:
            ratios.setdefault(found[1], float(found[2]))
    return list(ratios.values())


def rounds_to(value: float, shown: str) -> bool:
    """Whether a value is what is shown of it, to the last digit."""
    digits = len(shown.partition(".")[2])
    return abs(value - float(shown)) <= 0.5 * 10.0**-digits + 1e-9


FAST = [row for row in _table("## How fast") if len(row) == 5]


def test_every_row_has_its_lines() -> None:
    assert [row[0] for row in FAST] == list(FIGURES)


@pytest.mark.parametrize("row", FAST, ids=lambda row: row[0])
def test_figures_stand_in_their_page(row: list[str]) -> None:
    label, *cells, link = row
    (name,) = re.findall(r"\(benchmarks/results/([\w-]+\.md)\)", link)
    text = (RESULTS / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if re.search(FIGURES[label], line)]
    assert lines
    there = {float(number) for line in lines for number in NUMBER.findall(_values(line))}
    there |= COUNTED.get(label, lambda text: set())(text)
    shown = NUMBER.findall(" ".join(cells).replace("gcc -O3", "gcc"))
    assert shown or "one kernel" in cells[0]
    missing = [each for each in shown if not any(rounds_to(value, each) for value in there)]
    assert not missing, f"{name} lacks {missing}"


def _values(line: str) -> str:
    """A line of a page without the name of the row: `x` and `×` are no part of a number."""
    cells = line.strip("|").split("|") if line.startswith("|") else line.split("  ", 2)
    return " ".join(cells[1:]).replace(",", "").replace("x", " ").replace("×", " ")


def test_one_kernel_and_one_pass() -> None:
    text = (RESULTS / "rows.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:softmax|layer norm) .*passes over memory \|.*$", text, re.MULTILINE)
    assert len(rows) == 4
    assert all("1 kernels, 1.00 in, 1.00 out" in row for row in rows)


PROSE = (
    (r"they take (\S+) times NumPy's time", "corpus_unseen", r"third process \| ([\d.]+)×", True),
    (r"the fastest (\S+) times", "corpus_unseen", r"dipeshgoel27.*?2.44× \| (2.68)×", True),
    (r"the slowest (\S+) times\)", "corpus_unseen", r"third process .*?least ([\d.]+)×", True),
    (r"and (\S+) times the first time", "corpus_unseen", r"inside, cold \| ([\d.]+)×", True),
    (r"0.3 s and more (\S+) and", "corpus_unseen", r"third process \|[^|]*\| ([\d.]+)×", True),
    (r"0.3 s and more \S+ and (\S+) times", "corpus_unseen", r"cold \|[^|]*\| ([\d.]+)×", True),
    (r"\n?\[(\d+) others\]", "corpus_held", r"(\d+) programs from", False),
    (r"earlier time, took (\S+) and", "corpus_held", r"third process \| ([\d.]+)×", True),
    (r"earlier time, took \S+ and (\S+) times", "corpus_held", r"inside, cold \| ([\d.]+)×", True),
    (r"\[(\d+)\]\(benchmarks/results/corpus.md\)", "corpus", r"(\d+) programs from", False),
    (r"have worked\n(\S+) and", "corpus", r"third process \| ([\d.]+)×", True),
    (r"have worked\n\S+ and (\S+) times", "corpus", r"inside, cold \| ([\d.]+)×", True),
    (r"results, in (\S+) and", "corpus_unseen", r"again\n(?s:.*?)third process \| ([\d.]+)×", True),
    (r"results, in \S+ and\n(\S+) times", "corpus_unseen", r"again\n(?s:.*?)cold \| (\S+)×", True),
    (r"run (\S+) times as fast as with", "npbench", r"S: geometric mean \|.*\| (\S+)x", False),
    (r"size S and (\S+) times at", "npbench", r"M: geometric mean \|.*\| (\S+)x", False),
    (r"size M\n\((\S+) to", "npbench", r"M: least \|.*\| (\S+)x", False),
    (r"size M\n\(\S+ to (\S+) times", "npbench", r"compute .*(59\.11)×", False),
    (r"\(\[(\d+) from \d+ public", "corpus_unseen", r"(\d+) programs from", False),
    (r"\(\[\d+ from (\d+) public", "corpus_unseen", r"programs from (\d+)", False),
    (r"cores\): (\d+) give NumPy's", "corpus_unseen", r"best of 2: (\d+) with", False),
    (r"was\n(\S+) to \S+ times as fast", "demo", r"another host.*\| ([\d.]+) to [\d.]+ \|", False),
    (r"was\n\S+ to (\S+) times as fast", "demo", r"Intel.*\| [\d.]+ to ([\d.]+) \|", False),
    (r"and (\S+) times on two of an AMD", "demo", r"AMD.*\| ([\d.]+) \|", False),
    (r"the slowest case \((\S+) to", "corpus", r"gradient-check \| t.*? \| (0.86)×", True),
    (r"slowest case \(\S+ to (\S+) times", "corpus", r"sol1 \| textbook .*? (0.71)×", True),
)  # fmt: skip
"""Figures of the text, the page, where they stand there, and whether the page has the inverse."""


@pytest.mark.parametrize("claim", PROSE, ids=lambda claim: claim[0])
def test_figures_of_the_text(claim: tuple[str, str, str, bool]) -> None:
    said, name, pattern, inverse = claim
    shown = re.search(said, README)
    there = re.search(pattern, (RESULTS / f"{name}.md").read_text(encoding="utf-8"))
    assert shown and there
    value = float(there[1])
    assert rounds_to(1.0 / value if inverse else value, shown[1]), (shown[1], there[1])


PEAK = r"peak memory is (\S+) to (\S+) times NumPy's, once (\S+) times"


def test_peak_memory_of_the_programs() -> None:
    found = []
    for name in ("corpus", "corpus_held", "corpus_unseen"):
        text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
        found += [float(each) for each in re.findall(r"\| ([\d.]+)× \| ok", text)]
    *_, second, most = sorted(found)
    (shown,) = re.findall(PEAK, README)
    assert all(map(rounds_to, (min(found), second, most), shown))


# --------------------------------------------------------------------------------------- the links


def test_no_page_of_results_is_an_orphan() -> None:
    linked = set()
    for page in [*_pages(), *RESULTS.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if page.resolve() != target:
                linked.add(target)
    for page in RESULTS.iterdir():
        if page.name != "README.md":
            assert page.resolve() in linked, page.name
    assert (RESULTS / "README.md").resolve() in linked
