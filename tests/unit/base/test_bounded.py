"""Tables that keep what was put in last."""

from __future__ import annotations

from functools import partial

from tests.at_once import at_once

from fusewright.base.bounded import keep


def test_the_oldest_makes_room() -> None:
    kept: dict[int, int] = {}
    for number in range(10):
        keep(kept, number, -number, 4)
    assert kept == {6: -6, 7: -7, 8: -8, 9: -9}


def test_a_known_key_drops_nothing() -> None:
    kept = {1: 1, 2: 2}
    keep(kept, 1, 3, 2)
    assert kept == {1: 3, 2: 2}


def test_a_table_that_is_too_long_is_cut() -> None:
    kept = dict.fromkeys(range(6), 0)
    keep(kept, 6, 0, 3)
    assert list(kept) == [4, 5, 6]


def test_threads_keep_at_once() -> None:
    """Nobody stops because another thread has dropped or entered something in between."""
    kept: dict[int, int] = {}
    errors: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for number in range(first, first + 4000):
                keep(kept, number, number, 8)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    at_once([partial(work, n * 4000) for n in range(4)], 1e-6)
    assert not errors
    keep(kept, -1, -1, 8)
    assert len(kept) == 8
