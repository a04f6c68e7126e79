"""The names of compiled code on disk: another one for whatever may change the code, and for nothing
else.
"""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from fusewright.targets.cpu import disk_keys, generator

SOURCES = Path(generator.ROOT)
COMPILE = (
    "codegen",
    "plan",
    "targets/cpu/build.py",
    "targets/cpu/loops.py",
    "targets/cpu/lower.py",
)
"""Where what becomes code begins."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, at another place and with other times."""
    return Path(shutil.copytree(
        SOURCES, tmp_path / "elsewhere" / "fusewright", copy_function=shutil.copyfile,
        ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.bin"),
    ))  # fmt: skip


def test_copies_and_times_do_not_count(package: Path) -> None:
    first = generator.contents(str(package))
    assert first == generator.contents(generator.ROOT)
    for path in package.rglob("*.py"):
        os.utime(path, ns=(1, 1))
    assert generator.contents(str(package)) == first


@pytest.mark.parametrize("name", ["plan/fuse.py", "codegen/lanes.py", "ir/ops.py", "_core/node.c"])
def test_what_generates_code_counts(package: Path, name: str) -> None:
    first = generator.contents(str(package))
    content = bytearray((package / name).read_bytes())
    content[-2] ^= 1
    (package / name).write_bytes(content)
    assert generator.contents(str(package)) != first


@pytest.mark.parametrize("name", ["cli/main.py", "numpy/shapes.py", "frontends/arrays/views.py"])
def test_what_records_or_shows_does_not(package: Path, name: str) -> None:
    first = generator.contents(str(package))
    (package / name).write_text("# nothing that code depends on\n")
    assert generator.contents(str(package)) == first


def test_a_file_more_or_renamed_counts(package: Path) -> None:
    first = generator.contents(str(package))
    (package / "plan" / "new.py").write_text("")
    second = generator.contents(str(package))
    (package / "plan" / "new.py").rename(package / "plan" / "newer.py")
    assert len({first, second, generator.contents(str(package))}) == 3


def test_changes_are_seen_and_remembered(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "ROOT", str(package))
    monkeypatch.setattr(generator, "FILE", str(package / "none"))
    find = partial(generator.of_sources.__wrapped__, generator.PACKAGES)
    first = find()
    assert first == generator.contents(str(package))
    with monkeypatch.context() as changed:
        changed.setattr(generator, "contents", lambda *arguments: "read again")
        assert find() == first
        (package / "plan" / "fuse.py").write_text("changed")
        assert find() == "read again"


def test_an_installed_package_brings_it_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "generator.digest").write_text("as it was built")
    monkeypatch.setattr(generator, "FILE", str(tmp_path / "generator.digest"))
    assert generator.version.__wrapped__() == "as it was built"


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


MODULES = {_module(path): path for path in SOURCES.rglob("*.py")}


def _imports(tree: ast.AST) -> Iterator[str]:
    """Every module that a module may import when it runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for other in node.orelse:
                yield from _imports(other)
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{name.name}" for name in node.names))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # of what is loaded later
        yield from _imports(node)


def _reached(begin: tuple[str, ...], beyond: tuple[str, ...] = ()) -> set[str]:
    """All modules that those of these files and folders may load, but not through `beyond`."""
    reached: set[str] = set()
    found = [name for name, path in MODULES.items()
             if path.relative_to(SOURCES).as_posix().startswith(begin)]  # fmt: skip
    while found:
        name = found.pop()
        if name not in reached and not name.startswith(beyond):
            reached.add(name)
            imported = set(_imports(ast.parse(MODULES[name].read_text())))
            found += MODULES.keys() & imported - {"fusewright"}
    return reached


def test_nothing_else_is_reached_by_what_generates_code() -> None:
    packages = {name.split(".")[1] for name in _reached(COMPILE) if "." in name}
    assert packages <= set(generator.PACKAGES)
    assert "codegen" in packages and "runtime" in packages


RUNS = tuple(f"fusewright.{name}" for name in (
    "base", "runtime", "targets.cpu", "targets.target", "targets.executable", "_core",
))  # fmt: skip
"""What runs code, or says what is wrong, and has no part in what the code of recurrences is."""


def test_what_the_code_of_recurrences_depends_on() -> None:
    counted = tuple(
        f"fusewright.{name.removesuffix('.py').replace('/', '.')}" for name in generator.RECURRENCES
    )
    begin = (each for each in generator.RECURRENCES if not each.startswith(("runtime", "targets")))
    reached = _reached(tuple(begin), RUNS)
    packages = {name for name in reached if MODULES[name].name == "__init__.py"}
    assert not {name for name in reached - packages if not name.startswith(counted)}
    assert "fusewright.plan.recurrences.choose" in reached


def test_other_generators_do_not_count_for_recurrences(package: Path) -> None:
    first = generator.contents(str(package), generator.RECURRENCES)
    for name in ("plan/fuse.py", "codegen/lanes.py", "integrals/fock.py", "numpy/shapes.py"):
        (package / name).write_text("# nothing that recurrences depend on\n")
        assert generator.contents(str(package), generator.RECURRENCES) == first
    for name in ("plan/recurrences/order.py", "integrals/families.py", "codegen/spell.py"):
        (package / name).write_text("# everything\n")
        second = generator.contents(str(package), generator.RECURRENCES)
        assert second != first
        first = second


def test_keys_differ_with_the_structure() -> None:
    keys = {disk_keys.disk_key(key) for key in (("a", 1), ("a", 2), ("a", 1, True))}
    assert len(keys) == 3 and all(key.isalnum() and len(key) == 64 for key in keys)
