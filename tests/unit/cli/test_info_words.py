"""What `fusewright info` says of the machine is in words."""

from __future__ import annotations

from fusewright.cli import info
from fusewright.machine.record import DEFAULT


def test_every_field_has_words() -> None:
    assert set(info.WORDS) == set(DEFAULT._fields)
    assert len(set(info.WORDS.values())) == len(info.WORDS)
    assert all("_" not in name for name, _ in info.record_rows())
