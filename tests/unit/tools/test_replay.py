"""Recordings of programs: two of the same package are equal, and seeded changes of it are found and
called what they are.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tools.replay import load, record_program
from tools.replay_diff import (
    DIFFERS,
    EQUAL,
    PARTS,
    RENAMED,
    VERDICTS,
    Change,
    compared,
    difference,
    same_but_names,
    table,
)
from tools.replay_programs import ROOT, Recorded, catalogue

PROGRAM = Recorded("loops/stencil", "loops", "stencil")
ARRAYS = Recorded("snippets/where", "script", "tests/programs/snippets/where.py")


def test_the_catalogue_has_every_kind_of_program() -> None:
    programs = catalogue()
    assert len({program.name for program in programs}) == len(programs)
    families = Counter(program.name.partition("/")[0] for program in programs)
    least = {"programs": 9, "examples": 17, "snippets": 40, "dropin": 10, "small": 15}
    least |= {"polybench": 20, "loops": 9, "pykokkos": 3, "bridge": 5, "packages": 1}
    assert set(families) == set(least)
    assert all(families[name] >= count for name, count in least.items())
    assert all((ROOT / p.what).exists() for p in programs if p.kind in ("script", "lesson"))


@pytest.mark.parametrize(
    ("part", "old", "new", "word"),
    [
        ("ir", "v0 = b1[i0] + v2", "v5 = b1[i0] + v3", RENAMED),
        ("ir", "v0 = b1[i0] + v0", "v5 = b1[i0] + v3", DIFFERS),
        ("ir", "v0 = b1[i0] + v2", "v5 = b1[i0] + v5", DIFFERS),
        ("ir", "v0 = 1", "v0 = 2", DIFFERS),
        ("ir", "v0 = 1.5", "v0 = 15", DIFFERS),
        ("ir", "v0: int64", "v0: int32", DIFFERS),
        ("ir", "v0", "b0", DIFFERS),
        ("ir", "v0 = 1", "v0 = 1\nv1 = 2", DIFFERS),
        ("llvm", "%t1 = add i64 %lo, 1", "%x = add i64 %low, 1", RENAMED),
        ("llvm", "%t1 = add i64 %lo, 1", "%t1 = sub i64 %lo, 1", DIFFERS),
        ("llvm", "%t1 = add i64 %lo, 1", "%t1 = add i32 %lo, 1", DIFFERS),
        ("llvm", "br label %a.end\na.end:\n", "br label %b.end\nb.end:\n", RENAMED),
        ("llvm", "br label %a.end\na.end:\n", "br label %b.end\na.end:\n", DIFFERS),
        ("llvm", "attributes #0 = { nounwind }", "attributes #1 = { nounwind }", RENAMED),
    ],
)
def test_renaming_is_one_to_one(part: str, old: str, new: str, word: str) -> None:
    assert same_but_names(old, new, part) == word


def _recording(**changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "structures": [["arrays", "b0 = 1", "kernel", ["%a = 1"]]],
        "compilations": [1, 1],
        "kernels": [["arrays", "add:memory", 2]],
        "bytes": [[16, 8, 24, 2]],
        "allocations": 3,
        "results": {"x": "0f"},
        "printed": "3c",
    }
    return plain | changes


@pytest.mark.parametrize(
    ("changes", "verdict", "part"),
    [
        ({}, "text equal", ""),
        ({"printed": ""}, "text equal", ""),
        ({"structures": [["arrays", "b1 = 1", "kernel", ["%a = 1"]]]}, VERDICTS[1], "ir"),
        ({"structures": [["arrays", "b0 = 2", "kernel", ["%a = 1"]]]}, VERDICTS[2], "ir"),
        ({"structures": []}, VERDICTS[2], "llvm"),
        ({"results": {"x": "10"}}, VERDICTS[3], "bits"),
        ({"results": {"y": "0f"}}, VERDICTS[3], "bits"),
        ({"printed": "3d"}, VERDICTS[3], "bits"),
        ({"bytes": [[16, 16, 24, 2]]}, VERDICTS[3], "bytes"),
        ({"allocations": 4}, VERDICTS[3], "allocations"),
        ({"kernels": [["arrays", "add:memory", 3]]}, VERDICTS[3], "kernels"),
        ({"compilations": [2, 2]}, VERDICTS[3], "compilations"),
    ],
)
def test_what_changed_has_a_name(changes: dict[str, Any], verdict: str, part: str) -> None:
    change = compared("p", _recording(), _recording(**changes))
    assert change.verdict == verdict
    if part:
        assert part in change.details and change.parts[part] != EQUAL
        assert any(line.startswith("p: ") and part in line for line in table([change]))
    else:
        assert not change.details
        assert next(iter(table([change]))).split() == [f"{PARTS[0]}:", "1", EQUAL]


def _recorded(program: Recorded, source: Path, folder: Path) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    assert record_program(program, source, folder) == ""
    return load(folder, program)


def _seeded(tmp_path: Path, file: str, old: str, new: str) -> Path:
    """A copy of the package with a line changed."""
    source = tmp_path / "seeded"
    wanted = shutil.ignore_patterns("__pycache__", "*.c", "*.h", "ahead.bin")
    shutil.copytree(ROOT / "src", source / "src", ignore=wanted)
    path = source / "src" / "fusewright" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return source


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _recorded(PROGRAM, ROOT, tmp_path_factory.mktemp("before"))


def test_recording_loops_twice_gives_the_same(before: dict[str, Any], tmp_path: Path) -> None:
    assert all(before[part] for part in ("structures", "kernels", "bytes", "results"))
    assert _recorded(PROGRAM, ROOT, tmp_path) == before


def test_recording_arrays_twice_gives_the_same(tmp_path: Path) -> None:
    first, second = (_recorded(ARRAYS, ROOT, tmp_path / name) for name in ("one", "two"))
    assert {structure[0] for structure in first["structures"]} == {"arrays"}
    has_core = any((ROOT / "src" / "fusewright" / "_core").glob("_native*.so"))
    assert first["allocations"] or not has_core  # the tree that is recorded, not what is installed
    assert first == second


@pytest.mark.parametrize(
    ("file", "old", "new", "verdict", "changed"),
    [
        ("codegen/builder.py", '"%t{', '"%value{', VERDICTS[1], {"llvm"}),
        (
            "plan/loops/plan.py",
            "elements: int = 1024",
            "elements: int = 512",
            VERDICTS[2],
            {"plan", "llvm", "tree"},
        ),
        ("codegen/spell.py", '"add": "fadd"', '"add": "fsub"', VERDICTS[3], {"llvm", "bits"}),
    ],
    ids=["renamed", "constant", "meaning"],
)
def test_a_seeded_change_is_called_what_it_is(
    file: str, old: str, new: str, verdict: str, changed: set[str], before: Any, tmp_path: Path
) -> None:
    after = _recorded(PROGRAM, _seeded(tmp_path, file, old, new), tmp_path / "after")
    change: Change = compared(PROGRAM.name, before, after)
    assert change.verdict == verdict
    assert {part for part, word in change.parts.items() if word != EQUAL} == changed
    assert all(any(difference(before, after, part)) for part in changed & {"plan", "llvm", "tree"})
