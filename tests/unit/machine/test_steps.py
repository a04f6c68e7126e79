"""From which total angular momentum on classes of integrals have steps, by what was measured."""

from __future__ import annotations

import pytest

from fusewright.integrals import classes
from fusewright.machine.steps import STEPS, stepped_from

LOSES, GAINS, MIXED = (1.2, 1.0), (0.8, 1.0), (0.8, 1.3)


@pytest.mark.parametrize(
    ("measured", "first"),
    [
        ({"a": {4: LOSES, 5: GAINS, 6: GAINS}}, 5),
        ({"a": {4: GAINS, 5: LOSES, 6: GAINS}}, 6),  # from there on
        ({"a": {4: GAINS, 5: GAINS, 6: MIXED}}, 7),  # both depths count
        ({"a": {4: GAINS, 5: GAINS}, "b": {4: LOSES, 5: GAINS}}, 5),  # one answer for all
        ({"a": {4: GAINS, 5: GAINS}, "b": {5: GAINS}}, 4),  # not measured there
    ],
)
def test_no_kind_of_machine_loses(measured: dict[str, dict[int, object]], first: int) -> None:
    assert stepped_from(measured) == first  # type: ignore[arg-type]


def test_the_table_that_ships_decides() -> None:
    assert classes.STEPPED == stepped_from() == 5
    assert {tuple(each) for each in STEPS.values()} == {(4, 5, 6, 7, 8)}
