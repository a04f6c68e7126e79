"""Fusion never changes a bit, nor does the number of threads, nor the width of the vectors; and the
bits are NumPy's.

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random programs; without it a fixed small set runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.evaluators import installed
from tests.properties.chance import examples
from tests.properties.random_programs import Program, exactness, inputs, programs, run

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import profile
from fusewright.targets.cpu.features import machine_flags

CASES = examples(40)
FEATURES = ["avx2", "avx512"] if "avx512f" in machine_flags() else ["avx2"]


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """The compiler only: these are its contracts."""
    with installed("driver"):
        yield


def outcome(program: Program, **options: Any) -> list[Any]:
    """The program's outputs, asked for together."""
    with fw.options(**options):
        arrays = [fw.asarray(values) for values in inputs(program)]
        values = run(fnp, program, arrays)[-program.outputs :]
        fw.evaluate(*values)
        return [np.asarray(value) for value in values]


def assert_same_bits(got: list[Any], want: list[Any]) -> None:
    """Equal types, shapes and bits; a NaN is a NaN (its payload depends on operands' order)."""
    for ours, theirs in zip(got, want, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        nan = theirs != theirs
        np.testing.assert_array_equal(ours != ours, nan)
        bits = f"u{ours.dtype.itemsize}"
        ours, theirs = (np.where(nan, 0, np.ascontiguousarray(a)).astype(a.dtype).view(bits)
                        for a in (ours, theirs))  # fmt: skip
        np.testing.assert_array_equal(ours, theirs)


@CASES
@given(programs)
def test_fusion_changes_no_bit(program: Program) -> None:
    assert_same_bits(outcome(program, fuse=True), outcome(program, fuse=False))


@CASES
@given(programs)
def test_asking_for_every_step_changes_no_bit(program: Program) -> None:
    arrays = [fw.asarray(values) for values in inputs(program)]
    steps = run(fnp, program, arrays, fw.evaluate)[-program.outputs :]
    assert_same_bits([np.asarray(value) for value in steps], outcome(program))


@CASES
@given(programs)
def test_threads_change_no_bit(program: Program) -> None:
    alone = outcome(program, threads=1)
    for threads in (2, 3):
        assert_same_bits(outcome(program, threads=threads), alone)


@pytest.mark.skipif(len(FEATURES) < 2, reason="this CPU has no AVX-512")
@CASES
@given(programs)
def test_vector_width_changes_no_bit(program: Program) -> None:
    assert_same_bits(outcome(program, features="avx2"), outcome(program, features="avx512"))


@CASES
@given(programs)
def test_values_are_numpys(program: Program) -> None:
    with np.errstate(all="ignore"):
        want = [np.asarray(value) for value in run(np, program, inputs(program))]
    exact = exactness(program)[-program.outputs :]
    for ours, theirs, precise in zip(
        outcome(program), want[-program.outputs :], exact, strict=True
    ):
        assert ours.dtype == theirs.dtype
        if precise:
            assert_same_bits([ours], [theirs])
        else:
            close = 1e-7 if theirs.dtype == np.float64 and "float32" not in program.dtypes else 5e-2
            scale = max((1.0, *abs(theirs[np.isfinite(theirs)]).tolist()))
            np.testing.assert_allclose(ours, theirs, rtol=close, atol=close * scale)


def diffusion(u: Any) -> Any:
    for _ in range(6):
        u[1:-1, 1:-1] += 0.2 * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        )
    return u


def softmax(x: Any) -> Any:
    e = fnp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


LARGE = {
    "map": lambda x: fnp.sqrt(x * x + 1) * fnp.exp(-x),
    "several outputs": lambda x: (x + 1, fnp.tanh(x), x * x),
    "sum of all": lambda x: fnp.exp(-x * x).sum(),
    "sum of a long vector": lambda x: (x.reshape(-1) * 1.5).sum(),
    "sums of rows": lambda x: (x * x).sum(axis=1),
    "sums of columns": lambda x: (x * x).sum(axis=0),
    "several sums": lambda x: (x.sum(axis=0), x.max(axis=0), (x * x).sum(axis=0)),
    "softmax": softmax,
    "scan along rows": lambda x: fnp.cumsum(x * 2, axis=1) + 1,
    "stencil in place": lambda x: diffusion(x.copy()),
    "roll and flip": lambda x: fnp.roll(x, 3, axis=0) * x[::-1] + fnp.roll(x, -1, axis=1),
    "transpose": lambda x: x.T * 2 + 1,
    "gather": lambda x: x[fnp.arange(x.shape[0])[::-1]] * 2,
}  # fmt: skip


def launched(name: str, threads: int) -> tuple[list[Any], list[int]]:
    """The results of a large program and how many threads each of its kernels used."""
    values = np.random.default_rng(5).standard_normal((1031, 517))
    with fw.options(threads=threads, features=FEATURES[-1]), profile.listen() as record:
        made = LARGE[name](fw.asarray(values))
        results = made if isinstance(made, tuple) else (made,)
        fw.evaluate(*results)
    return [np.asarray(result) for result in results], [k.threads for k in record.kernels]


@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_programs_run_in_parallel_with_the_same_bits(name: str) -> None:
    alone, used = launched(name, 1)
    assert set(used) == {1}
    for threads in (2, 3):
        together, used = launched(name, threads)
        assert max(used) == threads
        assert_same_bits(together, alone)


@pytest.mark.parametrize("name", sorted(LARGE))
def test_large_programs_unfused(name: str) -> None:
    fused, _ = launched(name, 2)
    with fw.options(fuse=False):
        unfused, _ = launched(name, 2)
    assert_same_bits(fused, unfused)


@pytest.mark.parametrize("hot", ["reversed", "strided", "straight"])
def test_what_ran_often_is_not_taken_for_another_layout(hot: str) -> None:
    """Small slices met often get a short way: it is for their layout alone."""
    fw.cache_clear()
    values = np.random.default_rng(0).standard_normal(34)
    layouts = {"straight": values[:17], "reversed": values[16::-1], "strided": values[::2]}
    other = fw.asarray(values[17:])
    with fw.lazy():
        shared = {name: fw.asarray(part, copy=False) for name, part in layouts.items()}
        for _ in range(20):
            fw.evaluate(shared[hot] + other)
        for name, part in layouts.items():
            np.testing.assert_array_equal(
                np.asarray(fw.evaluate(shared[name] + other)), part + values[17:], name
            )


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 5), (1, 1)])
def test_what_was_compiled_for_nothing_serves_something(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    """An empty array in any layout shares its code with whole ones in C order."""
    with fw.options(cache_dir=str(tmp_path)), fw.lazy():
        fw.cache_clear()
        for values in (np.ones(shape), np.arange(85.0).reshape(5, 17)):
            for part in (values[:, ::-1], values[::-1], values.T, values):
                ours = fw.asarray(part, copy=False)
                np.testing.assert_array_equal(
                    np.asarray(ours * 1.5 + ours[:1]), part * 1.5 + part[:1]
                )
