"""Loop trees of kernels of arrays printed as C compute the bits of the CPU's machine code: those of
the golden texts, and random programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import c_runs
from tests.array_kernels import MORE, compiled, evaluate_program, evaluated, met
from tests.c_printer import Unprintable
from tests.golden.array_programs import ARRAYS
from tests.properties import array_programs

from fusewright.ir.tree.interpret_arrays import UnitCalls
from fusewright.ir.tree.nodes import Tree

pytestmark = pytest.mark.skipif(c_runs.COMPILER is None, reason="there is no C compiler")
RANDOM = 6
"""Random programs."""
refused: list[str] = []
ran: list[Tree] = []


@pytest.fixture(autouse=True)
def printed_as_c(tmp_path: Path) -> Iterator[None]:
    """Trees run as C where their kernels run."""

    def run(tree: Tree, arrays: list[Any], params: list[Any], calls: UnitCalls) -> bool:
        folder = tmp_path / f"c_{len(ran) + len(refused)}"
        folder.mkdir()
        try:
            c_runs.run_c_arrays(tree, folder, arrays, params, calls)
        except Unprintable as error:
            refused.append(str(error))
            return False
        ran.append(tree)
        return True

    with evaluated(run), compiled(tmp_path):
        yield


@pytest.mark.parametrize("name", [*ARRAYS, *MORE])
def test_programs(name: str) -> None:
    evaluate_program(name)


@pytest.mark.parametrize("seed", range(RANDOM))
def test_random_programs(seed: int) -> None:
    found, lines = array_programs.run(seed, {"interpret": False, "small": 0})
    assert not found, "\n".join([found, *lines])


def test_nearly_all_were_printed() -> None:
    assert len(ran) > 40
    assert len(refused) < len(ran) / 10, refused
    assert all(met[order] for order in ("lanes", "elements", "scan", "blocks", "rings", "tiles"))
