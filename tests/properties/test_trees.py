"""Loop trees of random kernels: they are well formed, their text parses back, and interpreted they
do what the kernel's statements do, bit for bit: lanes as vectors with masks, tasks as parts in
another order.  (That those do what CPython does is asked in `test_kernels.py` and its neighbours.)

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random kernels; without it a fixed small set runs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.kernel_runs import assert_same, copied, loaded, short_strips
from tests.properties import random_complex, random_guards, random_kernels, random_loops
from tests.properties.chance import examples

import fusewright as fw
from fusewright.base.errors import KernelError
from fusewright.base.options import current
from fusewright.codegen.statements import lower
from fusewright.codegen.trees.build import tree_of
from fusewright.ir.loops import interpret
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

CASES = examples(10)
met: Counter[str] = Counter()
ran: list[str] = []


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


def ended(run: Callable[[], None]) -> str:
    """How a run ended."""
    try:
        run()
    except Exception as error:  # noqa: BLE001 - whatever the kernel's checks raise
        return repr(error)
    return ""


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Where statements are interpreted, their tree is, too."""

    def run(self: InterpretedLoops, arrays: Any, params: Any, failed: Any) -> None:
        settings, given = executable.settings_of(current()), list(arrays)
        text = kernel_text(self.kernel)
        assert kernel_text(parse_kernel(text)) == text
        plan = decide(self.kernel, settings)
        for vector_bytes in (16, 64):
            tree = tree_of(plan, vector_bytes)
            check_tree(tree)
            back = parse_tree(tree_text(tree))
            assert back == bare(tree)
            wide = vector_bytes == 64
            assert lower(back, wide).text == lower(tree, wide).text
            count(tree)
        own, shown, wanted = list(map(copied, given)), [], []
        found = ended(lambda: run_tree(tree, own, params, shown.append, failed))
        usual_end = ended(lambda: interpret.run(self.kernel, given, params, wanted.append, failed))
        assert (found, shown) == (usual_end, wanted)
        if not found:
            kept = (n for n, b in enumerate(self.kernel.given) if not self.kernel.buffers[b].dead)
            for number in kept:
                assert_same(own[number], given[number], f"array {number}")
        ran.append(found)

    usual = InterpretedLoops.run
    InterpretedLoops.run = run
    try:
        with installed("driver"), short_strips():
            yield
    finally:
        InterpretedLoops.run = usual


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
@given(seed=st.integers(0, 2**30), statements=st.integers(2, 6))
def test_random_trees(kind: str, seed: int, statements: int, tmp_path_factory: Any) -> None:
    writer, arguments = SOURCES[kind]
    source = writer(random.Random(seed).randint, statements).source()
    note(source)
    folder = tmp_path_factory.mktemp("trees")
    kernel = loaded(source, folder / f"{folder.name}.py")
    with fw.options(target="reference", threads=2):
        try:
            kernel(*map(copied, arguments(seed)))
        except KernelError as error:
            if error.where is None:
                raise
        except (ArithmeticError, ValueError, IndexError, UnboundLocalError):
            return  # the program has no meaning


def test_everything_was_met() -> None:
    assert ran.count("") > len(ran) / 2 > 10
    assert not {"lanes", "threads", "reductions", "MaskedBlock", "Branch"} - set(+met)
