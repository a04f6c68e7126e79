"""The user's code is compiled once: redirected code is kept on disk by its source, everything else
as Python keeps it; and whose a module is, is decided once for its folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.conftest import fresh

from fusewright.cli import redirect

RUN = ("-m", "fusewright", "run")
TELL = "print('fusewright.cli.rewriting' in sys.modules)"


def run(folder: Path, *words: str) -> str:
    done = fresh(*RUN, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_second_process_compiles_nothing(folder: Path) -> None:
    (folder / "near.py").write_text("import numpy as np\nname = np.__name__\n")
    (folder / "p.py").write_text(f"import sys, near\nimport numpy\nprint(near.name)\n{TELL}\n")
    assert run(folder, "p.py") == "fusewright.numpy\nTrue\n"
    assert run(folder, "p.py") == "fusewright.numpy\nFalse\n"
    text = (folder / "p.py").read_text()
    status = (folder / "p.py").stat()
    (folder / "p.py").write_text(text.replace("import numpy\n", "import numpy;"))
    os.utime(folder / "p.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run(folder, "p.py").endswith("True\n"), "another source of the same age and size"


def test_what_is_kept_belongs_to_one_file_and_one_library(folder: Path) -> None:
    """Tracebacks name the file: the same text elsewhere is other code."""
    text = "import numpy\nraise ValueError(numpy.__name__)\n"
    for name in ("a.py", "b.py", "a.py"):
        (folder / name).write_text(text)
        done = fresh(*RUN, name, cwd=folder)
        assert f"{name}" in done.stderr and "ValueError: fusewright.numpy" in done.stderr
        assert f'File "{folder / name}", line 2' in done.stderr


@pytest.mark.parametrize("damage", [b"", b"FWCACHE1", b"\0" * 200])
def test_a_damaged_entry_is_made_again(folder: Path, damage: bytes) -> None:
    (folder / "p.py").write_text(f"import sys, numpy\n{TELL}\n")
    assert run(folder, "p.py") == "True\n"
    for entry in (folder / "cache").glob("*.fwc"):
        entry.write_bytes(damage)
    assert run(folder, "p.py") == "True\n"
    assert run(folder, "p.py") == "False\n"


def test_optimisation_is_part_of_the_key(folder: Path) -> None:
    (folder / "p.py").write_text("import numpy\nprint(__debug__)\n")
    assert run(folder, "p.py") == "True\n"
    assert fresh("-O", *RUN, "p.py", cwd=folder).stdout == "False\n"
    assert run(folder, "p.py") == "True\n"


def test_each_process_warns(folder: Path) -> None:
    (folder / "p.py").write_text("import numpy\nprint(1 is 1)\n")
    for _ in range(2):
        assert "SyntaxWarning" in fresh(*RUN, "p.py", cwd=folder).stderr
    done = fresh("-W", "error", *RUN, "p.py", cwd=folder)
    assert done.returncode == 1 and "SyntaxError" in done.stderr


def test_modules_without_the_library_are_pythons(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (folder / "plain.py").write_text("loader = __loader__.__class__.__name__\n")
    (folder / "redirected.py").write_text("import numpy\n")
    (folder / "p.py").write_text("import plain, redirected\nprint(plain.loader)\n")
    assert run(folder, "p.py") == "RedirectingLoader\n"
    kept = {path.name.partition(".")[0] for path in folder.rglob("__pycache__/*.pyc")}
    assert kept == {"plain"}


def test_without_a_cache_folder_everything_runs(folder: Path) -> None:
    (folder / "p.py").write_text(f"import sys, numpy\n{TELL}\n")
    (folder / "cache").write_text("a file")
    done = fresh(*RUN, "p.py", cwd=folder)
    assert done.stdout == "True\n" and "CacheWarning" in done.stderr


def test_a_folder_is_decided_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    resolve = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda path: looks.append(path) or resolve(path))
    user = redirect.UserModules([str(tmp_path)])
    looks.clear()
    packages = [tmp_path / "a", tmp_path / "a" / "site-packages" / "b", Path(os.__file__).parent]
    for folder in packages:
        found = {user.owns(str(folder / f"m{k}.py")) for k in range(100)}
        assert found == {folder == tmp_path / "a"}
    assert len(looks) == len(packages)


def test_links_are_followed(tmp_path: Path) -> None:
    for name in ("own", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "own" / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "own")
    (tmp_path / "own" / "sub").mkdir()
    user = redirect.UserModules([str(tmp_path / "own")])
    assert not user.owns(str(tmp_path / "own" / "out" / "m.py"))
    assert user.owns(str(tmp_path / "elsewhere" / "back" / "sub" / "m.py"))
    assert not user.owns(str(tmp_path / "ownership" / "m.py"))


def test_finding_a_module_costs_little(tmp_path: Path) -> None:
    """2000 modules of an installed package: less than 20 ms on top of what Python takes."""
    package = tmp_path / "site-packages" / "many"
    package.mkdir(parents=True)
    for k in range(500):
        (package / f"m{k}.py").write_text("")
    (package / "__init__.py").write_text("")
    code = (
        "import sys, time, importlib; sys.path.insert(0, 'site-packages'); import many\n"
        "t = time.process_time()\n"
        "for k in range(500): importlib.util.find_spec(f'many.m{k}')\n"
        "print(time.process_time() - t)"
    )
    (tmp_path / "p.py").write_text("import importlib.util\n" + code)

    def seconds(*words: str) -> float:
        command = [sys.executable, *words, "p.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return float(done.stdout)

    plain = min(seconds() for _ in range(4))
    assert min(seconds(*RUN) for _ in range(4)) < plain + 0.02
