"""Every compiled kernel of loops that runs is told as a kernel, and none as a step of NumPy's."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fusewright as fw
from fusewright.runtime.explanation import Explanation
from fusewright.runtime.profile import listen

ROOT = Path(__file__).parents[3]
EXAMPLES = {
    "11_kernels": (),
    "12_lazy_kernels": (),
    "14_pykokkos": ("--as", "pykokkos"),
    "15_kernel_between_statements": (),
}
MISNAMED = ("library step numpy: kernel", "compiled by itself", "Nothing has to be computed")
REDUCTION = """
import numpy as np
import pykokkos as pk

@pk.workunit
def add(i, acc, x):
    acc += x[i]

@pk.workunit
def double(i, x):
    x[i] = 2.0 * x[i]

@pk.workunit
def running(i, acc, last, x):
    acc += x[i]
    if last:
        x[i] = acc

def main():
    x = np.ones(1000)
    for _ in range(4):
        pk.parallel_for(1000, double, x=x)
        print(pk.parallel_reduce(1000, add, x=x))
        pk.parallel_scan(1000, running, x=x)

main()
"""


def explained(folder: Path, program: Path, *settings: str) -> tuple[str, str]:
    """What `fusewright explain` prints of a program, and its HTML report."""
    report = folder / "report.html"
    done = subprocess.run(
        [sys.executable, "-m", "fusewright", "explain", "--full", *settings,
         "--report", str(report), str(program)],
        capture_output=True, text=True, cwd=ROOT, timeout=300,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr, report.read_text()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, tmp_path: Path) -> None:
    text, page = explained(tmp_path, ROOT / "examples" / f"{name}.py", *EXAMPLES[name])
    assert re.search(r"K\d+ kernel \w+", text)
    for wrong in MISNAMED:
        assert wrong not in text
        assert wrong not in page


@pytest.mark.parametrize("name", sorted({*EXAMPLES, "13_loops_fused"} - {"14_pykokkos"}))
def test_examples_as_they_are(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the command line, NumPy's arrays stay NumPy's."""
    with listen() as profile:
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    capsys.readouterr()
    loops = {each.name for each in profile.kernels if each.kind == "loops"}
    assert loops
    assert not [each for each in profile.opaque if each.name.startswith("kernel")]
    with_steps = tuple(each for each in profile.flushes if each.steps)
    for flush in with_steps:
        page = Explanation((flush,), True)
        for kernel in page.kernels:
            if kernel.kind == "loops":
                assert f"kernel {kernel.name}: loops of fw.kernel" in str(page)
                assert f"kernel {kernel.name}" in page._repr_html_()


def test_each_launch_of_a_pykokkos_program_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(REDUCTION)
    text, page = explained(tmp_path, program, "--as", "pykokkos")
    for name in ("add", "double", "running"):
        runs = re.findall(rf"K\d+ kernel {name}\w*(?:, (\d+) times)?,", text)
        assert sum(int(each or 1) for each in set(runs)) >= 4, (name, text)
        assert name in page
    # names and lines are those of the work units, not of the loops around them
    assert set(re.findall(r"loop over (\S+) ", text)) == {"i"}
    assert "in blocks on threads, each in order: it" in text
    # each kernel is shown once, however often it ran
    labels = re.findall(r"^. ?.. (K\d+) kernel .* code from", text, re.MULTILINE)
    assert len(labels) == len(set(labels)) == 3, text
    lines = dict(re.findall(r"kernel (\w+) at \S*program.py:(\d+)", text))
    assert lines == {"add": "6", "double": "10", "running": "14"}
    assert "reduces `acc`" in text


@fw.kernel
def chained(a, b):
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] + a[i]
    for i in range(a.shape[0]):
        a[i] = b[i] * 2


def plain() -> tuple[np.ndarray, np.ndarray]:
    return np.ones(5000), np.zeros(5000)


