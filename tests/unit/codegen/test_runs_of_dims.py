"""Dims that run as one: the order of a reduction, and so its bits, follows from the shape alone."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.codegen import canonical
from fusewright.ir.loops.statements import Store
from fusewright.ir.tree.nodes import MappedLoop, OrderedReduction, blocks

SHAPES = [(37, 50, 3), (5, 3000, 4), (2, 1, 700, 2), (9, 0, 3), (1, 1, 1), (40, 6, 5, 3)]
SHAPES += [(30_000, 3), (1000, 17), (40, 1000), (3, 20_000), (0, 4), (700, 1)]
MODES = {
    "fused": {},
    "apart": {"fuse": False},
    "one thread": {"threads": 1},
    "two threads": {"threads": 2},
    "avx2": {"features": "avx2"},
    "operations": {"interpret": True},
}
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "sum 0": lambda x, w: x.sum(axis=0),
    "sum 1": lambda x, w: x.sum(axis=1),
    "greatest": lambda x, w: (x * w).max(axis=(-2, -1), initial=-9.0),
    "any": lambda x, w: (x > w + 4.0).any(axis=(-2, -1)),
    "all greater": lambda x, w: (x > w - 9.0).all(),
    "complex": lambda x, w: ((x + 2.0j) * w).sum(),
    "complex, last two": lambda x, w: (x + 2.0j * x).sum(axis=(-2, -1)),
    "rows and all": lambda x, w: (x / (x * x).sum(axis=-1, keepdims=True)).sum(),
    "heavy": lambda x, w: (np.exp(np.sin(x - w)) * np.cos(x)).sum(),
    "count": lambda x, w: (x > w).sum(axis=(-2, -1)),
    "last two": lambda x, w: x.sum(axis=(-2, -1)),
    "middle": lambda x, w: x.sum(axis=tuple(range(x.ndim - 1))),
    "all": lambda x, w: x.sum(),
    "product": lambda x, w: (x * 0.5 + 0.75).prod(axis=0, keepdims=True),
    "fused": lambda x, w: (x * 2.0 + x).sum(axis=0),
    "broadcast": lambda x, w: (x * w).sum(axis=0),
    "broadcast, last two": lambda x, w: ((x - w) ** 2).sum(axis=(-2, -1)),
    "broadcast, all": lambda x, w: ((x - w) ** 2).sum(),
    "centred": lambda x, w: ((x - x.mean(axis=0)) ** 2).mean(axis=0),
    "shares": lambda x, w: (x / x.sum(axis=(-2, -1), keepdims=True)).sum(axis=0),
    "stored too": lambda x, w: _both(x + 1.0),
    "turned": lambda x, w: x[..., ::-1].sum(axis=0),
}


def _both(y: Any) -> Any:
    return y * y.sum(axis=0)


def operands(shape: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
    """Values of which all but the last two columns are meant, and weights of those columns."""
    wide = np.random.default_rng(3).standard_normal((*shape[:-1], shape[-1] + 2)).astype(dtype)
    return wide, np.linspace(-1.0, 1.3, shape[-1]).astype(dtype)


def answers(dtype: str, **given: Any) -> dict[tuple[str, tuple[int, ...], bool], np.ndarray]:
    """Every program over every shape, its operand flat in memory or not."""
    found = {}
    settings = {"background": False, "interpret": False, "small": 0, **given}
    with fw.options(**settings), np.errstate(all="ignore"):
        for shape in SHAPES:
            wide, weights = operands(shape, dtype)
            for flat in (True, False):
                cut = wide[..., : shape[-1]]
                x = fw.asarray(np.ascontiguousarray(cut)) if flat else fw.asarray(wide)[..., :-2]
                for name, program in PROGRAMS.items():
                    found[name, shape, flat] = np.asarray(program(x, fw.asarray(weights)))
    return found


@pytest.fixture(scope="module", params=["float64", "float32"])
def expected(request: pytest.FixtureRequest) -> tuple[str, dict[Any, np.ndarray]]:
    return request.param, answers(request.param)


@pytest.mark.parametrize("mode", MODES)
def test_how_it_runs_is_not_seen(mode: str, expected: tuple[str, dict[Any, np.ndarray]]) -> None:
    dtype, known = expected
    for key, found in answers(dtype, **MODES[mode]).items():
        np.testing.assert_array_equal(found, known[key], err_msg=str(key), strict=True)


def test_where_the_operand_lies_is_not_seen(expected: Any) -> None:
    _, known = expected
    for (name, shape, flat), found in known.items():
        if flat:
            np.testing.assert_array_equal(found, known[name, shape, False], f"{name} {shape}")


def test_the_values_are_numpys_to_rounding() -> None:
    with np.errstate(all="ignore"):
        for (name, shape, flat), found in answers("float64").items():
            wide, weights = operands(shape, "float64")
            if flat and wide.size:
                right = PROGRAMS[name](np.ascontiguousarray(wide[..., : shape[-1]]), weights)
                np.testing.assert_allclose(found, right, 1e-9, 1e-9, err_msg=f"{name} {shape}")


def in_order(values: np.ndarray) -> np.float64:
    """The total of an array of float64 with several dims, as decision 0006 says."""
    rows, lanes, chunk = len(values), 16, 8192
    row = values.size // max(rows, 1)
    size = -(-16_384 // max(row, 1))
    parts = []
    for start in range(0, max(rows, 1), size):
        block, total = values[start : start + size].reshape(-1), np.zeros(lanes)
        for first in range(0, len(block), chunk):
            piece = block[first : first + chunk]
            vectors = np.zeros((-(-len(piece) // lanes), lanes))
            vectors.reshape(-1)[: len(piece)] = piece
            collected = np.zeros(lanes)
            for vector in vectors:
                collected += vector
            total += collected
        parts.append(total)
    while len(parts) > 1:
        half = (len(parts) + 1) // 2
        for number in range(half, len(parts)):
            parts[number - half] += parts[number]
        parts = parts[:half]
    (lane,) = parts
    while len(lane) > 1:
        lane = lane[: len(lane) // 2] + lane[len(lane) // 2 :]
    return lane[0]


@pytest.mark.parametrize("shape", [s for s in SHAPES if 0 not in s], ids=str)
def test_totals_are_taken_in_the_order_that_is_documented(shape: tuple[int, ...]) -> None:
    values = np.ascontiguousarray(operands(shape, "float64")[0][..., : shape[-1]])
    with fw.options(interpret=False, small=0):
        found = np.asarray(fw.asarray(values).sum())
    np.testing.assert_array_equal(found, in_order(values))


def digest() -> str:
    """Of all answers: for another process."""
    total = hashlib.sha256()
    for found in answers("float64").values():
        total.update(found.tobytes())
    return total.hexdigest()


def test_without_the_core_the_bits_are_the_same() -> None:
    done = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"FUSEWRIGHT_NATIVE": "0"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == digest()


def reductions_in(body: Any, around: int) -> Iterator[int]:
    """The dims of the loops around each element that is updated, and of reductions in lanes."""
    for node in body:
        if isinstance(node, OrderedReduction):
            yield from (len(node.extents) for _ in node.folds)
        elif isinstance(node, Store):
            yield from [around] * bool(node.combine)
        else:
            inside = around + isinstance(node, MappedLoop)
            for inner in blocks(node):
                yield from reductions_in(inner, inside)


def ranks(program: Callable[[Any], Any], shape: tuple[int, ...], cache: Any) -> list[int]:
    """How many dims the loops of the reductions have that a program compiles (its structure is not
    met elsewhere).
    """
    seen: list[int] = []
    original = canonical.module_of

    def module_of(tree: Any, *rest: Any) -> Any:
        seen.extend(reductions_in(tree.body, 0))
        return original(tree, *rest)

    with pytest.MonkeyPatch.context() as patch, fw.options(interpret=False, cache_dir=str(cache)):
        patch.setattr(canonical, "module_of", module_of)
        np.asarray(program(fw.asarray(np.ones(shape))))
    return seen


def test_kept_dims_are_one_loop(tmp_path: Any) -> None:
    shape = (11, 6, 5, 3)
    assert ranks(lambda x: (x * 3.0 / x - x).sum(axis=0), shape, tmp_path) == [2]
    assert ranks(lambda x: (x * 3.0 / x - x).sum(axis=1), shape, tmp_path) == [3]
    assert ranks(lambda x: (x[:, 1:] * 3.0 / 7.0).sum(axis=0), shape, tmp_path) == [4]
    assert ranks(lambda x: (x * 3.0 / x[0, 0, 0]).sum(axis=0), shape, tmp_path) == [3]


def test_reduced_dims_are_one_loop(tmp_path: Any) -> None:
    shape = (11, 6, 5, 3)
    assert ranks(lambda x: (x * 3.0 / x - x).sum(axis=(2, 3)), shape, tmp_path) == [3]
    assert ranks(lambda x: (x * 3.0 / x - x).sum(axis=(1, 2, 3)), shape, tmp_path) == [2]
    assert ranks(lambda x: (x * 3.0 / x - x).sum(), shape, tmp_path) == [1]
    assert ranks(lambda x: (x * 3.0 / x[0, 0, 0]).sum(), shape, tmp_path) == [3]


if __name__ == "__main__":
    print(digest())
