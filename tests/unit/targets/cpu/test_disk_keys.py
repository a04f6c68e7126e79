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
BEGINS = {
    "arrays": ("targets/cpu/build.py", "targets/cpu/native.py", "targets/cpu/stored_programs.py"),
    "loops": ("targets/cpu/loops.py",),
    "products": ("targets/cpu/products.py",),
    "recurrences": (
        "targets/cpu/recurrences.py",
        "integrals/classes.py",
        "integrals/narrow.py",
        "codegen/recurrences",
    ),
}
"""Where what becomes code of each kind begins."""
RUNS = tuple(f"fusewright.{name}" for name in ("_core", "base", "runtime", "targets"))
"""What runs code, or says what is wrong: imports from here lead nowhere else, and only what
`GENERATORS` names has a part in code."""
ASKED = ("fusewright.machine",)
"""What is read while programs run, but for the files that decide plans."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, at another place and with other times."""
    return Path(shutil.copytree(
        SOURCES, tmp_path / "elsewhere" / "fusewright", copy_function=shutil.copyfile,
        ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.bin"),
    ))  # fmt: skip


@pytest.mark.parametrize("kind", generator.GENERATORS)
def test_copies_and_times_do_not_count(package: Path, kind: str) -> None:
    first = generator.contents(str(package), generator.GENERATORS[kind])
    assert first == generator.contents(generator.ROOT, generator.GENERATORS[kind])
    for path in package.rglob("*.py"):
        os.utime(path, ns=(1, 1))
    assert generator.contents(str(package), generator.GENERATORS[kind]) == first


COUNT = {
    "plan/fuse.py": {"arrays"},
    "codegen/lanes.py": {"arrays", "loops"},
    "plan/loops/fuse/profit.py": {"loops"},
    "ir/ops.py": {"arrays", "loops"},
    "ir/expr.py": {"arrays", "loops", "products", "recurrences"},
    "_core/program.c": {"arrays"},
    "codegen/products/blocks.py": {"products"},
    "plan/recurrences/order.py": {"recurrences"},
    "integrals/families.py": {"recurrences"},
    "codegen/spell.py": {"arrays", "loops", "products", "recurrences"},
    "_core/node.c": set(),
    "cli/main.py": set(),
    "numpy/filling.py": set(),
    "frontends/arrays/views.py": set(),
    "integrals/fock.py": set(),
    "targets/cpu/trial.py": set(),
}


@pytest.mark.parametrize("name", COUNT)
def test_a_source_counts_for_the_code_that_it_decides(package: Path, name: str) -> None:
    first = dict(line.split() for line in generator.versions(str(package)).splitlines())
    content = bytearray((package / name).read_bytes())
    content[-2] ^= 1
    (package / name).write_bytes(content)
    second = dict(line.split() for line in generator.versions(str(package)).splitlines())
    assert {kind for kind in first if first[kind] != second[kind]} == COUNT[name]


def test_a_file_more_or_renamed_counts(package: Path) -> None:
    names = generator.GENERATORS["arrays"]
    first = generator.contents(str(package), names)
    (package / "plan" / "new.py").write_text("")
    second = generator.contents(str(package), names)
    (package / "plan" / "new.py").rename(package / "plan" / "newer.py")
    assert len({first, second, generator.contents(str(package), names)}) == 3


def test_changes_are_seen_and_remembered(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "ROOT", str(package))
    monkeypatch.setattr(generator, "FILE", str(package / "none"))
    find = partial(generator.version.__wrapped__, "arrays")
    first = find()
    assert first == generator.contents(str(package), generator.GENERATORS["arrays"])
    with monkeypatch.context() as changed:
        changed.setattr(generator, "contents", lambda *arguments: "read again")
        assert find() == first
        (package / "plan" / "fuse.py").write_text("changed")
        assert find() == "read again"


def test_an_installed_package_brings_it_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "generator.digest").write_text(built := generator.versions(generator.ROOT))
    monkeypatch.setattr(generator, "FILE", str(tmp_path / "generator.digest"))
    found = (f"{kind} {generator.version.__wrapped__(kind)}\n" for kind in generator.GENERATORS)
    assert "".join(found) == built


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


def _reached(begin: tuple[str, ...]) -> set[str]:
    """All files whose content code may depend on, from where it begins."""
    reached: set[str] = set()
    files = (path for path in MODULES.values()
             if path.relative_to(SOURCES).as_posix().startswith(begin))  # fmt: skip
    first = {_module(path) for path in files}
    found = list(first)
    while found:
        name = found.pop()
        if name not in reached and not name.startswith(ASKED):
            reached.add(name)
            if name in first or not name.startswith(RUNS):
                imported = set(_imports(ast.parse(MODULES[name].read_text())))
                found += MODULES.keys() & imported - {"fusewright"}
    modules = (MODULES[name] for name in reached if not name.startswith(RUNS))
    return {path.relative_to(SOURCES).as_posix() for path in modules if path.stem != "__init__"}


def _counted(names: tuple[str, ...]) -> set[str]:
    return {name.removeprefix("/") for name, _ in generator.files(generator.ROOT, names)}


@pytest.mark.parametrize("kind", generator.GENERATORS)
def test_nothing_else_is_reached_by_what_generates_code(kind: str) -> None:
    assert not _reached(BEGINS[kind]) - _counted(generator.GENERATORS[kind])


@pytest.mark.parametrize("kind", generator.GENERATORS)
def test_nothing_is_counted_that_is_not_reached(kind: str) -> None:
    reached = _reached(BEGINS[kind])
    for name in generator.GENERATORS[kind]:
        decides = name.startswith(("_core", "base", "ir/store", "machine", "runtime", "targets"))
        assert decides or _counted((name,)) & reached, f"{kind} do not depend on {name}"


def test_keys_differ_with_kind_and_structure() -> None:
    keys = (("a", 1), ("a", 2), ("a", 1, True))
    names = {disk_keys.disk_key(kind, key) for kind in generator.GENERATORS for key in keys}
    assert len(names) == 12 and all(name.isalnum() and len(name) == 64 for name in names)
