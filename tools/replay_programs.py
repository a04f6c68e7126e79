"""The programs that `replay` records: whole programs, lessons, benchmarks, tests of the bridge.

Each kind of program has a function that prepares one by its name and gives what runs it: called
twice in one process, it gives the program's results each time.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
Run = Callable[[], Mapping[str, Any]]
BRIDGE = ("patterns", "units", "teams", "complex", "views", "library")
"""Tests of PyKokkos that are programs: `tests/bridges/test_*.py`."""


class Recorded(NamedTuple):
    """A program by name; `what` is its path in the repository, or its name in a benchmark."""

    name: str
    kind: str
    what: str


def catalogue(root: Path = ROOT) -> list[Recorded]:
    """Every program, longest kinds first, so that two processes end at about the same time."""
    return [
        *(Recorded(f"bridge/{name}", "tests", f"tests/bridges/test_{name}.py") for name in BRIDGE),
        *_scripts(root, "programs", "tests/programs", "script"),
        *_scripts(root, "examples", "examples", "lesson"),
        *_scripts(root, "dropin", "tests/programs/dropin", "script"),
        *_scripts(root, "snippets", "tests/programs/snippets", "script"),
        *_scripts(root, "packages", "tests/programs/packages", "script"),
        *_named_ones("small", _benchmark("small_programs").PROGRAMS),
        *_named_ones("polybench", [each.name for each in _benchmark("polybench").PROGRAMS]),
        *_named_ones("loops", LOOPS),
        *_named_ones("pykokkos", PYKOKKOS),
    ]  # fmt: skip


def _scripts(root: Path, family: str, folder: str, kind: str) -> Iterator[Recorded]:
    for path in sorted((root / folder).iterdir()):
        is_script = path.suffix == ".py" and not path.name.startswith(("test_", "conftest"))
        if (is_script and _is_installed(path)) or (path / "__main__.py").exists():
            yield Recorded(f"{family}/{path.stem}", kind, path.relative_to(root).as_posix())


def _named_ones(kind: str, names: Iterable[str]) -> Iterator[Recorded]:
    return (Recorded(f"{kind}/{name}", kind, name) for name in names)


def _is_installed(path: Path) -> bool:
    """Whether the package that a program is about (`scipy_.py`) is here."""
    package = path.stem.rstrip("_")
    own = {"standard", "parallel"}
    return package == path.stem or package in own or importlib.util.find_spec(package) is not None


def _benchmark(name: str) -> ModuleType:
    folder = str(ROOT / "benchmarks")
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


# -- how a program of each kind is run -----------------------------------------------------------


def _script(what: str) -> Run:
    """As `fusewright run` runs it; the results are its global names."""
    from fusewright.cli.redirect import redirect, user_code

    path = ROOT / what
    folder = path if path.is_dir() else path.parent
    file = folder / "__main__.py" if path.is_dir() else path
    redirect([str(folder)])
    sys.path.insert(0, str(folder))
    sys.argv[:] = [str(file)]

    def run() -> Mapping[str, Any]:
        main = ModuleType("__main__")
        main.__dict__.update(__builtins__=builtins, __file__=str(file))
        sys.modules["__main__"] = main
        exec(user_code(file.read_bytes(), str(file)), main.__dict__)
        return _named(main.__dict__)

    return run


def _named(names: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in names.items() if not name.startswith("_")}


def _lesson(what: str) -> Run:
    sys.argv[:] = [str(ROOT / what)]
    return lambda: _named(runpy.run_path(str(ROOT / what), run_name="__main__"))


def _small(what: str) -> Run:
    import fusewright as fw
    import fusewright.numpy as fnp

    programs = _benchmark("small_programs")

    def run() -> Mapping[str, Any]:
        return {"result": programs.PROGRAMS[what][0](fnp, fw.asarray(programs.given(what)))}

    return run


def _polybench(what: str) -> Run:
    import fusewright as fw

    program = next(each for each in _benchmark("polybench").PROGRAMS if each.name == what)
    return _of_kernel(fw.kernel(program.function), lambda: program.arrays(program.sizes[0]))


def _of_kernel(kernel: Any, make: Callable[[], list[Any]]) -> Run:
    def run() -> Mapping[str, Any]:
        arrays = make()
        kernel(*arrays)
        return {str(number): array for number, array in enumerate(arrays)}

    return run


_MATRIX, _LINE = (130, 70), (5000,)
LOOPS: dict[str, tuple[tuple[int, ...], ...]] = {
    "step": (*[(18, 300)] * 7, (300,)),
    "stencil": (_LINE,) * 4,
    "elementwise": (_LINE,) * 4,
    "unequal": (_LINE,) * 4,
    "wave": (_LINE,) * 2,
    "jacobi": (_MATRIX,) * 2,
    "columns": (_MATRIX, _MATRIX, (70,)),
    "scaled_rows": (_MATRIX, (70,), (130,), _MATRIX),
    "exponentials": (_LINE,) * 3,
}
"""Kernels of `benchmarks/loop_programs.py`, and the shapes of their arrays."""


def _loops(what: str) -> Run:
    programs = _benchmark("loop_programs")
    kernel, shapes = getattr(programs, what), list(LOOPS[what])
    return _of_kernel(kernel, lambda: programs.ramps(shapes, "float64"))


PYKOKKOS = ("chain", "scaled", "total")
"""Programs of `benchmarks/pykokkos_programs.py`."""


def _pykokkos(what: str) -> Run:
    import numpy as np

    import fusewright.bridges.pykokkos as pk

    sys.modules["pykokkos"] = pk
    programs = _benchmark("pykokkos_programs")

    def chain() -> Mapping[str, Any]:
        program = programs.Chain(1000)
        program.launch()
        return {"out": np.asarray(program.out)}

    def scaled() -> Mapping[str, Any]:
        functor = programs.Scaled(1000)
        functor.a[:] = np.arange(1000.0)
        pk.parallel_for(1000, functor.scaled)
        return {"a": np.asarray(functor.a)}

    def total() -> Mapping[str, Any]:
        numbers = np.arange(1000.0) / 7
        return {"total": pk.parallel_reduce(1000, programs.total, a=numbers)}

    return {"chain": chain, "scaled": scaled, "total": total}[what]


def _tests(what: str) -> Run:
    """A file of tests; its result is whether they pass."""
    import pytest

    os.chdir(ROOT)
    words = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly", what]
    return lambda: {"passed": int(pytest.main(words)) == 0}


KINDS: dict[str, Callable[[str], Run]] = {
    "script": _script,
    "lesson": _lesson,
    "small": _small,
    "polybench": _polybench,
    "loops": _loops,
    "pykokkos": _pykokkos,
    "tests": _tests,
}
