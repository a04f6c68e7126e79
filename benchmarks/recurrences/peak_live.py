"""Values live at once in classes of electron-repulsion integrals: by level, depth first, searched.

    python benchmarks/recurrences/peak_live.py [--effort N] [class ...]

A class is four letters, with `S` behind them for solid harmonics.  Counts, not times: the same on
every machine.  The seconds are of planning, in one process.
"""

from __future__ import annotations

import argparse
import time

from fusewright.frontends.recurrences.demand import demanded
from fusewright.integrals.families import SCALARS, repulsion
from fusewright.plan.recurrences.plan import plan

CLASSES = ["pppp", "dsds", "fsfs", "dpdp", "dddd", "dsdsS", "dpdpS", "ddddS"]
HEAD = (
    "| class | statements | flops | by level | depth first | searched | relations | maps | "
    "closure, planning, search s |\n|---|---|---|---|---|---|---|---|---|"
)


def row(name: str, effort: int) -> str:
    """One class."""
    letters, harmonics = name[:4], name.endswith("S")
    wanted = repulsion(*("spdfgh".index(c) for c in letters), harmonics, contracted=False)
    start = time.process_time()
    graph = demanded(wanted.targets, wanted.families, SCALARS)
    closed = time.process_time()
    first = plan(graph, 0).outer
    planned = time.process_time()
    found = plan(graph, effort).outer
    searched = time.process_time()
    label = f"{letters} spherical" if harmonics else letters
    return (
        f"| {label} | {len(found.straight.statements)} | {found.chosen.flops} | "
        f"{found.textbook().peak} | {first.pressure.peak} | {found.pressure.peak} | "
        f"{found.chosen.rule} | {found.placement} | {closed - start:.2f}, {planned - closed:.2f}, "
        f"{searched - planned:.2f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", type=int, default=300_000)
    parser.add_argument("classes", nargs="*", default=CLASSES)
    arguments = parser.parse_args()
    print(HEAD)
    for name in arguments.classes:
        print(row(name, arguments.effort))


if __name__ == "__main__":
    main()
