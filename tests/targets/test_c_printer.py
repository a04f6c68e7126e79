"""Loop trees printed as C compute the bits of the CPU's machine code: random kernels, and those of
the golden texts.  The trees are the very ones that LLVM text is written of.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import c_runs
from tests.c_printer import Unprintable
from tests.golden.kernel_programs import KERNELS
from tests.kernel_runs import assert_same, copied, loaded
from tests.properties import random_complex, random_kernels, random_loops

import fusewright as fw
from fusewright.base.errors import KernelError
from fusewright.base.options import current
from fusewright.codegen.trees.build import tree_of
from fusewright.plan.loops.decide import decide
from fusewright.targets import executable
from fusewright.targets.reference.target import InterpretedLoops

pytestmark = pytest.mark.skipif(c_runs.COMPILER is None, reason="there is no C compiler")
SOURCES: dict[str, Any] = {
    "kernels": (random_kernels, 12), "loops": (random_loops, 8), "complex": (random_complex, 8),
}  # fmt: skip
refused: list[str] = []
compiled: list[str] = []


@pytest.fixture(autouse=True)
def printed_as_c(tmp_path: Path) -> Iterator[None]:
    """Where statements are interpreted, their tree runs as C."""

    def run(self: InterpretedLoops, arrays: Any, params: Any, failed: Any) -> None:
        plan = decide(self.kernel, executable.settings_of(current()))
        folder = tmp_path / str(len(compiled))
        folder.mkdir()
        compiled.append(self.kernel.name)
        tree = tree_of(plan if plan.otherwise is None else plan.otherwise, 32)
        c_runs.run_c(tree, folder, list(arrays), list(params), print_, failed)

    def print_(text: str) -> None:
        print(text, end="")

    usual = InterpretedLoops.run
    InterpretedLoops.run = run
    try:
        yield
    finally:
        InterpretedLoops.run = usual


def outcome(kernel: Any, arguments: tuple[Any, ...], **settings: Any) -> tuple[Any, ...]:
    own, text = tuple(map(copied, arguments)), io.StringIO()
    with fw.options(threads=2, **settings), redirect_stdout(text), np.errstate(all="ignore"):
        try:
            return kernel(*own), own, text.getvalue()
        except (KernelError, ArithmeticError, ValueError, IndexError, UnboundLocalError) as error:
            return (type(error), str(error).splitlines()[0], text.getvalue())


def same(kernel: Any, arguments: tuple[Any, ...]) -> None:
    try:
        found = outcome(kernel, arguments, target="reference")
    except Unprintable as error:
        refused.append(str(error))
        return
    assert_same(found, outcome(kernel, arguments), "C")


@pytest.mark.parametrize("kind", SOURCES)
def test_random_kernels(kind: str, tmp_path: Path) -> None:
    module, count = SOURCES[kind]
    for seed in range(count):
        source = module.Writer(random.Random(seed).randint, 2 + seed % 8).source()
        kernel = loaded(source, tmp_path / f"c_{kind}_{seed}.py")
        same(kernel, module.arguments(seed))


@pytest.mark.parametrize("name", KERNELS)
def test_golden_kernels(name: str) -> None:
    function, make = KERNELS[name]
    same(fw.kernel(function), make())


def test_nearly_all_were_printed() -> None:
    assert len(compiled) > 25
    assert len(refused) < len(compiled) / 10, refused
