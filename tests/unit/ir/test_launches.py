"""What a request launches: barriers where needed, and only there; text that parses back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.golden.array_programs import ARRAYS

import fusewright as fw
from fusewright import driver
from fusewright.base.errors import InternalError
from fusewright.ir.nest import Alias, Library
from fusewright.ir.tree.launches import (
    Barrier,
    Completion,
    Flight,
    LaunchNode,
    TreeLaunch,
    check_launches,
    launches_text,
    parse_launches,
    reads_of,
    runs_of,
    writes_of,
)
from fusewright.runtime.listening import CompiledTexts, compilations

CHAIN = """\
library b2 from b0, b1
launch 0 reads b2 writes b3, b4
barrier
release b2
launch 1 reads b3 writes b5 with b5 on b4
barrier
alias b6 of b5
complete b6
release b3
"""


def test_text_parses_back() -> None:
    assert launches_text(parse_launches(CHAIN)) == CHAIN
    check_launches(parse_launches(CHAIN), outputs={6}, leaves={0, 1})


def test_a_launcher_that_waits_has_steps_alone() -> None:
    works = [run.work for run in runs_of(parse_launches(CHAIN))]
    updated = TreeLaunch(1, (3,), (5,), ((5, 4),))
    assert works == [Library(2, (0, 1)), TreeLaunch(0, (2,), (3, 4)), updated, Alias(6, 5)]
    assert [run.release for run in runs_of(parse_launches(CHAIN))] == [(), (2,), (), (3,)]
    assert [run.complete for run in runs_of(parse_launches(CHAIN))] == [(), (), (), (6,)]


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("library b2 from b0, b1", r"step 0 reads \[2\], which are not there"),
        ("barrier", "needs a barrier in front of it"),
        ("complete b6", r"complete are \[\], asked for \[6\]"),
        ("launch 0 reads b2 writes b3, b4", "which are not there"),
    ],
)
def test_what_is_not_well_formed_is_refused(left_out: str, message: str) -> None:
    nodes = parse_launches(CHAIN.replace(f"{left_out}\n", ""))
    with pytest.raises(InternalError, match=message):
        check_launches(nodes, outputs={6}, leaves={0, 1})


def test_nothing_is_used_after_it_was_released_or_written_after_it_was_complete() -> None:
    late = parse_launches(CHAIN + "launch 2 reads b3 writes b7\n")
    with pytest.raises(InternalError, match="step 9 reads"):
        check_launches(late, outputs={6}, leaves={0, 1})
    twice = parse_launches(CHAIN + "library b6 from b5\n")
    with pytest.raises(InternalError, match="complete or released"):
        check_launches(twice, outputs={6}, leaves={0, 1})


def test_values_on_one_memory_wait_for_each_other() -> None:
    """An alias is the memory of its source, and a patch that of what it patches."""
    for text in ("alias b2 of b1\nlaunch 0 reads b0 writes b1", "launch 0 writes b2 with b2 on b1"):
        flight = Flight()
        for node in parse_launches(text):
            flight.take(node)
        assert flight.waits(Library(3, (2,)))
        assert not flight.waits(Library(3, (4,)))


@pytest.mark.parametrize("name", ARRAYS)
def test_of_programs(name: str, tmp_path: Path) -> None:
    """Well formed; and without any one of its barriers no longer."""
    told: list[CompiledTexts] = []
    driver.cache_clear()
    compilations.append(told.append)
    try:
        with fw.options(cache_dir=str(tmp_path), interpret=False, small=0):
            result = ARRAYS[name]()
            pending = result if isinstance(result, tuple) else (result,)
            fw.evaluate(*(value for value in pending if isinstance(value, fw.Array)))
    finally:
        compilations.remove(told.append)
    structures = [texts for texts in told if texts.door == "arrays"]
    assert structures
    for texts in structures:
        text = texts.tree.partition("kernel")[0]
        nodes = parse_launches(text)
        assert launches_text(nodes) == text
        assert sum(isinstance(node, TreeLaunch) for node in nodes) == len(texts.llvm)
        _is_well_formed(nodes)
        for number, node in enumerate(nodes):
            if isinstance(node, Barrier):
                with pytest.raises(InternalError, match="barrier"):
                    _is_well_formed((*nodes[:number], *nodes[number + 1 :]))


def _is_well_formed(nodes: tuple[LaunchNode, ...]) -> None:
    outputs = {slot for node in nodes if isinstance(node, Completion) for slot in node.slots}
    made = {slot for node in nodes for slot in writes_of(node)}
    read = {slot for node in nodes for slot in reads_of(node)}
    check_launches(nodes, outputs, read - made)
