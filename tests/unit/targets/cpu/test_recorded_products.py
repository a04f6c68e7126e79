"""Large products are recorded, and computed by our own kernels: the same bits in every way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays.record import node_of
from fusewright.ir.graph import PRODUCT
from fusewright.targets.cpu import compiler, recorded_products
from fusewright.targets.cpu.products import product

Array = np.ndarray[Any, Any]


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


A, B, V = numbers(200, 300), numbers(300, 210), numbers(210)
"""12.6 million multiplications."""
SMALL = numbers(30_000, 5, 5)
STACK = numbers(3, 200, 300)

PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], Array]]] = {
    "plain": (lambda a, b: a @ b, lambda: product(A, B)),
    "transposed": (lambda a, b: b.T @ a.T, lambda: product(B.T, A.T)),
    "views": (lambda a, b: a[::-1, 1:] @ b[1:, 3:], lambda: product(A[::-1, 1:], B[1:, 3:])),
    "spaced": (lambda a, b: a[:, ::2] @ b[::2], lambda: product(A[:, ::2], B[::2])),
    "pending operands": (lambda a, b: (a + 1) @ (b * 2), lambda: product(A + 1, B * 2)),
    "epilogue": (
        lambda a, b: fnp.maximum(a @ b + V, 0) * 2,
        lambda: np.maximum(product(A, B) + V, 0) * np.float32(2),
    ),
    "three in a row": (
        lambda a, b: a @ b @ b[:210].T,
        lambda: product(product(A, B), B[:210].T),
    ),
    "with itself": (lambda a, b: a @ a.T, lambda: product(A, A.T)),
    "stack": (lambda a, b: fw.asarray(STACK) @ b, lambda: product(STACK, B)),
    "small ones": (lambda a, b: fw.asarray(SMALL) @ SMALL, lambda: product(SMALL, SMALL)),
    "small ones, transposed": (
        lambda a, b: fw.asarray(SMALL) @ fw.asarray(SMALL[::-1]).swapaxes(1, 2) + 1,
        lambda: product(SMALL, SMALL[::-1].swapaxes(1, 2)) + np.float32(1),
    ),
    "dot": (lambda a, b: fnp.dot(a, b), lambda: product(A, B)),
    "method dot": (lambda a, b: a.dot(b), lambda: product(A, B)),
    "matmul": (lambda a, b: fnp.matmul(a, b), lambda: product(A, B)),
    "NumPy's on the left": (lambda a, b: A @ b, lambda: product(A, B)),
    "einsum": (lambda a, b: fnp.einsum("ij,jk->ik", a, b), lambda: product(A, B)),
    "einsum, turned": (lambda a, b: fnp.einsum("ij,jk->ki", a, b), lambda: product(B.T, A.T)),
    "einsum of stacks": (
        lambda a, b: fnp.einsum("bij,bkj->bik", fw.asarray(STACK), fw.asarray(STACK)),
        lambda: product(STACK, STACK.swapaxes(1, 2)),
    ),
    "tensordot": (lambda a, b: fnp.tensordot(a, b, 1), lambda: product(A, B)),
}


WAYS: dict[str, dict[str, Any]] = {
    "fused": {}, "unfused": {"fuse": False}, "one thread": {"threads": 1},
    "two threads": {"threads": 2}, "avx2": {"features": "avx2"}, "verified": {"verify": True},
    "compiled at once": {"background": False, "interpret": False},
}  # fmt: skip


@pytest.mark.parametrize("way", [*WAYS, "lazy"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_are_the_kernels(name: str, way: str) -> None:
    program, wanted = PROGRAMS[name]
    with fw.lazy() if way == "lazy" else fw.options(**WAYS[way]):
        found = program(fw.asarray(A), fw.asarray(B))
        assert np.asarray(found).tobytes() == np.ascontiguousarray(wanted()).tobytes()


def test_float64() -> None:
    a, b = A.astype(np.float64), B.astype(np.float64)
    found = np.asarray(fw.asarray(a) @ fw.asarray(b) - 1)
    assert found.tobytes() == (product(a, b) - 1).tobytes()


def kind_after(left: Array, right: Array) -> int:
    """What `left @ right` of arrays of ours is when it has been recorded."""
    kind: int = node_of(fw.asarray(left) @ fw.asarray(right)).kind
    return kind


@pytest.mark.parametrize(
    ("left", "right", "is_ours"),
    [
        (A, B, True),
        (A.astype(np.float64), B.astype(np.float64), True),
        (STACK, B, True),
        (numbers(40_000, 4, 4), numbers(40_000, 4, 3), True),
        (numbers(40_000, 4, 7), numbers(40_000, 7, 3), False),
        (numbers(1000, 4, 4), numbers(1000, 4, 4), False),
        (A, B.astype(np.float64), False),
        (A.astype(np.int64), B.astype(np.int64), False),
        (A.astype(np.complex64), B.astype(np.complex64), False),
        (numbers(127, 3000), numbers(3000, 128), False),  # thin
        (numbers(128, 200), numbers(200, 128), False),  # small
        (numbers(4000, 1500), numbers(1500), False),  # a vector
    ],
)
def test_which_products_are_compiled(left: Array, right: Array, is_ours: bool) -> None:
    assert (kind_after(left, right) == PRODUCT) == is_ours
    assert (kind_after(left[::-1], right) == PRODUCT) == is_ours  # layouts do not count
    found, wanted = np.asarray(fw.asarray(left) @ fw.asarray(right)), left @ right
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


def test_operands_are_those_of_the_statement() -> None:
    a, b = fw.asarray(A.copy()), fw.asarray(B)
    c = a @ b
    a[0] = 0.0
    a @= numbers(300, 300)
    assert np.asarray(c).tobytes() == product(A, B).tobytes()


def test_a_product_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    genuine = recorded_products.run_alone

    def counted(*args: Any) -> Any:
        runs.append(1)
        return genuine(*args)

    monkeypatch.setattr(recorded_products, "run_alone", counted)
    c = fw.asarray(A) @ fw.asarray(B)
    first = float((c + 1).sum())
    second = float((c * 2).max())
    assert np.isfinite(first + second)
    assert np.asarray(c).tobytes() == product(A, B).tobytes()
    assert len(runs) == 1


def test_other_extents_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(a: Array, b: Array, v: Array) -> Array:
        return np.asarray(fnp.maximum(fw.asarray(a) @ fw.asarray(b) + v, 0))

    with fw.options(background=False, interpret=False):
        program(A, B, V)

        def refuse(*args: Any) -> Any:
            raise AssertionError("compiled again")

        monkeypatch.setattr(compiler, "batch", refuse)
        monkeypatch.setattr(compiler, "compile_ir", refuse)
        found = program(A[:150], B[:, :180], V[:180])
    right = np.maximum(product(A[:150], B[:, :180]) + V[:180], 0)
    assert found.tobytes() == right.tobytes()


def test_the_reference_target_gives_its_bits() -> None:
    a, b = A[:130], B[:, :131]
    with fw.options(target="reference"):
        found = np.asarray(fw.asarray(a) @ fw.asarray(b))
    assert found.tobytes() == product(a, b).tobytes()


def test_what_is_said_of_it() -> None:
    a, b = fw.asarray(A), fw.asarray(B)
    explained = fw.explain(a @ b + 1)
    assert not explained.library_steps
    step = explained.kernels[0]
    assert (step.name, step.kind) == ("matmul", "products")
    assert "matmul float32[200, 210] = [200, 300] @ [300, 210]" in step.loops


@pytest.mark.parametrize("strict", [True, "all"])
def test_strict_does_not_refuse_it(strict: Any) -> None:
    with fw.options(strict=strict):
        found = np.asarray(fw.asarray(A) @ fw.asarray(B))
    assert found.tobytes() == product(A, B).tobytes()


def test_into_an_array_that_is_there() -> None:
    out = fw.asarray(np.zeros((200, 210), np.float32))
    assert fnp.matmul(fw.asarray(A), fw.asarray(B), out=out) is out
    assert np.asarray(out).tobytes() == product(A, B).tobytes()
