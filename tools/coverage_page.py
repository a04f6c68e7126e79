"""`docs/reference/numpy.md`, the page on coverage: written from what `tools/coverage.py` measures.

`python -m tools.coverage_page --write` writes it (the operations must have been compiled ahead:
`python -m fusewright.operations`); without it, what differs is listed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tools import coverage, name_calls
from tools.coverage import COMPILED, MIXED, Row

from fusewright.ir import library_steps
from fusewright.targets.cpu import ahead

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "numpy.md"
TITLES = {
    "numpy": "The main namespace",
    "linalg": "`linalg`",
    "fft": "`fft`",
    "special": "`special`",
    "random": "`random`",
    "ndarray": "Methods and attributes of arrays",
    "ufunc": "Methods of ufuncs",
}
HEAD = """# NumPy's names, and what becomes of them

Written by `python -m tools.coverage_page --write` with NumPy {version}. Each call below was run
on arrays of {size:,} elements ({smaller:,} for linear algebra) while a profile listened; its class
is what the profile holds. A test runs all of them again, and with `strict`.

| class | names | meaning |
|---|---|---|
{classes}

The class is that of float64, or of the element type that the call says. *Elsewhere* lists the
other types (of {dtypes}) for which the call ends otherwise,
and as what; types that NumPy does not define a call for are left out.

| tier | meaning |
|---|---|
{tiers}

In the calls `a b w t v3` are of float64 (`w` is written to, `t` sorted), `i wi ir` of int64, `m`
of bool, `z` of complex128; `s ws p` are square, `r` is one row of `s`, `c3` has three elements,
`n` is their number, `f` a function of Python's.

Arrays of at most 512 elements, and calls without an array of ours, are
[NumPy's own](../decisions/0016-small-arrays.md): `strict` never refuses them. (`fw.asarray`,
`fw.jit` and `fw.options(small=0)` make small arrays of ours; those are like large ones.) Other
element types, such as objects, strings, dates, longdouble, records and swapped bytes, have no
arrays of ours: they are NumPy's own at any size, and `strict` refuses the step that makes one from
an array of ours.

## Library steps

What is left to NumPy on purpose. `strict=True` (`--strict`) refuses what is not compiled but these
steps; `strict="all"` (`--strict=all`) refuses these, too. They fuse with nothing; element-wise work
before and after them does.

| kind | steps | why |
|---|---|---|
{families}
"""
SPECIAL = """
`import fusewright.numpy.special`, or `np.special` where `np` is the drop-in: functions that NumPy
lacks, by the names and with the meaning of SciPy's, for real numbers; integers give the type that
`exp` gives of them. `erf` and `erfc` stand in the main namespace, too. The others do not, so that
programs stay NumPy programs: `np.gamma` is an `AttributeError` that says where the function is.
"""
COLUMNS = ["| name | class | tier | elsewhere | call |", "|---|---|---|---|---|"]


class Line(NamedTuple):
    """A row of the page."""

    row: Row
    kind: str
    tier: str
    exceptions: str

    def text(self) -> str:
        """As it stands in the page."""
        cells = (self.row.name, self.row.call)
        name, call = (f"`{cell.replace('|', '&#124;')}`" for cell in cells)
        return f"| {name} | {self.kind} | {self.tier} | {self.exceptions} | {call} |"


def measured(rows: Iterable[Row]) -> list[Line]:
    """The lines of rows."""
    with coverage.counted_compilations() as texts:
        found = [(row, coverage.measure(row)) for row in rows]
        compiled = [row for row, seen in found if seen.kind in (COMPILED, MIXED)]
        tiers = {row: coverage.tier(row, texts) for row in compiled}
    return [Line(row, m.kind, tiers.get(row, ""), m.exceptions_text) for row, m in found]


def lines_of(page: str) -> list[Line]:
    """The lines that a page has."""
    groups = {title: group for group, title in TITLES.items()}
    found, group = [], ""
    for text in page.splitlines():
        if text.startswith("## "):
            group = groups.get(text[3:], "")
        elif group and text.startswith("| `"):
            cells = [cell.strip() for cell in text.strip("|").split(" | ")]
            name, call = (cells[at].strip("` ").replace("&#124;", "|") for at in (0, 4))
            found.append(Line(Row(group, name, call), cells[1], cells[2], cells[3]))
    return found


def others() -> dict[str, list[str]]:
    """Public names without a row: why, and which."""
    found: dict[str, list[str]] = {"classes, constants and modules": [], "not called": []}
    for module in coverage.MODULES:
        for name in coverage.public(module):
            path = f"{module}.{name}" if module else name
            is_object = coverage.is_object(module, name)
            if is_object or path in coverage.UNCALLED:
                found["classes, constants and modules" if is_object else "not called"].append(path)
    found["not called"] += [f"ndarray.{name}" for name in sorted(name_calls.LEFT)]
    return found


def page(lines: Sequence[Line]) -> str:
    """The page."""
    counts = Counter(line.kind for line in lines)
    parts = [
        HEAD.format(
            version=np.__version__, size=coverage.SIZE, smaller=coverage.SMALLER,
            dtypes=", ".join(coverage.DTYPES),
            classes="\n".join(
                f"| {kind} | {counts[kind]} | {what} |" for kind, what in coverage.CLASSES.items()
            ),
            families="\n".join(
                f"| {family.title} | {' '.join(f'`{name}`' for name in sorted(family.names))} | "
                f"{family.why} |"
                for family in library_steps.FAMILIES
            ),
            tiers="\n".join(f"| {tier} | {what} |" for tier, what in coverage.TIERS.items()),
        )
    ]  # fmt: skip
    for group, title in TITLES.items():
        parts.append(
            f"\n## {title}\n{SPECIAL if group == 'special' else ''}\n{_table(lines, group)}"
        )
    parts.append("\n## Other names\n")
    for title, names in others().items():
        parts.append(f"\n{title.capitalize()}: {', '.join(f'`{name}`' for name in names)}.\n")
    return "".join(parts)


def _table(lines: Sequence[Line], group: str) -> str:
    rows = [line.text() for line in lines if line.row.group == group]
    return "\n".join(
        ["| name | class | tier | elsewhere | call |", "|---|---|---|---|---|", *rows, ""]
    )


def main(words: list[str]) -> int:
    """Write the page, or list the lines that differ."""
    if ahead.is_stale() or not ahead.count():
        print("first: python -m fusewright.operations")
        return 1
    made = page(measured(coverage.rows()))
    if words == ["--write"]:
        PAGE.write_text(made)
        return 0
    before = set(PAGE.read_text().splitlines())
    differing = [line for line in made.splitlines() if line not in before]
    print("\n".join(differing) or "up to date")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
