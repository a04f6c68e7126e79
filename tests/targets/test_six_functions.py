"""What `targets/target.py` asks of a target, of each that there is: a new one passes this first."""

from __future__ import annotations

import sys
from array import array
from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.unit.codegen.recurrences.test_body import made_up

import fusewright as fw
from fusewright.base.errors import OptionError
from fusewright.base.options import current
from fusewright.driver import by_numpy
from fusewright.ir.graph import LEAF
from fusewright.ir.loops.statements import Kernel
from fusewright.ir.recurrences.phases import Phases, run_phases
from fusewright.kernels.run import failed
from fusewright.runtime.trace import take
from fusewright.targets import target as targets
from fusewright.targets.executable import Written
from fusewright.targets.target import Target, target

NAMES = sorted(targets.OWN)


@fw.kernel
def scaled(a, b, s):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        b[i] = s * a[i]


@pytest.fixture(params=NAMES)
def home(request: pytest.FixtureRequest) -> Any:
    """Each target, with the settings that name it."""
    with fw.options(target=request.param, interpret=False, background=False):
        yield target()


def statements() -> Kernel:
    """The statements of `scaled` for arrays of doubles."""
    with fw.options(target="reference"):
        scaled(np.ones(3), np.ones(3), 2.0)
    ((found,),) = scaled.specialisations.values()
    return found.kernel


def test_says_what_it_is(home: Target) -> None:
    features, about = home.features("auto"), home.describe()
    assert features.name and features.vector_bytes % 8 == 0
    assert about.compiler and about.launch_seconds() >= 0.0


def test_memory_holds_what_was_copied(home: Target) -> None:
    values = np.arange(24.0).reshape(4, 6).T
    memory = home.allocate(values.nbytes)
    home.copy(values, memory)
    assert memory.nbytes >= values.nbytes
    held = np.frombuffer(memory.owner, np.float64, values.size).reshape(values.shape)
    assert held.tobytes() == values.tobytes()


def test_runs_loops(home: Target) -> None:
    a, b = np.arange(1000.0), np.zeros(1000)
    kernel = statements()
    numbers = {"extent": lambda source: 1000, "stride": lambda source: 8, "scalar": lambda _: 3.0}
    params = [numbers[source.what](source) for source in kernel.arguments]
    home.compile(kernel, current()).run([a, b], params, failed)
    assert b.tobytes() == (3.0 * a).tobytes()


def test_runs_array_operations(home: Target) -> None:
    x = fw.asarray(np.linspace(0.1, 1.0, 5000))
    node = (x * x + 1.0)._node
    with np.errstate(all="ignore"):
        expected = np.linspace(0.1, 1.0, 5000) ** 2 + 1.0
    slice_ = take([node])
    home.compile(slice_, current()).run(slice_.order, current(), by_numpy)
    assert node.kind == LEAF
    memory, offset, _ = node.value
    assert np.frombuffer(memory.owner, np.float64, 5000, offset).tobytes() == expected.tobytes()


def test_runs_lists_of_statements(home: Target) -> None:
    phases = Phases(made_up(40, 7, ("x", "y")))
    rng = np.random.default_rng(0)
    scalars = {name: rng.standard_normal(9) for name in phases.outer.scalars}
    leaves = {name: rng.standard_normal(9) for name in phases.outer.leaves}
    found = home.compile(phases, current()).run(scalars, leaves)
    assert found.tobytes() == run_phases(phases, scalars, leaves).tobytes()


DOUBLED = """define void @kernel(ptr %args, i64 %lo, i64 %hi, ptr %scratch) nounwind {
entry:
  %array = load ptr, ptr %args
  br label %test
test:
  %unit = phi i64 [ %lo, %entry ], [ %next, %body ]
  %more = icmp slt i64 %unit, %hi
  br i1 %more, label %body, label %done
body:
  %place = getelementptr double, ptr %array, i64 %unit
  %value = load double, ptr %place
  %twice = fadd double %value, %value
  store double %twice, ptr %place
  %next = add i64 %unit, 1
  br label %test
done:
  ret void
}
"""


def test_launches_units_of_text() -> None:
    values, home = np.arange(5000.0), target("cpu")
    found = home.compile(Written(("doubled",), lambda lanes: (lanes, DOUBLED)), current())
    assert found.signature == home.features(current().features).vector_bytes // 8
    home.launch(found, array("q", [values.ctypes.data]), len(values), grain=64)
    assert values.tobytes() == (2 * np.arange(5000.0)).tobytes()


def test_text_that_is_not_kept_is_not_made_unless_wanted(tmp_path: Path) -> None:
    asked: list[int] = []
    program = Written(("doubled", "when wanted"), lambda lanes: (asked.append(lanes), DOUBLED))
    home = target("cpu")
    with fw.options(cache_dir=str(tmp_path)):
        assert home.compile(program, current(), make=False) is None and not asked
        home.compile(program, current())
        assert home.compile(program, current(), make=False) is not None and len(asked) == 1


def test_launches_units_of_python() -> None:
    values = np.arange(50.0)

    def code(words: Any, unit: int) -> None:
        words[0][unit] *= 2

    target("reference").launch(code, [values], len(values))
    assert values.tobytes() == (2 * np.arange(50.0)).tobytes()


def test_other_packages_give_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point is looked up by its name, and its module runs kernels and arrays."""
    module = ModuleType("elsewhere")
    for name in ("features", "compile", "allocate", "copy", "launch", "describe"):
        setattr(module, name, getattr(target("reference"), name))
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    given = EntryPoints([EntryPoint("mine", "elsewhere", targets.GROUP)])
    monkeypatch.setattr(metadata, "entry_points", lambda **asked: given.select(**asked))
    a, b = np.arange(1000.0), np.zeros(1000)
    with fw.options(target="mine"):
        assert target() is module
        scaled(a, b, 3.0)
        total = float((fw.asarray(a) * 2.0).sum())
    assert b.tolist() == (3.0 * a).tolist() and total == 2.0 * a.sum()
    del targets.known_targets["mine"]
    with pytest.raises(OptionError, match="target"), fw.options(target="nobody's"):
        pass
