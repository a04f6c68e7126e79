"""The machine's record: thresholds follow from it, and nothing that decides bits does."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright._core import native
from fusewright.base import figures
from fusewright.machine import record, stored
from fusewright.machine.record import DEFAULT, OF_ALL, READ_BY_CORE, Machine, with_caches
from fusewright.runtime.trace import take
from fusewright.targets.cpu import loops

SOURCE = Path(fw.__file__).parent
TINY = DEFAULT._replace(
    rows=1 << 12, past=1 << 10, fork=0.0, read_streams=2, write_streams=2, compile_node=1e-9,
    block=0.0, strip=0.0, wake=0.0, stored_value=1, decoded=20, same=0.1, scattered=1.0,
    in_vectors=1,
)  # fmt: skip
LARGE = DEFAULT._replace(
    rows=1 << 30, past=1 << 40, fork=1e12, read_streams=400, write_streams=400, compile_node=1.0,
    block=1e6, strip=1e6, wake=1e8, stored_value=400, decoded=1 << 20, scattered=0.0,
    in_vectors=400,
)  # fmt: skip
DECIDE_BITS = (
    "rules/", "ir/", "analysis/", "targets/reference/", "codegen/", "plan/plan.py",
    "plan/stages.py", "frontends/", "numpy/",
)  # fmt: skip
"""What operations mean, in which order sums are formed, and how that is written as code."""
DECIDE_WHEN = ("frontends/arrays/iterations.py", "frontends/arrays/survivors.py")
"""Of these, what says when values are computed, never what they are."""
DECIDE_HOW = ("codegen/", "frontends/arrays/", "numpy/instant.py")
"""Of these, what lays out code and data, and records or computes at once: what is the same on all
machines may decide that.
"""


def test_the_default_thresholds_are_those_that_were_tuned() -> None:
    assert (DEFAULT.past, DEFAULT.past_in_loops) == (1 << 26, 1 << 25)
    assert (DEFAULT.rows, DEFAULT.read_streams) == (1 << 20, 24)
    assert (DEFAULT.write_streams, DEFAULT.written_alone) == (8, 4)
    assert (DEFAULT.parallel, DEFAULT.parallel_loop) == (16_000.0, 12_000_000)
    assert (DEFAULT.unlocked, DEFAULT.scanned_block) == (1 << 18, 150_000.0)
    assert (DEFAULT.joined, DEFAULT.joined_often) == (1 << 21, 1 << 16)
    assert DEFAULT.quick_lines == 200
    assert DEFAULT.compile_structure + 2 * DEFAULT.compile_node == figures.COMPILED
    assert set(stored.UNITS) == set(Machine._fields)


def test_figures_of_all_machines_are_those_that_were_tuned() -> None:
    assert figures.ROWS == (4096, 32768, 131072)
    assert (figures.NEAR, figures.STRIP) == (1 << 19, 1 << 18)
    elements = figures.TINY_ELEMENTS, figures.FEW_ELEMENTS, figures.MOVED_ELEMENTS
    assert elements == (1 << 10, 1 << 11, 1 << 12)
    elements = figures.STARTED_ELEMENTS, figures.KERNEL_ELEMENTS, figures.COPIED_ELEMENTS
    assert elements == (1 << 14, 1 << 15, 1 << 16)


@pytest.mark.skipif(native is None, reason="the core reads them")
def test_the_core_begins_with_the_defaults() -> None:
    code = "from fusewright._core import native; print(native.machine())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    begun = ast.literal_eval(said.stdout)
    first = begun.pop("compile_first")
    assert first == pytest.approx(DEFAULT.compile_start + DEFAULT.compile_structure)
    for name, figure in begun.items():
        assert figure == getattr(figures if name.isupper() else DEFAULT, name), name
    assert {*READ_BY_CORE, "compile_node"} == {name for name in begun if name.islower()}


@pytest.mark.skipif(native is None, reason="the core reads them")
def test_the_core_is_told_of_the_record() -> None:
    with record.using(TINY):
        told = native.machine()
        assert {name: told[name] for name in READ_BY_CORE} == {
            name: getattr(TINY, name) for name in READ_BY_CORE
        }
    with pytest.raises(TypeError, match="no 'weight' of a machine's record"):
        native.set_machine(weight=1.0)


@pytest.mark.parametrize(
    ("caches", "past"),
    [
        ({}, 64 << 20),
        ({"third": 32 << 20}, 64 << 20),
        ({"third": 400 << 20, "second": 2 << 20}, 64 << 20),
        ({"third": 12 << 20}, 24 << 20),
        ({"third": 2 << 20}, 16 << 20),
    ],
)
def test_what_is_past_the_caches_follows_them_within_bounds(
    caches: dict[str, int], past: int
) -> None:
    machine = with_caches(caches)
    assert machine.past == past >= 1 << 24
    assert machine._asdict() == DEFAULT._asdict() | caches | {"past": past}


def test_a_share_of_a_large_last_level_cache_is_the_defaults() -> None:
    """It belongs to many processors; attention's scores leave it as they leave one of 32 MiB."""
    for mib, share in ((12, 1.5), (32, 4), (260, 4)):
        assert with_caches({"third": mib << 20}).left_behind == share * (1 << 20)


