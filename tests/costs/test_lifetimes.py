"""Handles die in time: what is stored is what somebody still holds, however it is held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.runtime import buffers, profile

COUNT = 1000
ONE = COUNT * 8
"""Bytes of one array."""


def temporaries_die(x: Any) -> Any:
    fw.evaluate(((x + 1) * 2 - 3) / 4)


def rebound(x: Any) -> Any:
    y = x + 1
    y = y * 2
    y -= 3
    fw.evaluate(y)


def held(x: Any) -> Any:
    y = x + 1
    fw.evaluate(y * 2)
    return y


def held_then_asked(x: Any) -> Any:
    y = x + 1
    fw.evaluate(y * 2)
    fw.evaluate(y)


def held_and_used_again(x: Any) -> Any:
    y = x + 1
    for factor in (2.0, 3.0, 4.0):  # computed at most twice: the second time it is stored
        fw.evaluate(y * factor)


def released_then_asked(x: Any) -> Any:
    y = x + 1
    z = y * 2
    del y
    fw.evaluate(z)
    fw.evaluate(z * 3)


def closure(x: Any) -> Any:
    y = x + 1

    def later() -> Any:
        return y

    fw.evaluate(y * 2)
    fw.evaluate(later())


def closure_never_called(x: Any) -> Any:
    y = x + 1
    later = lambda: y  # noqa: E731
    fw.evaluate(y * 2)
    return later


def generator(x: Any) -> Any:
    def steps() -> Iterator[Any]:
        y = x + 1
        yield y * 2
        yield y

    for value in steps():
        fw.evaluate(value)


def generator_closed(x: Any) -> Any:
    def steps() -> Iterator[Any]:
        y = x + 1
        yield y * 2
        yield y

    running = steps()
    value = next(running)
    running.close()  # type: ignore[attr-defined]
    fw.evaluate(value)


def traceback(x: Any) -> Any:
    def fails() -> None:
        y = x + 1
        fw.evaluate(y * 2)
        raise KeyError

    try:
        fails()
    except KeyError as error:
        assert error.__traceback__ is not None and error.__traceback__.tb_next is not None
        fw.evaluate(error.__traceback__.tb_next.tb_frame.f_locals["y"])


def traceback_dropped(x: Any) -> Any:
    def fails() -> None:
        y = x + 1
        raise KeyError(y.shape)

    with suppress(KeyError):
        fails()
    fw.evaluate(x * 2)


def in_a_list(x: Any) -> Any:
    values = [x + float(n) for n in range(4)]
    fw.evaluate(values[0] + values[1])
    fw.evaluate(*values)


def refused(x: Any) -> Any:
    y = x + 1
    with pytest.raises(fw.FusewrightError):
        y + np.ones(7)
    fw.evaluate(y)


def only_a_view(x: Any) -> Any:
    fw.evaluate((x + 1)[10:20])


@dataclass(frozen=True, slots=True)
class Cost:
    """Blocks of memory taken and bytes that kernels wrote."""

    blocks: int
    written: int


PROGRAMS: dict[Callable[[Any], Any], Cost] = {
    temporaries_die: Cost(1, ONE),
    rebound: Cost(1, ONE),
    held: Cost(1, ONE),
    held_then_asked: Cost(2, 2 * ONE),
    held_and_used_again: Cost(4, 4 * ONE),
    released_then_asked: Cost(2, 2 * ONE),
    closure: Cost(2, 2 * ONE),
    closure_never_called: Cost(1, ONE),
    generator: Cost(2, 2 * ONE),
    generator_closed: Cost(1, ONE),
    traceback: Cost(2, 2 * ONE),
    traceback_dropped: Cost(1, ONE),
    in_a_list: Cost(5, 5 * ONE),
    refused: Cost(1, ONE),
    only_a_view: Cost(1, 80),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_only_what_is_held_and_asked_for_is_stored(program: Callable[[Any], Any]) -> None:
    x = fw.asarray(np.arange(float(COUNT)))
    program(x)  # compiled
    before = buffers.statistics()
    kept = program(x)
    between = buffers.statistics()
    with profile.listen() as record:
        again = program(x)
    assert between.allocations - before.allocations == PROGRAMS[program].blocks
    assert sum(kernel.bytes_written for kernel in record.kernels) == PROGRAMS[program].written
    del kept, again
    assert buffers.statistics().in_use == before.in_use, "everything went back to the pool"
