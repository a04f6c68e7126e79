"""Chains of products run block by block: the same bits fused, unfused, on any threads, with any
instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import random_chains
from tests.properties.chance import examples

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays.record import node_of
from fusewright.ir.graph import LEAF
from fusewright.machine import record
from fusewright.runtime import background
from fusewright.runtime.profile import listen
from fusewright.targets.cpu import recorded_products
from fusewright.targets.cpu.products import product

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _usual_machine() -> Iterator[None]:
    """What pays depends on the caches: 300 MiB of L3 hold what 32 do not."""
    with record.using(record.DEFAULT):
        yield


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_chains() -> None:
    @given(st.integers(0, 1 << 40))
    @examples(300)
    def property_(seed: int) -> None:
        told = random_chains.difference(seed)
        assert not told, told

    with random_chains.small_ones() as ran:
        property_()
    assert len(ran) > 600, "the programs are hardly ever fused"
    assert max(len(segment.products) for segment in ran) >= 4
    assert any(segment.region.batch for segment in ran)


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


X, W, V, B = numbers(20_000, 64), numbers(64, 200), numbers(200, 40), numbers(200)


def bits(program: Callable[..., Any], **options: Any) -> list[bytes]:
    with fw.options(**options):
        found = program(*map(fw.asarray, (X, W, V, B)))
        found = found if isinstance(found, tuple) else (found,)
        return [np.asarray(each).tobytes() for each in found]


def fused(program: Callable[..., Any]) -> list[list[str]]:
    """The operations of each chain that runs as one."""
    with listen() as heard:
        found = program(*map(fw.asarray, (X, W, V, B)))
        fw.evaluate(*found) if isinstance(found, tuple) else fw.evaluate(found)
    steps = [step for flush in heard.flushes for step in flush.steps]
    return [
        [operation.name for operation in step.operations]
        for step in steps
        if getattr(step, "kind", "") == "products" and step.decisions[0].fused
    ]


def _hidden(x: Any, w: Any, v: Any, b: Any) -> Any:
    hidden = fnp.maximum(x @ w + b, 0)
    return hidden @ v, hidden, hidden.sum(axis=0)


def _softmax(x: Any, w: Any, v: Any, b: Any) -> Any:
    scores = x @ w
    powers = fnp.exp(scores - scores.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)) @ v


def _step(x: Any, w: Any, v: Any, b: Any) -> Any:
    """A step of training by hand."""
    hidden = fnp.maximum(x @ w + b, 0)
    error = hidden @ v - x[:, :40]
    back = (error @ v.T) * (hidden > 0)
    return x.T @ back, hidden.T @ error, back.sum(axis=0)


PROGRAMS: dict[str, Callable[..., Any]] = {
    "perceptron": lambda x, w, v, b: fnp.maximum(x @ w + b, 0) @ v,
    "gated": lambda x, w, v, b: (fnp.tanh(x @ w) * (x @ w[::-1])) @ v,
    "prologue": lambda x, w, v, b: fnp.exp(-abs(x)) @ w @ v + 1,
    "residual": lambda x, w, v, b: (x + fnp.maximum(x @ w, 0) @ w.T) @ w,
    "hidden value asked for": _hidden,
    "softmax": _softmax,
    "training": _step,
    "where, cast": lambda x, w, v, b: (
        fnp.where(x @ w > b, 1.0, 0.0).astype(np.float32) @ v
    ).astype(np.float64),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_do_not_depend_on_fusing(name: str) -> None:
    program = PROGRAMS[name]
    wanted = bits(program, fuse=False)
    assert bits(program) == wanted
    with fw.options(interpret=False):
        assert bits(program, threads=1) == wanted
        assert bits(program, threads=2, features="avx2") == wanted
    assert bits(program, verify=True) == wanted


def test_what_runs_as_one() -> None:
    assert fused(PROGRAMS["perceptron"]) == [["matmul", "add", "maximum", "matmul"]]
    (gated,) = fused(PROGRAMS["gated"])
    assert gated == ["matmul", "tanh", "matmul", "multiply", "matmul"]
    with fw.options(fuse=False):
        assert fused(PROGRAMS["perceptron"]) == []


def test_a_hidden_value_that_somebody_holds_is_computed_once() -> None:
    x, w, v = map(fw.asarray, (X, W, V))
    hidden = x @ w
    found = np.asarray(fnp.maximum(hidden, 0) @ v)
    assert node_of(hidden).kind == LEAF
    assert found.shape == (20_000, 40)


def test_code_is_compiled_beside_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A new structure runs unfused until its code is there, which is made when it comes again."""
    ran: list[bool] = []
    genuine = recorded_products.chains.run

    def noted(*args: Any) -> Any:
        found = genuine(*args)
        ran.append(found is not None)
        return found

    monkeypatch.setattr(recorded_products.chains, "run", noted)

    def program(x: Any, w: Any, v: Any, b: Any) -> Any:
        value = x @ w
        for _ in range(9):
            value = fnp.maximum(value * b, value - 0.25)
        return value @ v

    with fw.options(cache_dir=tmp_path, interpret=True):
        first = bits(program)
        assert not ran, "it may be the only time"
        assert bits(program) == first
        background.wait()
        assert bits(program) == first == bits(program, fuse=False)
    assert ran[-1]


