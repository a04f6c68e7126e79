"""Borders a few elements wide are written without vectors, to the bits of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright import driver
from fusewright.codegen.boxes import THIN, is_thin
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import const, index, param
from fusewright.ir.tree.nodes import MappedLoop, walk
from fusewright.ir.tree.parse import parse_tree
from fusewright.plan.units import least, most
from fusewright.runtime.listening import CompiledTexts, compilations


def test_a_box_is_thin_whatever_its_extents_are() -> None:
    extent, start = param(0, INT64), index(3)
    border = linear.plus(extent, -THIN)
    assert is_thin(border, extent)
    assert is_thin(most(border, start), least(extent, linear.plus(start, 64)))
    assert not is_thin(const(0, INT64), extent)
    assert not is_thin(linear.plus(extent, -THIN - 1), extent)


def bordered(u: Any, wide: int, function: Any) -> Any:
    new = function(u * u + 0.5)
    new[:, :wide] = function(new[:, wide : 2 * wide] * 3)
    new[:, -wide:] = function(u[:, :wide] + new[:, -2 * wide : -wide])
    new[0] = function(new[1] + 1)
    new[-1] = new[-2] * u[0]
    return new


def drawn(dtype: str, shape: tuple[int, int]) -> Any:
    random = np.random.default_rng(shape[1])
    real = random.random(shape)
    return (real + 1j * random.random(shape) if dtype[0] == "c" else real).astype(dtype)


@pytest.mark.parametrize("features", ["avx2", "auto"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "float16"])
@pytest.mark.parametrize("name", ["positive", "exp", "square"])
def test_bits_do_not_depend_on_what_is_fused(name: str, dtype: str, features: str) -> None:
    for wide in (1, 2, 3):
        for shape in ((40, 50), (300, 131)):
            found = []
            for fuse in (True, False):
                with fw.options(fuse=fuse, features=features, interpret=False, small=0):
                    u = fw.asarray(drawn(dtype, shape))
                    function = getattr(fw.numpy, name)
                    found.append(np.asarray(bordered(u, wide, function)).tobytes())
            assert found[0] == found[1]
            if name != "exp":
                wanted = bordered(drawn(dtype, shape), wide, getattr(np, name))
                assert found[0] == wanted.tobytes()


def test_columns_have_no_lanes_and_the_inside_has(tmp_path: Path) -> None:
    texts: list[CompiledTexts] = []
    driver.cache_clear()
    compilations.append(texts.append)
    try:
        with fw.options(interpret=False, small=0, features="avx2", cache_dir=tmp_path):
            np.asarray(bordered(fw.asarray(drawn("float64", (300, 131))), 1, fw.numpy.square))
    finally:
        compilations.remove(texts.append)
    loops = [
        node
        for each in texts
        for node in walk(parse_tree(each.tree).body)
        if isinstance(node, MappedLoop) and node.index == 1
    ]
    thin = [loop for loop in loops if is_thin(loop.low, loop.high)]
    assert thin
    assert len(thin) < len(loops)
    assert all((loop.lanes is None) == (loop in thin) for loop in loops)
