"""Who gets the drop-in: the user's modules, in every way an import can be written; nobody else."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from fusewright.cli.redirect import compile_redirected

Run = Callable[..., tuple[int, str, str]]

FORMS = {
    "import numpy": "numpy.__name__",
    "import numpy as np": "np.__name__",
    "import os, numpy as np, sys": "np.__name__",
    "import numpy.linalg": "numpy.__name__",
    "from numpy import linalg as la; import numpy": "numpy.__name__",
    "import importlib; np = importlib.import_module('numpy')": "np.__name__",
    "from importlib import import_module; np = import_module('numpy')": "np.__name__",
    "np = __import__('numpy')": "np.__name__",
}


@pytest.mark.parametrize(("statement", "name"), FORMS.items(), ids=FORMS)
def test_every_way_to_import_it(run: Run, folder: Path, statement: str, name: str) -> None:
    (folder / "p.py").write_text(f"{statement}\nprint({name})\n")
    assert run("p.py") == (0, "fusewright.numpy\n", "")


def test_names_imported_from_it(run: Run, folder: Path) -> None:
    program = """
        from numpy import sqrt as root, ones
        from numpy.linalg import solve
        import numpy.fft as f
        import fusewright.numpy as drop_in
        print(root is drop_in.sqrt, ones is drop_in.ones, callable(solve), callable(f.fft))
    """
    (folder / "p.py").write_text(textwrap.dedent(program))
    assert run("p.py")[:2] == (0, "True True True True\n")


def test_star(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text(
        "from numpy import *\nprint(ones.__module__, float(ones(3).sum()))"
    )
    code, out, _ = run("p.py")
    assert code == 0
    assert not out.startswith("numpy ") and out.endswith(" 3.0\n")


def test_only_the_drop_in_is_bound(run: Run, folder: Path) -> None:
    before = "names = set(globals())\n"
    after = "print(sorted(set(globals()) - names - {'names'}))\n"
    (folder / "p.py").write_text(before + "import numpy.linalg\nimport numpy as np\n" + after)
    assert run("p.py")[1] == "['np', 'numpy']\n"


def test_in_a_function_and_in_a_class(run: Run, folder: Path) -> None:
    program = """
        def f():
            import numpy as np
            return np.__name__
        class C:
            import numpy
        print(f(), C.numpy.__name__, "np" in globals())
    """
    (folder / "p.py").write_text(textwrap.dedent(program))
    assert run("p.py")[1] == "fusewright.numpy fusewright.numpy False\n"


def test_numpys_own_submodules_stay_reachable(run: Run, folder: Path) -> None:
    program = """
        import numpy.polynomial
        from numpy.polynomial import Polynomial
        import numpy.f2py as t
        print(numpy.polynomial.Polynomial is Polynomial, Polynomial.__module__, t.__name__)
    """
    (folder / "p.py").write_text(textwrap.dedent(program))
    code, out, _ = run("p.py")
    assert (code, out) == (0, "True numpy.polynomial.polynomial numpy.f2py\n")


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("import numpy.nothing", "ModuleNotFoundError: No module named"),
        ("from numpy import nothing_like_it", "ImportError: cannot import name 'nothing_like_it'"),
    ],
)
def test_what_is_not_there(run: Run, folder: Path, statement: str, error: str) -> None:
    (folder / "p.py").write_text(statement)
    code, _, err = run("p.py")
    assert code == 1
    assert error in err


def test_array_methods_return_numpys_arrays(run: Run, folder: Path) -> None:
    """C code that asks an object for its array takes one of NumPy's, in the object's memory."""
    program = """
        import math
        import numpy as np
        class Signal:
            def __init__(self):
                self.values = np.arange(2000) * 1.0
            def __array__(self, dtype=None, copy=None):
                "Its line numbers stay."
                def other():
                    return type(self.values * 2).__name__
                if dtype is not None:
                    return self.values.astype(dtype)
                if other() == "copied" or copy:
                    return self.values.copy()
                return self.values
        class Empty:
            def __array__(self, dtype=None, copy=None):
                return
        x = Signal()
        print(np.sin(x).shape, np.stack([x, x]).sum(), np.array([x, x]).shape, np.max(x))
        print((np.ones(2000) + x).sum(), np.asarray(x, dtype="f4").dtype, np.array(x)[-1])
        np.asarray(x)[3] = 100
        print(x.values[3], memoryview(np.asarray(x))[3], x.__array__.__doc__)
        print(x.__array__.__code__.co_firstlineno, memoryview(x.__array__()).readonly)
        print(type(x.values * 2) is type(x.__array__() * 2))
        try:
            np.asarray(Empty())
        except ValueError:
            print("refused")
    """
    (folder / "p.py").write_text(textwrap.dedent(program))
    code, out, err = run("p.py")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "(2000,) 3998000.0 (2, 2000) 1999.0", "2001000.0 float32 1999.0",
        "100.0 100.0 Its line numbers stay.", "7 False", "True", "refused",
    ]  # fmt: skip


def test_protocol_methods_get_the_drop_ins_functions(run: Run, folder: Path) -> None:
    """What NumPy calls with a function of its own, a program compares with what it imported."""
    program = """
        import numpy as np
        HANDLED = {np.sum: "sum", np.linalg.norm: "norm", np.concatenate: "joined"}
        class Duck:
            def __array_function__(self, func, types, args, kwargs):
                "Its line numbers stay."
                return HANDLED.get(func, "other")
            def __array_ufunc__(self, ufunc, method, /, *inputs, **kwargs):
                return "plus" if ufunc is np.add else "other"
        class Kind(np.ndarray):
            def __array_function__(self, func, types, args, kwargs):
                return func is np.sum, int(super().__array_function__(func, types, args, kwargs))
        x = Duck()
        print(np.sum(x), np.linalg.norm(x), np.concatenate([x, x]), np.mean(x))
        print(np.add(x, 1), np.sqrt(x), np.ones(5000) + x, np.concatenate([np.ones(5000), x]))
        print(np.sum(np.arange(3).view(Kind)), Duck.__array_function__.__doc__)
        print(Duck.__array_function__.__code__.co_firstlineno)
    """
    (folder / "p.py").write_text(textwrap.dedent(program))
    code, out, err = run("p.py")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "sum norm joined other", "plus other plus joined", "(True, 3) Its line numbers stay.", "5"
    ]  # fmt: skip


def test_modules_beside_the_script(run: Run, folder: Path) -> None:
    (folder / "near").mkdir()
    (folder / "near" / "__init__.py").write_text("from . import deep\nimport numpy as np\n")
    (folder / "near" / "deep.py").write_text("import numpy as np\n")
    (folder / "beside.py").write_text("import numpy as np\n")
    (folder / "p.py").write_text(
        "import beside, near\nprint(*[m.np.__name__ for m in (beside, near, near.deep)])"
    )
    assert run("p.py")[1] == " ".join(["fusewright.numpy"] * 3) + "\n"
    assert not list(folder.rglob("beside*.pyc")), "rewritten code must not reach __pycache__"


def test_installed_packages_keep_numpy(run: Run, folder: Path) -> None:
    installed = folder / "env" / "lib" / "python3" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "tool.py").write_text(
        "import numpy as np\nimport importlib\nm = importlib.import_module('numpy')\n"
    )
    (folder / "p.py").write_text(
        f"import sys\nsys.path.append({str(installed)!r})\nimport tool, numpy\n"
        "print(tool.np.__name__, tool.m.__name__, sys.modules['numpy'].__name__, numpy.__name__)"
    )
    assert run("p.py")[1] == "numpy numpy numpy fusewright.numpy\n"


def test_a_folder_that_the_program_puts_on_its_path_is_its_own(
    run: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "distant.py").write_text("import numpy as np\n")
    (elsewhere / "parts").mkdir()
    (elsewhere / "parts" / "deep.py").write_text("import numpy as np\n")
    (folder / "p.py").write_text(
        f"import sys\nsys.path.append({str(elsewhere)!r})\n"
        "import distant, parts.deep\nprint(distant.np.__name__, parts.deep.np.__name__)"
    )
    assert run("p.py")[1] == "fusewright.numpy fusewright.numpy\n"
    for name in ("distant", "parts", "parts.deep"):
        del sys.modules[name]


def test_a_module_on_the_path_of_the_interpreter_keeps_numpy(
    run: Run,
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "distant.py").write_text("import numpy as np\n")
    monkeypatch.syspath_prepend(str(elsewhere))
    (folder / "p.py").write_text("import distant\nprint(distant.np.__name__)")
    assert run("p.py")[1] == "numpy\n"
    del sys.modules["distant"]


def test_numpy_itself_stays(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text("import numpy, sys\nprint(sys.modules['numpy'] is numpy)")
    assert run("p.py")[1] == "False\n"
    assert sys.modules["numpy"] is numpy


def test_lines_and_columns_stay() -> None:
    source = "import numpy, os\nimport numpy.linalg\nx = 1\n\ndef f():\n    return numpy\n"
    plain = compile(source, "p.py", "exec")
    ours = compile_redirected(source, "p.py")
    assert {n for _, n, *_ in plain.co_positions()} == {n for _, n, *_ in ours.co_positions()}
    inner = next(c for c in plain.co_consts if hasattr(c, "co_code"))
    rewritten = next(c for c in ours.co_consts if hasattr(c, "co_code"))
    assert list(inner.co_positions()) == list(rewritten.co_positions())


def test_relative_imports_and_other_names_stay() -> None:
    source = "from .numpy import x\nimport numpyro\nfrom . import numpy\nimport a.numpy as b\n"
    assert compile_redirected(source, "p.py").co_names == compile(source, "p.py", "exec").co_names


SUBMODULES = """
import importlib
import sys
import numpy as np
import numpy._core.umath as ncu
import numpy._core._multiarray_tests
import numpy.lib._function_base_impl
import numpy.linalg._umath_linalg
import numpy.random.mtrand
import numpy.ma.core
from numpy._core import multiarray, sctypes
from numpy._core.multiarray import CLIP
from numpy.ma import core

importlib.import_module("numpy._core.getlimits")
twice = [
    name for name, each in list(sys.modules.items()) if name.startswith("fusewright.numpy.")
    if each.__name__.startswith("numpy.") and sys.modules[each.__name__] is not each
    or each.__name__.startswith("fusewright.") and "/fusewright/" not in (each.__file__ or "")
]
print(ncu.__name__, np.ma.core is core, twice)
"""


def test_submodules_that_the_drop_in_lacks_are_numpys_own_and_load_once(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SUBMODULES)
    done = subprocess.run(
        [sys.executable, "-m", "fusewright", "run", str(tmp_path / "program.py")],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["numpy._core.umath", "True", "[]"], done.stderr
