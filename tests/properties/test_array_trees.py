"""Loop trees of kernels of arrays: they are well formed, their text parses back to a tree of which
the same code is written, and interpreted they give the bits that the compiled kernel gives: row
buffers as rings and windows of garbage, parts of the units one after the other, reductions in
their order.

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random programs; without it a fixed small set runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.array_kernels import MORE, compiled, evaluate_program, evaluated, met
from tests.golden.array_programs import ARRAYS
from tests.properties import array_programs
from tests.properties.chance import examples

from fusewright import driver
from fusewright.ir.tree import nodes
from fusewright.ir.tree.interpret_arrays import UnitCalls, run_array_tree
from fusewright.ir.tree.nodes import Tree
from fusewright.rules.decompose import decompose

CASES = examples(12)


def in_primitives(body: Any) -> Any:
    """The nodes with what their stores compute in primitives: our own bits of `exp`."""
    made = []
    for node in body:
        if isinstance(node, nodes.Store):
            node = replace(node, value=decompose(node.value))
        made.append(nodes.with_blocks(node, [in_primitives(b) for b in nodes.blocks(node)]))
        if isinstance(node, nodes.PairedStore):
            made[-1] = replace(node, first=in_primitives([node.first])[0],
                               second=in_primitives([node.second])[0])  # fmt: skip
    return tuple(made)


def interpreted(tree: Tree, arrays: list[Any], params: list[Any], calls: UnitCalls) -> bool:
    """What the tree means, in primitives."""
    run_array_tree(replace(tree, body=in_primitives(tree.body)), arrays, params, calls)
    return True


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Trees are interpreted where their kernels run."""
    with evaluated(interpreted):
        yield


@pytest.mark.parametrize("name", [*ARRAYS, *MORE])
def test_programs(name: str, tmp_path: Any) -> None:
    with compiled(tmp_path):
        evaluate_program(name)


@CASES
@given(seed=st.integers(0, 2**30))
def test_random_programs(seed: int, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("trees")
    with compiled(folder):
        found, lines = array_programs.run(seed, {"interpret": False, "small": 0})
    assert not found, "\n".join([found, *lines])


def test_the_trees_had_everything(tmp_path: Any) -> None:
    """The programs meet each kind of node, and each order."""
    met.clear()
    driver.cache_clear()
    with compiled(tmp_path):
        for name in (*ARRAYS, *MORE):
            evaluate_program(name)
    wanted = ["MappedLoop", "Section", "Branch", "IndexLet", "WindowStart", "Together", "Store",
              "RepeatedStep", "PairedStore", "lanes", "elements", "scan", "blocks", "rings",
              "tiles", "evaluated"]  # fmt: skip
    assert [name for name in wanted if not met[name]] == []
