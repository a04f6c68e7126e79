"""What small programs become, as text: statements or nests, plan, loop tree, listing, and short
LLVM modules.

Each program's text is a file in `texts/`; after a change that is meant, `pytest tests/golden
--update-golden` writes them anew, and the difference is reviewed with the change.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.golden.array_programs import ARRAYS
from tests.golden.kernel_programs import DOORS, KERNELS

import fusewright as fw
from fusewright import driver
from fusewright.runtime import profile
from fusewright.runtime.listening import CompiledTexts, compilations

FOLDER = Path(__file__).parent / "texts"
SHORT = 90
"""Lines of an LLVM module that is kept; longer ones are left to `tools/replay.py`."""
SETTINGS: dict[str, Any] = {
    "features": "avx2",
    "threads": 2,
    "small": 0,
    "interpret": False,
    "measure": False,
}
"""Everything is compiled, for a machine that is not this one."""
PROGRAMS: dict[str, Callable[[], Any]] = {
    **ARRAYS,
    **{
        name: lambda function=function, make=make: fw.kernel(function)(*make())
        for name, (function, make) in KERNELS.items()
    },
    **DOORS,
}


@contextmanager
def told(cache: Path) -> Iterator[list[CompiledTexts]]:
    """What is compiled inside."""
    found: list[CompiledTexts] = []
    driver.cache_clear()
    compilations.append(found.append)
    try:
        with fw.options(cache_dir=str(cache), **SETTINGS):
            yield found
    finally:
        compilations.remove(found.append)


def text_of(run: Callable[[], Any], cache: Path) -> str:
    """Everything that a program is compiled to."""
    with told(cache) as structures, profile.listen() as listened:
        result = run()
        pending = result if isinstance(result, tuple) else (result,)
        fw.evaluate(*(value for value in pending if isinstance(value, fw.Array)))
    parts = [part for structure in structures for part in _sections(structure)]
    listings = dict.fromkeys(kernel.loops for kernel in listened.kernels)
    parts += [("listing", loops) for loops in listings]
    parts += [("library step", step.name) for step in listened.opaque]
    return "\n".join(f"== {title}\n{text.rstrip()}\n" for title, text in parts)


def _sections(structure: CompiledTexts) -> Iterator[tuple[str, str]]:
    yield f"ir of {structure.door}", structure.ir
    yield "plan", structure.plan
    if structure.tree:
        yield "tree", structure.tree
    for module in structure.llvm:
        if module.count("\n") <= SHORT:
            yield "llvm", module


def test_the_programs_are_many_and_named_once() -> None:
    assert len(PROGRAMS) == len(ARRAYS) + len(KERNELS) + len(DOORS) >= 40
    assert sorted(PROGRAMS) == sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = text_of(PROGRAMS[name], tmp_path)
    assert "== plan" in text
    file = FOLDER / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    expected = file.read_text(encoding="utf-8") if file.exists() else ""
    if text != expected:
        lines = difflib.unified_diff(
            expected.splitlines(), text.splitlines(), "expected", "found", lineterm=""
        )
        pytest.fail("\n".join([*lines, "meant?  pytest tests/golden --update-golden"]))
