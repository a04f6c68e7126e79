"""Loop trees of random kernels: they are well formed, their text parses back, and interpreted they
do what CPython does, bit for bit: lanes as vectors with masks, tasks as parts in another order.

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random kernels; without it a fixed small set runs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.kernel_runs import assert_same, is_refused, loaded, outcome, short_strips
from tests.properties import random_complex, random_guards, random_kernels, random_loops
from tests.properties.chance import examples

import fusewright as fw
from fusewright.base.options import current
from fusewright.codegen.trees.build import tree_of
from fusewright.ir.loops.parse import parse_kernel
from fusewright.ir.loops.text import kernel_text
from fusewright.ir.tree import nodes
from fusewright.ir.tree.interpret import run_tree
from fusewright.ir.tree.nodes import MappedLoop, Node, PairedStore, Tree
from fusewright.ir.tree.parse import parse_tree
from fusewright.ir.tree.text import tree_text
from fusewright.ir.tree.verify import check_tree
from fusewright.plan.loops.decide import decide
from fusewright.targets import executable
from fusewright.targets.reference.target import InterpretedLoops

CASES = examples(12)
met: Counter[str] = Counter()


def unspanned(body: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes without spans: text has none."""
    fresh: list[Node] = []
    for node in body:
        if isinstance(node, PairedStore):
            first, second = (replace(s, span=("", 0, 0, 0)) for s in (node.first, node.second))
            node = PairedStore(first, second)
        inner = [unspanned(block) for block in nodes.blocks(node)]
        fresh.append(replace(nodes.with_blocks(node, inner), span=("", 0, 0, 0)))
    return tuple(fresh)


def bare(tree: Tree) -> Tree:
    otherwise = None if tree.otherwise is None else bare(tree.otherwise)
    return replace(tree, body=unspanned(tree.body), otherwise=otherwise)


def count(tree: Tree) -> None:
    """What the trees of these tests have."""
    for form in tree.forms:
        for node in nodes.walk(form.body):
            met[type(node).__name__] += 1
            if isinstance(node, MappedLoop):
                met["lanes"] += node.lanes is not None
                met["threads"] += node.threads is not None
                met["reductions"] += len(node.reductions)
    met["guards"] += tree.guard is not None


@pytest.fixture(autouse=True, scope="module")
def as_trees() -> Iterator[None]:
    """Where statements are interpreted, their tree is."""

    def run(self: InterpretedLoops, arrays: Any, params: Any, failed: Any) -> None:
        settings = executable.settings_of(current())
        back = parse_kernel(kernel_text(self.kernel))
        assert kernel_text(back) == kernel_text(self.kernel)
        for vector_bytes in (16, 64):
            tree = tree_of(decide(self.kernel, settings), vector_bytes)
            check_tree(tree)
            assert parse_tree(tree_text(tree)) == bare(tree)
            count(tree)
        run_tree(tree, list(arrays), list(params), shown, failed)

    def shown(text: str) -> None:
        print(text, end="")

    usual = InterpretedLoops.run
    InterpretedLoops.run = run
    try:
        with installed("driver"), short_strips():
            yield
    finally:
        InterpretedLoops.run = usual


def same(source: str, values: tuple[Any, ...], folder: Any, refusable: bool = True) -> None:
    note(source)
    kernel = loaded(source, folder / f"{folder.name}.py")
    if refusable and is_refused(kernel, values):
        return
    wanted = outcome(kernel.__wrapped__, values)
    with fw.options(target="reference", threads=2):
        found = outcome(kernel, values)
    assert_same(found[0], wanted[0], "result")
    assert_same(list(found[1]), list(wanted[1]), "arguments")
    assert found[2] == wanted[2]


def guarded(seed: int) -> tuple[Any, ...]:
    """Arrays, and numbers that decide which form runs."""
    return (*random_guards.arguments(seed), *random_guards.VALUES[seed % 2])


SOURCES: dict[str, Any] = {
    "guards": (
        random_guards.Writer,
        lambda seed: (*random_guards.arguments(seed), *random_guards.VALUES[seed % 2]),
    ),
    "kernels": (random_kernels.Writer, random_kernels.arguments),
    "complex": (random_complex.Writer, random_complex.arguments),
    "loops": (random_loops.Writer, random_loops.arguments),
}


@pytest.mark.parametrize("kind", SOURCES)
@CASES
@given(seed=st.integers(0, 2**30), statements=st.integers(2, 7))
def test_random_trees(kind: str, seed: int, statements: int, tmp_path_factory: Any) -> None:
    writer, arguments = SOURCES[kind]
    source = writer(random.Random(seed).randint, statements).source()
    same(source, arguments(seed), tmp_path_factory.mktemp("trees"))


def test_everything_was_met() -> None:
    print(met)
    assert not {"lanes", "threads", "reductions", "Masked", "Branch", "PairedStore"} - set(+met)