def pending() -> tuple[fw.Array, fw.Array]:
    a, b = plain()
    return fw.asarray(a), fw.asarray(b)


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_call_with_numpy_arrays(repeats: int) -> None:
    a, b = plain()
    for _ in range(repeats):
        found = fw.explain(chained, a, b)
    (kernel,) = found.kernels
    assert (kernel.kind, kernel.name) == ("loops", "chained")
    assert not found.library_steps
    assert 0.0 < kernel.seconds <= found.flushes[0].seconds
    assert (kernel.bytes_read, kernel.bytes_written) == (2 * a.nbytes, a.nbytes + b.nbytes)
    assert kernel.operations[0].place == "in order"
    assert "not fused" in str(found)
    assert "kernel chained" in found._repr_html_()[:400]


def test_the_time_of_a_call_includes_compiling() -> None:
    @fw.kernel
    def fresh(a):
        for i in range(a.shape[0]):
            a[i] = 3.25 * a[i] + 1

    found = fw.explain(fresh, np.ones(5000))
    (flush,) = found.flushes
    (kernel,) = found.kernels
    assert kernel.compile_seconds > 0.0
    assert kernel.compile_seconds + kernel.seconds <= flush.seconds


@pytest.mark.parametrize("ask", [lambda y: float(y.sum()), np.asarray, fw.evaluate])
@pytest.mark.parametrize("repeats", [1, 3])
def test_pending_calls(ask: Callable[[fw.Array], object], repeats: int) -> None:
    def program() -> None:
        x, y = pending()
        chained(x, y)
        ask(y)

    for _ in range(repeats):
        found = fw.explain(program)
    loops = [each for each in found.kernels if each.kind == "loops"]
    assert [each.name for each in loops] == ["chained"]
    assert not found.library_steps
    for flush in found.flushes:
        assert sum(each.seconds for each in flush.steps) <= flush.seconds


def test_a_call_with_lazy_arrays() -> None:
    x, y = pending()
    found = fw.explain(chained, x, y)
    assert [each.name for each in found.kernels] == ["chained"]
    assert not found.notes
    np.testing.assert_array_equal(np.asarray(y), np.arange(5000.0))


def test_arguments_left_pending_are_told() -> None:
    def program(x: fw.Array, y: fw.Array) -> None:
        chained(x, y)

    found = fw.explain(program, *pending())
    assert not found.kernels
    assert "of the arguments it wrote into" in str(found)
    assert "called no kernel" not in str(found)


def test_array_statements_beside_kernels_are_told() -> None:
    """A statement that runs as loops has no names of a user: its number is none of the kernel's."""

    def program() -> None:
        x, y = fw.asarray(np.ones(300_000)), fw.asarray(np.zeros(300_000))
        chained(100.0 + np.cumsum(x), y)
        float(y.sum())

    assert "chained" in [each.name for each in fw.explain(program).kernels]


def test_a_kernel_that_runs_again_is_compiled_once() -> None:
    """Also inside one evaluation, whose kernels are described when it has ended: each of the
    runs was told as compiled, and its compiling counted as often.
    """

    @fw.kernel
    def relaxed(a, b):
        for i in range(1, a.shape[0]):
            b[i] = 0.3125 * b[i - 1] + a[i]

    def program() -> None:
        x, y = fw.asarray(np.ones(40_000)), fw.asarray(np.zeros(40_000))
        for _ in range(6):
            relaxed(x, y)
            relaxed(y, x)
        float(x.sum())

    with fw.options(background=True):
        runs = [each for each in fw.explain(program).kernels if each.kind == "loops"]
    assert len(runs) == 12
    assert [each.origin for each in runs[1:]] == ["memory"] * (len(runs) - 1)
    assert [each.compile_seconds for each in runs[1:]] == [0.0] * (len(runs) - 1)


def statement_before_a_kernel() -> None:
    x, y = fw.asarray(np.ones(300_000)), fw.asarray(np.zeros(300_000))
    chained(100.0 + np.cumsum(x * 3), y)
    float(y.sum())


@pytest.mark.parametrize("before", [0, 3])
def test_array_statements_have_their_line(before: int) -> None:
    """Also where the core has been taught the statement before anybody listened."""
    for _ in range(before):
        statement_before_a_kernel()
    first = statement_before_a_kernel.__code__.co_firstlineno
    found = fw.explain(statement_before_a_kernel)
    loops = [loop for each in found.kernels if each.kind == "loops" for loop in each.operations]
    assert loops and all(loop.line for loop in loops)
    (name,) = {loop.name for loop in loops if loop.line and loop.line[:2] == (__file__, first + 2)}
    assert name == "chained(100.0 + np.cumsum(x * 3), y)"


