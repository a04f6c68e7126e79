"""Every figure with a unit in the text of README, the guide and the reference has a source: a
committed page of results, a constant of the code, or a test that measures it.

README's table, the gallery and blocks of output have tests of their own (test_readme_claims.py,
test_guide.py, tools/gallery.py).  Decisions are dated records of what was measured then.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.tools import test_readme_claims as claims

from fusewright.base import figures
from fusewright.bridges.pykokkos import repeats
from fusewright.bridges.pykokkos.dialect import scratch
from fusewright.frontends.arrays import trace
from fusewright.frontends.kernels import vectors
from fusewright.integrals import bins
from fusewright.machine import record
from fusewright.machine.integrals import LOADING
from fusewright.runtime import blocks
from fusewright.targets.cpu import llvm, stored_programs

ROOT = claims.ROOT
UNITS = "µs|us|ms|ns|s|seconds|x|×|times|%|B|kB|MB|GB|KiB|MiB|GiB"
FIGURE = re.compile(rf"(?<![\w.^/*-])(\d[\d.,]*)(?: (?:to|and) (\d[\d.,]*))? ?({UNITS})(?![\w²^(])")
SKIPPED = {"numpy.md", "13-gallery.md"}
"""Generated pages: their generators have tests."""
MIB, KIB = 2.0**20, 2.0**10
LLVM_MEGABYTES = 60


def page(name: str, pattern: str, inverse: bool = False) -> Callable[[], list[float]]:
    """The numbers of a page of results that a pattern's groups find."""

    def read() -> list[float]:
        text = (claims.RESULTS / f"{name}.md").read_text(encoding="utf-8")
        hits = re.findall(pattern, text, re.MULTILINE)
        found = [float(each) for hit in hits for each in _all(hit) if each]
        return [1.0 / each if inverse else each for each in found]

    return read


def _all(hit: str | tuple[str, ...]) -> tuple[str, ...]:
    return (hit,) if isinstance(hit, str) else hit


def code(*values: float) -> Callable[[], list[float]]:
    """Constants of the code, in the unit of the text."""
    return lambda: list(values)


LATENCY = page(
    "latency",
    r"\| (?:first call, cold|each further new kernel|new process, warm) \|[^|]*\| ([\d.]+) ms",
)
SLOWEST = page(
    "corpus",
    r"(?:sol1|gradient-check) \| textbook \| \S+ \| \S+ \| \S+ \| (0\.71|0\.86)×",
    inverse=True,
)
ALL_CLASSES = page("recurrences", r"^\| [df] \| \d+ \| ([\d.]+) \| [\d.]+ \| \w+ \|$")
FIRST_FOCK = page("recurrences", r"^\| \S+ \| (?:[\d.]+ \| ){5}([\d.]+) \| PySCF, ")
SMALL = page("recurrences", r"^\| warm, .* \| ([\d.]+) \|$")
SMALL_COLD = page(
    "recurrences", r"^\| `--cold`, one .*\| ([\d.]+); ([\d.]+); ([\d.]+); ([\d.]+) \|$"
)
LARGE = page("recurrences", r"^\| `--pairs`: bins \| [\d.]+ \| ([\d.]+) ")
SOURCES: dict[tuple[str, str], Callable[[], list[float]]] = {
    ("README.md", "1.3 to 4.9 times"): page(
        "rows", r"column softmax .*every peer \| > 1× \| ([\d.]+)"
    ),
    ("README.md", "0.3 s"): page("corpus_unseen", r"(0\.3) s"),
    ("01-will-it-help.md", "1.2 to 1.4 times"): SLOWEST,
    ("01-will-it-help.md", "1.10 times"): page(
        "corpus_unseen", r"third process \| ([\d.]+)×", inverse=True
    ),
    ("01-will-it-help.md", "40 times"): page("stencils", r"^\| heat 2048.* ([\d.]+)×"),
    ("01-will-it-help.md", "4 ms"): LATENCY,
    ("01-will-it-help.md", "35 ms"): LATENCY,
    ("01-will-it-help.md", "10 ms"): LATENCY,
    ("05-not-faster.md", "100 MB"): code(100),
    ("05-not-faster.md", "200 MB"): code(2 * 100),
    ("11-deploying.md", "60 MB"): code(LLVM_MEGABYTES),
    ("api.md", "16 MiB"): code(
        2 * blocks.FLOOR / MIB, trace.BYTES_LIMIT / MIB, stored_programs.ROOM / MIB
    ),
    ("api.md", "60 MB"): code(LLVM_MEGABYTES),
    ("architecture.md", "1 MiB"): code(32 * blocks.SMALL / MIB),
    ("integrals.md", "2.1 s"): ALL_CLASSES,
    ("pyscf.md", "0.95 to 1.06 times"): FIRST_FOCK,
    ("pyscf.md", "1.00 to 1.02 times"): SMALL,
    ("pyscf.md", "0.98 to 1.01 times"): SMALL_COLD,
    ("pyscf.md", "30 ms"): code(1e3 * LOADING),
    ("pyscf.md", "1.4 GiB"): LARGE,
    ("kernels.md", "64 KiB"): code(vectors.MOST_BYTES / KIB),
    ("kernels.md", "12 µs"): code(record.DEFAULT.parallel_loop / 1e6),
    ("kernels.md", "256 KiB"): code(figures.STRIP / KIB),
    ("kernels.md", "32 MiB"): code(record.DEFAULT.past_in_loops / MIB),
    ("kernels.md", "2 MiB"): code(record.DEFAULT.joined / MIB),
    ("pykokkos.md", "1 MiB"): code(repeats.SMALL / MIB),
    ("pykokkos.md", "64 KiB"): code(scratch.MOST / KIB),
    ("pyscf.md", "1 GiB"): code(bins.BIN_BYTES / 2.0**30),
}
"""Figures by page: the numbers of a figure are among those of its source, rounded as shown."""
EXAMPLES = {("kernels.md", "1.20 ms"), ("kernels.md", "1.40 ms")}
"""Figures in an output shown inside a sentence."""