@pytest.mark.parametrize("name", ["perceptron", "gated", "softmax"])
def test_functions_that_are_recorded_once(name: str) -> None:
    program = fw.jit(PROGRAMS[name])
    wanted = bits(PROGRAMS[name], fuse=False)
    assert bits(program) == wanted
    with listen() as heard:
        assert bits(program) == wanted
    assert "products" in [
        kernel.kind for kernel in heard.kernels if any(each.fused for each in kernel.decisions)
    ]
    other = fw.asarray(X[::-1].copy())
    found = program(other, *map(fw.asarray, (W, V, B)))
    assert np.asarray(found)[::-1].tobytes() == wanted[0]


@pytest.mark.parametrize("fuse", [True, False])
def test_a_product_of_a_product_is_not_kept_for_the_next_call(fuse: bool) -> None:
    x, w, v = numbers(300, 200), numbers(200, 210), numbers(210, 190)
    with fw.options(fuse=fuse):
        program = fw.jit(lambda x, w, v: x @ w @ v)
        for scale in (1, 1, 2, 3):
            found = np.asarray(program(*map(fw.asarray, (x * scale, w, v))))
            assert found.tobytes() == product(product(x * scale, w), v).tobytes()


def test_weights_are_read_at_each_call() -> None:
    """No packed form outlives the call it was made for."""
    x, w, v = map(fw.asarray, (X, W.copy(), V.copy()))
    program = PROGRAMS["perceptron"]
    first = np.asarray(program(x, w, v, fw.asarray(B)))
    w[:, 3] = 0.0
    v *= 2
    second = np.asarray(program(x, w, v, fw.asarray(B)))
    other = W.copy()
    other[:, 3] = 0.0
    with fw.options(fuse=False):
        wanted = np.asarray(program(x, fw.asarray(other), fw.asarray(V * 2), fw.asarray(B)))
    assert second.tobytes() == wanted.tobytes() != first.tobytes()


def test_explain_says_how_many_rows_and_why_not() -> None:
    x, w, v, b = map(fw.asarray, (X, W, V, B))
    told = fw.explain(PROGRAMS["perceptron"](x, w, v, b))
    text = str(told)
    assert "of 20000 rows at a time" in text
    assert "predicted" in text and "x" in text
    assert "library step" not in text
    assert "products of matrices, block by block" in told._repr_html_()
    square = fw.asarray(numbers(512, 512))
    text = str(fw.explain(fnp.maximum(square @ square, 0) @ square))
    assert "not fused: matmul: what its steps exchange" in text
    assert "predicted 0." in text or "predicted 1.0" in text
    assert node_of(square).kind == LEAF
