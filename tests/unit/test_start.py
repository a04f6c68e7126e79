"""What a process loads before it needs it: nothing; and that what comes later is really there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.conftest import fresh

import fusewright
from fusewright._core import native
from fusewright.base.later import Later

SAY = "import sys; print(*sys.modules)"
DRIVEN = (
    "analysis", "codegen", "driver", "inspection", "kernels", "machine", "plan", "public", "replay",
    "rules", "targets",
)  # fmt: skip
"""Modules and packages of ours that nobody needs before the first value of an array of ours."""
HEAVY = frozenset(
    (
        "argparse", "hashlib", "importlib.metadata", "importlib.resources", "inspect", "ipaddress",
        "islpy", "jinja2", "json", "llvmlite", "logging", "pathlib", "platform", "pygments", "rich",
        "selectors", "shutil", "subprocess", "sysconfig", "tempfile", "urllib",
    )
)  # fmt: skip


def loaded(folder: Path, text: str, *words: str) -> set[str]:
    """The modules in a process of its own when it has run a program that ends with `SAY`."""
    (folder / "p.py").write_text(f"{text}\n{SAY}\n")
    done = fresh(*words, "p.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] == "fusewright"}


RUN = ("-m", "fusewright", "run")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for a program, where no variable of ours is set."""
    for row in fusewright.base.options.TABLE.values():
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_an_empty_program_loads_nothing(empty: Path) -> None:
    more = loaded(empty, "", *RUN) - loaded(empty, "")
    assert "numpy" not in more and not HEAVY & more
    assert len(ours(more)) <= 13, sorted(ours(more))


@pytest.mark.parametrize(
    "program",
    [
        "import numpy as np",
        "import numpy as np; x = np.zeros(5); x[1] = 2; y = np.dot(x, x) + np.arange(7)[:5]",
        "import numpy as np; x = np.arange(5000.0); y = x + 1; y[3] = 2; n = x.shape",
    ],
    ids=["nothing", "small", "pending"],
)
def test_a_program_without_large_arrays_loads_no_compiler(empty: Path, program: str) -> None:
    more = loaded(empty, program, *RUN) - loaded(empty, program)
    assert not HEAVY & more, sorted(HEAVY & more)
    compiler = {n for n in ours(more) if n.split(".")[1:2] and n.split(".")[1] in DRIVEN}
    assert not compiler, sorted(compiler)
    assert {n for n in ours(more) if ".runtime" in n} <= {
        "fusewright.runtime", "fusewright.runtime.cache",
    }  # fmt: skip
    assert len(ours(more)) <= 90, len(ours(more))


STEPS = """
import sys
import numpy as np
from fusewright.frontends.arrays import opaque
calls, general = [], opaque.delegate
opaque.delegate = lambda *args, **named: (calls.append(args[0]), general(*args, **named))[1]
x = np.array([[float(i * j % 7) for i in range(40)] for j in range(40)])
v = np.linspace(0.0, 1.0, 1600).reshape(40, 40)
for turn in range(40):
    if turn == 20:
        calls.clear()
    x @ x; np.dot(x, v); np.sort(v[1:]); np.fft.fft(x); np.argmax(v.reshape(-1))
print(calls, "fusewright.driver" in sys.modules)
"""


@pytest.mark.skipif(native is None, reason="the core hands memory to NumPy")
def test_library_steps_need_neither_runtime_nor_python(empty: Path) -> None:
    """The first dozen are recorded; the core runs the others by itself, on views of views, too."""
    (empty / "p.py").write_text(STEPS)
    assert fresh(*RUN, "p.py", cwd=empty).stdout == "[] False\n"


def test_importing_the_package_loads_nothing(empty: Path) -> None:
    names = ours(loaded(empty, "import fusewright as fw; fw.__version__"))
    assert names <= {"fusewright", "fusewright._core", "fusewright._core._native"}