@fw.kernel
def in_place(u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.5 * (u[i - 1, j] + u[i, j - 1])


def test_a_loop_inside_another_has_its_own_line() -> None:
    first = in_place.__wrapped__.__code__.co_firstlineno
    (kernel,) = fw.explain(in_place, np.ones((20, 20))).kernels
    assert [o.line and o.line[1] - first for o in kernel.operations] == [2, 3]
    assert f"line {first + 3}: for j in range" in str(in_place.explain())


def test_explain_without_work_says_what_to_do() -> None:
    assert "fw.explain(function, *args)" in str(fw.explain(lambda: None))


def test_the_dearest_steps_come_first(tmp_path: Path) -> None:
    text, _ = explained(tmp_path, ROOT / "examples" / "11_kernels.py")
    first = text[text.index("the dearest steps:") :].splitlines()[:4]
    steps = [line for line in first[1:] if line.startswith("  ") and " at " in line]
    assert 1 <= len(steps) <= 3
    assert all(re.match(r"  [KL]\d+ (kernel|library step) .* at .*:\d+", line) for line in steps)


def test_what_would_run() -> None:
    x, y = pending()
    chained(x, y)
    found = fw.explain(y)
    (kernel,) = found.kernels
    assert (kernel.kind, kernel.name) == ("loops", "chained")
    assert kernel.bytes_read == 2 * 5000 * 8
    assert "not compiled" not in str(found)
    assert "numpy" not in str(found)


def test_a_kernel_that_fails_is_told() -> None:
    @fw.kernel
    def checked(a):
        for i in range(a.shape[0]):
            if a[i] < 0:
                raise ValueError("negative")
            a[i] = a[i] + 1

    with listen() as profile, pytest.raises(ValueError, match="negative"):
        checked(np.array([1.0, -1.0]))
    assert [each.name for each in profile.kernels] == ["checked"]


def test_verified_kernels_are_told() -> None:
    def program() -> None:
        x, y = pending()
        chained(x, y)
        np.asarray(y)

    with fw.options(verify=True):
        found = fw.explain(program)
        again = fw.explain(chained, *plain())
    assert [each.name for each in found.kernels if each.kind == "loops"] == ["chained"]
    assert [each.name for each in again.kernels] == ["chained"]


def test_compiling_is_told_once() -> None:
    @fw.kernel
    def fresh(a):
        for i in range(a.shape[0]):
            a[i] = a[i] * 3 + 1

    a, _ = plain()
    with listen() as first:
        fresh(a)
        fresh(a)
    with listen() as second:
        fresh(a)
    origins = [each.origin for each in (*first.kernels, *second.kernels)]
    assert origins[0] in ("compiled", "disk") and origins[1:] == ["memory", "memory"]
    assert [each.compile_seconds > 0 for each in first.kernels] == [True, False]
    assert second.kernels[0].compile_seconds == 0


def test_kernels_made_before_anybody_listened() -> None:
    @fw.kernel
    def early(a):
        for i in range(a.shape[0]):
            a[i] = a[i] * 5 - 1

    a, _ = plain()
    early(a)
    with listen() as profile:
        early(a)
    (record,) = profile.kernels
    assert (record.origin, record.compile_seconds) == ("memory", 0.0)


def test_notebooks_show_tables() -> None:
    @fw.kernel
    def two(a, b):
        for i in range(1, a.shape[0]):
            b[i] = a[i] if a[i] < b[i - 1] else b[i - 1]
        for i in range(a.shape[0]):
            a[i] = a[i] * 2

    assert "not called yet" in two.explain()._repr_html_()
    two(*plain())
    html = two.explain()._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 1
    assert "b[i - 1] else" not in html.split("<details>")[0]
    assert "for i in range(1, a.shape[0])" in html
    shown = fw.show(fw.asarray(np.ones(600)) < 0.5, "loops")
    assert shown._repr_html_().startswith("<pre>") and "<" not in shown._repr_html_()[5:-6]
