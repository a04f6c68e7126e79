"""A program ends under `fusewright run` exactly as it ends under `python`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli.conftest import fresh

Run = Callable[..., tuple[int, str, str]]

ENDINGS = {
    "well": "print('done')",
    "exit": "import sys; sys.exit()",
    "exit 0": "raise SystemExit(0)",
    "exit 3": "import sys; sys.exit(3)",
    "exit text": "import sys; sys.exit('could not')",
    "raise": """
        def f(x):
            return (1.0 +
                    x / 0)
        f(2)
    """,
    "chain": """
        try:
            {}['a']
        except KeyError as error:
            raise ValueError("no a") from error
    """,
    "hook": """
        import sys
        sys.excepthook = lambda kind, value, tb: print("hooked", kind.__name__, tb.tb_lineno)
        raise RuntimeError("x")
    """,
    "syntax": "x = (1,\ny = 2\n",
    "threads": """
        import threading, time
        def work():
            time.sleep(0.05)
            import numpy.fft
            print("worked")
        threading.Thread(target=work).start()
        1 / 0
    """,
    "atexit": "import atexit; atexit.register(print, 'last'); raise SystemExit(4)",
}


@pytest.mark.parametrize("text", ENDINGS.values(), ids=ENDINGS)
def test_ends_as_python_ends_it(folder: Path, text: str) -> None:
    (folder / "p.py").write_text("import numpy as np\n" + textwrap.dedent(text))
    python = fresh("p.py", cwd=folder)
    ours = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    assert ours.returncode == python.returncode
    assert ours.stdout == python.stdout
    assert ours.stderr == python.stderr


def test_a_library_that_we_bring_along_is_not_missing(folder: Path) -> None:
    (folder / "p.py").write_text("import pykokkos as pk\n")
    done = fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == [
        "ModuleNotFoundError: No module named 'pykokkos'",
        "help: `fusewright run --as pykokkos ...` runs the program without it",
    ]


def test_sees_what_python_shows_it(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "p.py").write_text(
        "import sys\n"
        "print(sys.argv, sys.path[0], __file__, __name__, __package__, __spec__)\n"
        "import __main__; print(__main__.__dict__ is globals(), sorted(k for k in globals()))\n"
    )
    words = ("sub/p.py", "--explain", "-x", "1")
    python, ours = fresh(*words, cwd=folder), fresh("-m", "fusewright", "run", *words, cwd=folder)
    assert ours.stdout == python.stdout


def test_module(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "pkg" / "side.py").write_text("import numpy\n")
    (folder / "pkg" / "__main__.py").write_text(
        "import sys\nfrom . import side\n"
        "print(sys.argv, __name__, __package__, __spec__.name)\n"
        "print(side.numpy.__name__, file=sys.stderr)\n"
    )
    words = ("-m", "pkg", "a", "--threads")
    python, ours = fresh(*words, cwd=folder), fresh("-m", "fusewright", "run", *words, cwd=folder)
    assert (python.returncode, ours.returncode) == (0, 0), ours.stderr
    assert ours.stdout == python.stdout
    assert ours.stderr.startswith("fusewright.numpy\n")


def test_installed_module(run: Run) -> None:
    code, out, _ = run("-m", "json.tool", "--help")
    assert code == 0
    assert out.startswith("usage:")


def test_standard_input(folder: Path) -> None:
    text = "import sys, numpy\nprint(sys.argv, repr(sys.path[0]), numpy.__name__)\n1 / 0\n"
    done = fresh("-m", "fusewright", "run", "-", "a", cwd=folder, stdin=text)
    assert done.returncode == 1
    assert done.stdout == "['-', 'a'] '' fusewright.numpy\n"
    assert 'File "<stdin>", line 3' in done.stderr


def test_folder(run: Run, folder: Path) -> None:
    (folder / "app").mkdir()
    (folder / "app" / "part.py").write_text("import numpy\n")
    (folder / "app" / "__main__.py").write_text("import part\nprint(part.numpy.__name__)\n")
    assert run("app")[:2] == (0, "fusewright.numpy\n")


def test_interrupted(folder: Path) -> None:
    (folder / "p.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = fresh("-m", "fusewright", "run", "--report", "r.html", "p.py", cwd=folder)
    assert done.returncode == 130
    assert "KeyboardInterrupt" in done.stderr
    assert "KeyboardInterrupt" in (folder / "r.html").read_text()


def test_plain_leaves_numpy_alone(run: Run, folder: Path) -> None:
    (folder / "p.py").write_text("import numpy as np\nprint(np.__name__)")
    assert run("--plain", "p.py")[:2] == (0, "numpy\n")


def test_a_module_of_the_program_shadows_none_of_ours(folder: Path) -> None:
    for name in ("rich", "jinja2", "linecache", "statistics"):
        (folder / f"{name}.py").write_text("raise RuntimeError('not for you')\n")
    (folder / "p.py").write_text("import numpy as np\nprint(float(np.ones(3).sum()))")
    words = ("run", "--explain", "--report", str(folder / "r.html"), str(folder / "p.py"))
    done = fresh("-m", "fusewright", *words, cwd=folder.parent)
    assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr
    assert (folder / "r.html").exists()


@pytest.mark.parametrize("text", ["x = (1,\n", "1 / 0\n", "import no_such_module\n"])
def test_a_module_beside_it_that_fails(folder: Path, text: str) -> None:
    (folder / "beside.py").write_text("import numpy\n" + text)
    (folder / "p.py").write_text("import numpy\nimport beside\n")
    python, ours = fresh("p.py", cwd=folder), fresh("-m", "fusewright", "run", "p.py", cwd=folder)
    assert (ours.returncode, ours.stderr) == (1, python.stderr)


def test_imports_touch_no_fresh_memory_whatever_they_stand_on(tmp_path: Path) -> None:
    """Under `python -m`, two frames deeper, NumPy's import crossed the end 800 times."""
    (tmp_path / "p.py").write_text(
        "import resource, numpy\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)\n"
    )
    found = []
    for depth in (0, *range(0, 60, 4)):
        text = f"""
from fusewright.cli.main import main
def down(depth): return down(depth - 1) if depth else main(["run", "p.py"])
down({depth})
"""
        found.append(int(fresh("-c", text, cwd=tmp_path).stdout))
    _, *found = found  # the first writes what the others read
    assert max(found) - min(found) < 400, found


def test_calls_of_any_depth_touch_no_fresh_memory(tmp_path: Path) -> None:
    """CPython maps and unmaps memory at each call that crosses the end of a piece of its stack of
    frames; a program's frames have room in one piece.
    """
    (tmp_path / "p.py").write_text(
        """
import resource
def down(depth): return down(depth - 1) if depth else 0
def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
down(600)
before = faults()
for _ in range(2000): down(600)
print(faults() - before)
"""
    )
    done = fresh("-m", "fusewright", "run", "p.py", cwd=tmp_path)
    assert int(done.stdout) < 500