def test_all_public_names_come_with_the_first(empty: Path) -> None:
    names = loaded(empty, "import fusewright as fw; fw.options")
    assert "fusewright.api" in names and not {"numpy.linalg", "fusewright.numpy"} < names
    code = "import fusewright as fw; fw.sync(); fw.numpy; print('__getattr__' in vars(fw))"
    assert fresh("-c", code, cwd=empty).stdout == "False\n"
    code = "from fusewright import *; print(kernel.__name__, numpy.__name__, 'driver' in globals())"
    assert fresh("-c", code, cwd=empty).stdout == "kernel fusewright.numpy False\n"


def test_a_first_value_that_numpy_computes_loads_no_driver(empty: Path) -> None:
    """It runs operation by operation, by what the core needs for that alone."""
    program = "import numpy as np; x = np.arange(200000.0); y = x * (x + 1); n = float(y[7])"
    more = loaded(empty, program, *RUN) - loaded(empty, program)
    assert not HEAVY & more, sorted(HEAVY & more)
    if native is None:
        return
    names = {name.removeprefix("fusewright.") for name in ours(more)}
    assert {name.partition(".")[2] for name in names if name.startswith("runtime.")} == {
        "blocks", "buffers", "cache", "demand", "limits", "listening", "pages",
    }  # fmt: skip
    assert "unfused" in names and not {"driver", "plan", "codegen", "rules"} & names


def test_code_on_disk_is_run_without_planner_and_compiler(empty: Path) -> None:
    """A float sum is compiled code: of the second process only its form for the core is loaded."""
    program = "import numpy as np; x = np.arange(200000.0); n = float((x * x + x).sum())"
    loaded(empty, program, *RUN)
    more = loaded(empty, program, *RUN) - loaded(empty, program)
    assert not (HEAVY - {"llvmlite"}) & more, sorted(HEAVY & more)
    assert "llvmlite.binding" not in more
    if native is None:
        return
    unwanted = {
        f"fusewright.{name}" for name in ("analysis", "codegen", "machine", "plan", "rules")
    }
    unwanted |= {f"fusewright.targets.cpu.{name}" for name in ("launch", "llvm", "runner")}
    assert "fusewright.driver" in more and not unwanted & more


def test_a_product_on_disk_is_run_without_its_generator(empty: Path) -> None:
    """Its plan is made anew; the code, and what writes it, is not."""
    program = "import numpy as np; x = np.ones((200, 200)); n = float((x @ x).sum())"
    loaded(empty, program, *RUN)
    names = {name.removeprefix("fusewright.") for name in ours(loaded(empty, program, *RUN))}
    assert "plan.chains" in names and "codegen.products.sizes" in names
    unwanted = ("codegen.products.blocks", "codegen.builder", "codegen.spell", "rules")
    assert not {name for name in names if name.startswith(unwanted)}


def test_the_first_value_brings_the_driver(empty: Path) -> None:
    code = """
import sys
import fusewright.numpy as np, fusewright.base.hooks as hooks
x = np.arange(5000.0) * 2
before = "fusewright.driver" in sys.modules, hooks.is_driver
print(before, float(x.sum()), "fusewright.driver" in sys.modules, hooks.is_driver)
"""
    out = fresh("-c", code, cwd=empty).stdout
    assert out == "(False, False) 24995000.0 True True\n"


def test_kinds_do_not_depend_on_what_is_loaded(empty: Path) -> None:
    code = """
import sys
import fusewright.numpy as np
def kinds():
    large = np.arange(5000.0)
    made = [np.zeros(3), np.zeros(3) + 1, large, large * 2, large[:5], np.sum(np.ones(4))]
    return [type(each).__module__ for each in made]
before = kinds()
assert "fusewright.driver" not in sys.modules
float((np.arange(5000.0) * 2).sum())
assert "fusewright.driver" in sys.modules
print(before == kinds(), before[0].partition(".")[0], before[2].partition(".")[0])
"""
    small = "fusewright" if native is None else "numpy"  # without the core everything is recorded
    assert fresh("-c", code, cwd=empty).stdout == f"True {small} fusewright\n"


