"""What Fusewright rests on in the interpreter: its lock, and counts of references that mean the
same in every version.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import fusewright
from fusewright._core import native

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
PROGRAM = """
import sys
import fusewright as fw, numpy as np
print(float((fw.asarray(np.ones(3)) + 1.0).sum()), getattr(sys, "_is_gil_enabled", bool)())
"""


def script(text: str, *flags: str, **settings: str) -> Any:
    known = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    return subprocess.run(
        [sys.executable, *flags, "-c", text], env=known | settings,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_without_the_lock_the_import_fails() -> None:
    """Whatever the interpreter: as one answers whose lock is off for good."""
    text = "import sys; sys._is_gil_enabled = lambda: False" + PROGRAM
    for chosen in ("0", "1"):
        done = script(text, FUSEWRIGHT_NATIVE=chosen)
        assert done.returncode == 1 and not done.stdout
        said = done.stderr.splitlines()[-3:]
        assert said[0].startswith("ImportError: Fusewright does not run without the global")
        assert said[2] == "help: run with PYTHON_GIL=1 or -X gil=1"
    again = "import sys; sys._is_gil_enabled = lambda: False\n" + 3 * (
        "try: import fusewright\nexcept ImportError as error: print('refused')\n"
    )
    assert script(again).stdout == "refused\n" * 3


@pytest.mark.skipif(native is None or FREE_THREADED, reason="the core changes the answer")
def test_switching_the_lock_on_is_said_once() -> None:
    """As an interpreter answers whose lock the core switches on."""
    text = "import sys; sys._is_gil_enabled = lambda: 'fusewright._core._native' in sys.modules"
    text += "\nimport sys" + PROGRAM + "import fusewright.numpy"
    if sys.version_info < (3, 13):  # `warn` takes no prefixes; no such interpreter warns here
        text = text.replace("import sys;", "import sys, warnings; real = warnings.warn;", 1)
        text = text.replace("\nimport sys", _WITHOUT_PREFIXES, 1)
    done = script(text)
    assert done.returncode == 0 and done.stdout == "5.0 True\n".replace("5", "6"), done.stderr
    assert done.stderr.count("RuntimeWarning: Fusewright needs the global interpreter lock") == 1


_WITHOUT_PREFIXES = (
    "\nwarnings.warn = lambda *given, skip_file_prefixes=(), **more: real(*given, **more)"
)


@pytest.mark.skipif(not FREE_THREADED, reason="for free-threaded interpreters")
def test_a_free_threaded_interpreter() -> None:
    on = script(PROGRAM)
    assert on.stdout == ("6.0 True\n" if native is not None else ""), on.stderr
    if native is not None:
        assert on.stderr.count("RuntimeWarning") == 1 and "<string>:3: " in on.stderr
    assert script(PROGRAM, "-W", "error", PYTHON_GIL="1").stdout == "6.0 True\n"
    assert script(PROGRAM, "-W", "error", PYTHON_GIL="1", FUSEWRIGHT_NATIVE="0").stdout
    for off in ({"PYTHON_GIL": "0"}, {"FUSEWRIGHT_NATIVE": "0"}):
        done = script(PROGRAM, **off)
        assert done.returncode == 1 and "ImportError: Fusewright does not run" in done.stderr


NAMED = {  # these two ask about what the caller's variables hold, and say what they do about it
    ("frontends/arrays/creation.py", "obj"),
    ("frontends/arrays/methods.py", "self"),
    ("frontends/arrays/shaping.py", "self"),
}


def test_no_variables_references_are_counted() -> None:
    """From CPython 3.14 on a call borrows what a variable holds: such counts are one less there."""
    found = set()
    folder = Path(fusewright.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("getrefcount"):
                (counted,) = node.args
                if not isinstance(counted, ast.Subscript | ast.Attribute):
                    found.add((path.relative_to(folder).as_posix(), ast.unparse(counted)))
    assert found == NAMED