def pages() -> Iterator[Path]:
    yield ROOT / "README.md"
    for folder in ("guide", "reference"):
        yield from sorted((ROOT / "docs" / folder).glob("*.md"))
    yield from (ROOT / "docs" / name for name in ("numerics.md", "architecture.md"))


def prose(page: Path) -> str:
    """A page without its blocks of code and output; README without its table of figures, too."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    if page.name == "README.md":
        text = "".join(line for line in text.splitlines(True) if not line.startswith("|"))
    return text


def figures() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for each in pages():
        if each.name in SKIPPED:
            continue
        text = prose(each)
        said = [hit.span(1) for claim in claims.PROSE for hit in re.finditer(claim[0], text)]
        said += [hit.span() for hit in re.finditer(claims.PEAK, text)]
        for found in FIGURE.finditer(text):
            spans = [found.span(group) for group in (1, 2) if found[group]]
            if not all(any(a <= c and d <= b for a, b in said) for c, d in spans):
                numbers = tuple(found[group] for group in (1, 2) if found[group])
                yield each.name, found[0], numbers


FOUND = sorted(set(figures()))


@pytest.mark.parametrize("figure", FOUND, ids=lambda figure: f"{figure[0]}: {figure[1]}")
def test_a_figure_has_its_source(figure: tuple[str, str, tuple[str, ...]]) -> None:
    name, text, numbers = figure
    if (name, text) in EXAMPLES:
        return
    assert (name, text) in SOURCES, "a figure without a source: name it, or leave it out"
    there = SOURCES[name, text]()
    assert there
    for shown in numbers:
        assert any(claims.rounds_to(value, shown) for value in there), (shown, there)


def test_no_source_is_left_over() -> None:
    assert SOURCES.keys() | EXAMPLES == {(name, text) for name, text, _ in FOUND}


def test_how_long_llvm_waits() -> None:
    said = [each.name for each in pages() if "ten seconds" in prose(each)]
    assert said == ["11-deploying.md", "api.md"] and llvm.IDLE == 10.0


BESIDE = """
import re
from pathlib import Path
from fusewright.targets.cpu import compiler, workers
from fusewright.targets.cpu.features import select

compiler.compile_ir("define i64 @kernel(i64 %a) { ret i64 %a }", select("auto"), 2)
for each in compiler.idle_workers:
    if isinstance(each, workers.WorkerProcess):
        print(re.search(r"VmRSS:\\s*(\\d+) kB", Path(f"/proc/{each.pid}/status").read_text())[1])
"""
"""In a process of its own: what has compiled more holds more."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_what_the_process_beside_holds() -> None:
    """60 MB, within a third: versions of LLVM differ."""
    command = [sys.executable, "-c", BESIDE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if not done.stdout:
        pytest.skip("LLVM works in this process here")
    assert int(done.stdout) * 1024 / 1e6 < LLVM_MEGABYTES * 4 / 3