def test_threads_may_ask_for_the_first_value_together(empty: Path) -> None:
    code = """
import threading
import fusewright.numpy as np
arrays = [np.arange(3000.0) + k for k in range(8)]
found = [0.0] * 8
def work(k):
    found[k] = float(arrays[k].sum())
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for each in threads: each.start()
for each in threads: each.join()
print(found == [4498500.0 + 3000 * k for k in range(8)])
"""
    assert fresh("-c", code, cwd=empty).stdout == "True\n"


def test_a_module_for_later_is_loaded_once_and_takes_its_place() -> None:
    namespace: dict[str, object] = {}
    namespace["colorsys"] = stand_in = Later("colorsys", namespace)
    sys.modules.pop("colorsys", None)
    assert "not loaded yet" in repr(stand_in) and "colorsys" not in sys.modules
    function = stand_in.rgb_to_hsv
    assert namespace["colorsys"] is sys.modules["colorsys"]
    assert stand_in.rgb_to_hsv is function
    with pytest.raises(AttributeError, match="nonsense"):
        _ = stand_in.nonsense


def test_names_that_are_not_there_are_refused_without_loading(empty: Path) -> None:
    code = """
import sys, fusewright
print(hasattr(fusewright, "nonsense"), "fusewright.public" in sys.modules, "jit" in dir(fusewright))
"""
    assert fresh("-c", code, cwd=empty).stdout == "False False True\n"


def test_the_collector_works_in_the_program(empty: Path) -> None:
    """What was loaded before it is left alone; what the program drops is found."""
    program = """
import gc, weakref
class Node: pass
a = Node(); a.me = a; ref = weakref.ref(a); del a
assert gc.isenabled() and gc.get_freeze_count() > 0
gc.collect()
print(ref() is None)
"""
    (empty / "p.py").write_text(program)
    assert fresh(*RUN, "p.py", cwd=empty).stdout == "True\n"


def test_what_ends_with_the_process_ends(empty: Path) -> None:
    """Files that nobody closed, exit functions, finalisers and the exit code are Python's."""
    program = """
import atexit, sys, threading, time
import numpy as np
file = open("left.txt", "w"); file.write("written")
class Last:
    def __del__(self): print("finaliser")
cycle = Last(); cycle.me = cycle
atexit.register(print, "exit function")
threading.Thread(target=lambda: (time.sleep(2.0), print("thread"))).start()
x = np.arange(10000.0)
print(float((x + x).sum()))
sys.exit(7)
"""
    (empty / "p.py").write_text(program)
    plain = fresh("p.py", cwd=empty)
    (empty / "left.txt").unlink()
    run = fresh(*RUN, "p.py", cwd=empty)
    assert (run.stdout, run.returncode) == (plain.stdout, 7)
    assert (empty / "left.txt").read_text() == "written"


def test_pipes_and_standard_output(empty: Path) -> None:
    command = [sys.executable, *RUN, "-"]
    done = subprocess.run(
        command, cwd=empty, input="print('x' * 100000, end='')", capture_output=True, text=True
    )
    assert (len(done.stdout), done.stderr, done.returncode) == (100000, "", 0)


def test_memory_that_is_wanted_first_brings_the_pool(empty: Path) -> None:
    """Content of NumPy's that is written or computed with before any value is asked for."""
    code = """
import sys
import numpy
import fusewright.numpy as np
plain = numpy.arange(6000.0)
a = np.arange(6000.0)
a[:] = plain
b = np.zeros(6000); b[10:5010] = plain[:5000]; b *= plain
c = (np.fft.fft(plain) / plain[::-1].copy().clip(1)).real
print("fusewright.driver" in sys.modules, float((a + b).sum()), round(float(c.sum()), 3))
"""
    plain = fresh("-c", code.replace("fusewright.numpy", "numpy"), cwd=empty).stdout.split()
    done = fresh("-c", code, cwd=empty)
    assert not done.stderr and done.stdout.split()[1:] == plain[1:]