def test_the_record_is_frozen_and_one_for_the_process() -> None:
    assert record.current() is record.current()
    with pytest.raises(AttributeError):
        record.current().second = 1  # type: ignore[misc]
    with record.using(TINY):
        assert record.current() is TINY
    assert record.current() is not TINY


def test_what_plans_read_is_the_same_on_all_machines() -> None:
    """So that code on disk has a name without the record."""
    assert set(OF_ALL) <= set(Machine._fields) and not set(OF_ALL) & set(stored.MEASURED)
    for third in (1 << 20, 1 << 25, 1 << 30):
        machine = with_caches({"first": 1 << 15, "second": 1 << 18, "third": third})
        assert [getattr(machine, name) for name in OF_ALL] == [
            getattr(DEFAULT, name) for name in OF_ALL
        ]
    for name in ("plan", "codegen"):
        for path in (SOURCE / name).rglob("*.py"):
            text = path.read_text()
            read = set(re.findall(r"machine\.current\(\)\.(\w+)", text))
            if "here = machine.current()" in text:
                read |= set(re.findall(r"\bhere\.(\w+)", text))
            assert read <= {*OF_ALL, "written_alone", "scanned_block"}, path


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_what_decides_bits_knows_no_machine() -> None:
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith(DECIDE_BITS) and name not in DECIDE_WHEN:
            assert not any(each.startswith("fusewright.machine") for each in _imports(path)), path
        if name.startswith(DECIDE_BITS) and not name.startswith(DECIDE_HOW):
            assert not any("base.figures" in each for each in _imports(path)), path
    for path in (SOURCE / "_core").glob("*.c"):
        if path.name in (
            "sums.c",
            "operators.c",
            "recorded.c",
            "reductions.c",
            "cells.c",
        ):
            assert not re.search(r"\bmachine\.\w", path.read_text()), path


def _sums(a: Any, b: Any) -> Iterator[Any]:
    """Sums along each dim, of rows kept and of rows computed twice, and many results at once."""
    scaled = a * b[:1] + 0.1
    yield from (
        scaled.sum(),
        scaled.sum(axis=0),
        (scaled / scaled.sum(axis=1)[:, None]).sum(axis=0),
    )
    yield (a[1:] * 0.3 + a[:-1] * b[1:]).mean()
    yield fnp.cumsum(scaled, axis=1)
    yield from (a + float(k) * b for k in range(12))


def smoothed(a, b, c, d):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.3 * a[i - 1] + 0.7 * a[i + 1]
    for i in range(2, a.shape[0] - 2):
        c[i] = b[i - 1] * b[i + 1]
        d[i] = b[i] / 3.0
    for i in range(a.shape[0]):
        s += c[i] * 0.1
    return s


def _results(machine: Machine, cache: Path) -> tuple[list[Any], list[bool], list[str]]:
    rng = np.random.default_rng(4)
    given = rng.random((300, 700)), rng.random((300, 700))
    driver.cache_clear()
    loops.kept_codes.clear()
    with record.using(machine), fw.options(cache_dir=str(cache), threads=2, interpret=False):
        values = list(_sums(*map(fw.asarray, given)))
        facts = [take([value._node]).is_large for value in values]
        fw.evaluate(*values)
        arrays = [rng.random(5000) for _ in range(4)]
        kernel = fw.kernel(smoothed)
        number = kernel(*arrays)
        (found,) = next(iter(kernel.specialisations.values()))
        texts = [code.signature.text for code in found.compiled.values()]
    return [np.asarray(value) for value in [*values, *arrays, number]], facts, texts


def test_results_are_the_same_on_very_different_machines(tmp_path: Path) -> None:
    """The bits; while what is written past the caches and the code of loops do differ."""
    small, facts, texts = _results(TINY, tmp_path / "tiny")
    large, others, other_texts = _results(LARGE, tmp_path / "large")
    assert any(facts) and not any(others)
    assert texts != other_texts
    for one, other in zip(small, large, strict=True):
        assert one.tobytes() == other.tobytes()
