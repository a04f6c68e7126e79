"""What is told of a kernel can be read by who knows only their own source: each loop by its own
line, arrays by their names, nothing of ours.
"""

from __future__ import annotations

import linecache
import re
from pathlib import Path

import numpy as np
import pytest
from tests.unit.kernels import told_kernels
from tests.unit.kernels.told_kernels import CALLS

import fusewright as fw
from fusewright.cli.report import Story, render
from fusewright.runtime.profile import listen

OURS = re.compile(
    r"pairwise\.py|frontends|loop over\s*,|\b_\d\b|\bposition\b|\bb\d+\b|`(depth|s0|start|length)`"
)
SOURCE = Path(told_kernels.__file__)


def arguments(name: str) -> list[object]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in CALLS[name][1:]]


def lines_told(text: str) -> str:
    """Without the loops as they run, which come last: these are ours."""
    return re.split(r"^  (?:as it runs|when .*):", text, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("name", CALLS)
def test_kernel_explain(name: str) -> None:
    kernel = CALLS[name][0]
    kernel(*arguments(name))
    told = lines_told(str(kernel.explain()))
    assert not OURS.search(told), told
    numbers = [int(number) for number in re.findall(r"^  line (\d+):", told, re.MULTILINE)]
    assert numbers
    for number, text in re.findall(r"^  line (\d+): (.*)$", told, re.MULTILINE):
        source = linecache.getline(str(SOURCE), int(number)).strip()
        assert source.startswith(text.split(" with ")[0]), (source, text)
    html = kernel.explain()._repr_html_().split("<details>")[0]
    assert not OURS.search(html), html


@pytest.mark.parametrize("name", CALLS)
def test_records(name: str) -> None:
    kernel = CALLS[name][0]
    with listen() as profile:
        kernel(*arguments(name))
    (record,) = profile.kernels
    assert record.operations
    for loop in record.operations:
        assert loop.line is not None and loop.line[0] == str(SOURCE)
        assert not OURS.search(f"{loop.name}: {loop.place}: {loop.why}"), loop
        assert loop.why
        assert loop.why or loop.place != "in order"
    for decision in record.decisions:
        assert not OURS.search(decision.why), decision
    page = render(profile, Story("p.py", 1.0))
    table = page.split("<h3>Loops</h3>")[1].split("</table>")[0]
    assert table.count("<tr>") == 1 + len(record.operations)
    assert "scalar" not in table and not OURS.search(table)


def test_loops_in_strips_run_on_threads() -> None:
    """Both loops do, though only the one over their strips is given to threads."""
    found = fw.explain(told_kernels.smooth_twice, *arguments("smooth_twice"))
    (kernel,) = found.kernels
    assert [loop.place for loop in kernel.operations] == ["on threads and in vectors"] * 2


def test_cases_are_lines_of_their_own() -> None:
    with listen() as profile:
        told_kernels.edit_distance(*arguments("edit_distance"))
    (kernel,) = profile.kernels
    several = next(each for each in kernel.decisions if "\n" in each.why and not each.fused)
    assert several.short.endswith("(and 1 more case)") and "\n" not in several.short
    page = fw.explain(told_kernels.edit_distance, *arguments("edit_distance"))._repr_html_()
    second = several.why.splitlines()[1].split("`")[0]
    for html in (page, render(profile, Story("p.py", 1.0))):
        assert f"<br>{second}" in html
