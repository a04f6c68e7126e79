"""Whether some of a nest's dims may become its outer loops: its own conflicts must keep their
order.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.analysis.conflicts import Conflict, within
from fusewright.analysis.exact import NotProved, Solver, precedes
from fusewright.analysis.fast import related
from fusewright.analysis.ranges import known_ranges
from fusewright.analysis.unit import Facts, Unit


def keeps_order(unit: Unit, numbers: tuple[int, ...], facts: Facts) -> bool:
    """True if no two conflicting iterations change places when `numbers` move outermost."""
    known = known_ranges(facts)
    wanted = {(number, number) for number in numbers}
    open_ = []
    for conflict in within(unit, facts):
        if conflict.commutes and conflict.source.exact and conflict.sink.exact:
            continue
        found = related(conflict, known)
        if not found.disjoint and not wanted <= found.equal:
            open_.append(conflict)
    if not open_:
        return True
    solver = Solver(replace(facts, witnesses=False))
    try:
        with solver.budget():
            return not any(_reversed(solver, conflict, numbers) for conflict in open_)
    except NotProved:
        return False


def _reversed(solver: Solver, conflict: Conflict, numbers: tuple[int, ...]) -> bool:
    source = [dim.number for dim in conflict.source_scope.dims]
    sink = {dim.number for dim in conflict.sink_scope.dims}
    common = [number for number in source if number in sink]
    if not set(numbers) <= set(common):
        return True
    solution = solver.solve(conflict)
    for first, second in (("x", "y"), ("y", "x")):
        before = precedes([(f"{first}{k}", f"{second}{k}") for k in common])
        after = precedes([(f"{second}{k}", f"{first}{k}") for k in numbers])
        if solution.where(f"({before}) and ({after})").possible:
            return True
    return False
