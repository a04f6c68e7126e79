"""What a flush at a loop's boundary is decided by: the core's answers are Python's."""

import random

import pytest

from fusewright._core import native
from fusewright.frontends.arrays import survivors
from fusewright.frontends.arrays.iterations import Loop
from fusewright.ir.dtypes import FLOAT64
from fusewright.ir.graph import LEAF, MAP, VIEW, Memory, Node

pytestmark = pytest.mark.skipif(native is None, reason="compares with the core")

LOOP = Loop(1, compile("pass", "program.py", "exec"), 2, 8)


def some_list(seed: int) -> tuple[list[Node], list[Node], list[tuple[Node, survivors.Spot]]]:
    """A pending list, the values that somebody holds, and what the last flush left alone."""
    draw = random.Random(seed)
    older = [Node(LEAF, "", (), FLOAT64, (8,)) for _ in range(3)]
    left = [Node(MAP, "negative", (leaf,), FLOAT64, (8,)) for leaf in older]
    values, pending = [*older, *left], []
    for _ in range(draw.randrange(1, 40)):
        operands = tuple(draw.choice(values[-8:]) for _ in range(draw.randrange(1, 3)))
        kind = VIEW if len(operands) == 1 and draw.random() < 0.3 else MAP
        node = Node(kind, "", operands, FLOAT64, (8,))
        node.demands = draw.randrange(2)
        pending.append(node)
        values.append(node)
    for node in draw.sample(pending, len(pending) // 6):
        node.become_leaf(Memory(64, 64, None), 0, (8,))  # never read
    held = draw.sample(pending, draw.randrange(len(pending)))
    return pending, held, [(node, (LOOP, n)) for n, node in enumerate(left)]


def in_numbers(found: tuple[list[survivors.Held], bytes, list[survivors.Spot]]) -> object:
    held, before, read = found
    return [(id(node), *rest) for node, *rest in held], before, read


@pytest.mark.parametrize("seed", range(60))
def test_survey_is_the_same(seed: int) -> None:
    pending, held, left = some_list(seed)
    last = random.Random(seed).randrange(len(pending) + 1)
    earliest = random.Random(seed + 1).randrange(last + 1)
    ours = in_numbers(native.survey(pending, last, earliest, left))
    assert ours == in_numbers(survivors.survey(pending, last, earliest, left))
    assert {row[0] for row in ours[0]} == {id(node) for node in held if node.kind != LEAF}


@pytest.mark.parametrize("seed", range(60))
def test_let_go_is_the_same(seed: int) -> None:
    found = []
    for let_go in (native.let_go, survivors.let_go):
        pending, held, left = some_list(seed)
        wanted, rest = held[::2], [*held[1::2], *(node for node, _ in left)]
        below = let_go(pending, wanted, rest)
        found.append((below, [node.demands for node in pending if node.kind != LEAF]))
    assert found[0] == found[1]


def test_what_is_no_list_of_values_is_refused() -> None:
    with pytest.raises(TypeError):
        native.survey([1], 0, 0, [])
    with pytest.raises(TypeError):
        native.survey([], 0, 0, [(1, 2)])
    with pytest.raises(TypeError):
        native.let_go([], [1], [])
    assert native.survey([], 5, -3, []) == ([], b"", [])
