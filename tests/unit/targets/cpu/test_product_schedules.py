"""Requests with products that have run before run in the native core, with the same bits."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.properties.random_chains import small_ones

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.machine import record
from fusewright.targets.cpu import recorded_products
from fusewright.targets.cpu.products import product

pytestmark = pytest.mark.skipif(native is None, reason="without the core Python runs them all")
Array = Any
Program = Callable[..., Array]


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(np.float32)


PROGRAMS: dict[str, Program] = {
    "product": lambda x, w, v, b: x @ w,
    "perceptron": lambda x, w, v, b: fnp.maximum(x @ w + b, 0) @ v,
    "numbers": lambda x, w, v, b: ((x * 0.5) @ w - 0.25) @ v,
    "prologue": lambda x, w, v, b: (x @ (w * 2)) @ v + 1,
    "views": lambda x, w, v, b: x[::-1, 1:] @ w[1:] @ v.T[::2].T,
    "softmax": lambda x, w, v, b: (lambda e: e / e.sum(axis=1, keepdims=True))(fnp.exp(x @ w)) @ v,
    "several": lambda x, w, v, b: x.T @ (fnp.tanh(x @ w) @ w.T),
}


@pytest.fixture(autouse=True)
def every_size() -> Iterator[None]:
    with small_ones():
        yield


def repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on Python may compute no product."""
    monkeypatch.setattr(recorded_products, "run_segment", refuse_run)


def refuse_run(*args: Any) -> int:
    raise AssertionError("left to Python")


def run(program: Program, seed: int, rows: int = 90) -> bytes:
    x, w, v, b = numbers(rows, 20, seed=seed), numbers(20, 33), numbers(33, 17), numbers(33)
    return np.asarray(program(*map(fw.asarray, (x, w, v, b)))).tobytes()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_repeated_runs_in_the_core(
    name: str, fuse: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PROGRAMS[name]
    with fw.options(target="reference"):
        wanted = [run(program, seed) for seed in (1, 2)]
    with fw.options(fuse=fuse, threads=threads, interpret=False):
        first = run(program, 1), run(program, 2)
        repeated(monkeypatch)
        assert (run(program, 1), run(program, 2)) == first
    if name in ("product", "perceptron", "numbers", "prologue", "views"):
        assert list(first) == wanted


def test_other_numbers_are_not_those_of_the_first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: Array, w: Array, v: Array, b: Array) -> Array:
        scale, shift = constants
        return ((x @ w) * scale + shift) @ v

    constants: tuple[float, Any] = (2.0, np.float32(0.1))
    others = ((0.5, np.float32(3)), (-0.0, np.float32("inf")), (0.0, np.float32(1)))
    with fw.options(interpret=False):
        run(program, 1)
        repeated(monkeypatch)
        for each in others:
            constants = each
            found = run(program, 1)
            monkeypatch.undo()
            with fw.options(fuse=False):
                assert run(program, 1) == found
            repeated(monkeypatch)


def test_other_layouts_and_extents_are_found_anew() -> None:
    with fw.options(interpret=False):
        for rows in (90, 91, 24, 1, 90):
            found = run(PROGRAMS["perceptron"], 3, rows)
            with fw.options(fuse=False):
                assert run(PROGRAMS["perceptron"], 3, rows) == found
        x, w = numbers(40, 60), numbers(60, 50)
        for _ in range(3):
            for left, right in ((x, w), (x[::-1], w), (x, w[:, ::-1]), (x[:, ::-1], w[::-1])):
                a = fw.asarray(x)
                a = a[:: left.strides[0] // 240 or 1, :: left.strides[1] // 4]
                b = fw.asarray(w)[:: right.strides[0] // 200, :: right.strides[1] // 4]
                assert np.asarray(a @ b).tobytes() == product(left, right).tobytes()


def test_another_machine_is_asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    with fw.options(interpret=False):
        run(PROGRAMS["perceptron"], 1)
        ran: list[Any] = []
        monkeypatch.setattr(
            recorded_products,
            "run_segment",
            lambda *args, f=recorded_products.run_segment: ran.append(0) or f(*args),
        )
        run(PROGRAMS["perceptron"], 1)
        assert not ran
        with record.using(record.current()._replace(second=1 << 16)):
            run(PROGRAMS["perceptron"], 1)
        assert ran


def test_hidden_values_that_are_asked_for_later() -> None:
    x, w, v, b = (
        fw.asarray(n) for n in (numbers(90, 20), numbers(20, 33), numbers(33, 17), numbers(33))
    )
    with fw.options(interpret=False):
        results = []
        for _ in range(4):
            hidden = fnp.maximum(x @ w + b, 0)
            out = hidden @ v
            results.append((np.asarray(out).tobytes(), np.asarray(hidden).tobytes()))
    assert len(set(results)) == 1


def test_threads_of_python_share_it() -> None:
    wanted = {seed: run(PROGRAMS["perceptron"], seed) for seed in range(4)}
    wrong: list[int] = []

    def work(seed: int) -> None:
        with fw.options(interpret=False):
            for _ in range(50):
                if run(PROGRAMS["perceptron"], seed) != wanted[seed]:
                    wrong.append(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in wanted]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_nothing_is_kept_of_many_calls() -> None:
    x, w, v = fw.asarray(numbers(30, 20)), fw.asarray(numbers(20, 33)), fw.asarray(numbers(33, 17))
    with fw.options(interpret=False):

        def call() -> None:
            fw.evaluate(fnp.maximum(x @ w, 0) @ v)

        for _ in range(20):
            call()
        gc.collect()
        objects = len(gc.get_objects())
        for _ in range(10_000):
            call()
        gc.collect()
        assert len(gc.get_objects()) <= objects + 50


def test_tables_that_are_not_sound_are_refused() -> None:
    row = np.array([9], np.int64).tobytes()
    for held, stages in (
        (row, ()),
        (b"", ((row, b"", b"", (), b"", b"", ()),)),
        (b"", ((b"", row * 2, b"", (), b"", b"", ()),)),
        (b"", ((b"", b"", row, (), b"", b"", ()),)),
        (b"", ((b"", b"", b"", (), b"", b"", ((row, row * 2, b"", 0, 0, 1, 0, 1),)),)),
    ):
        with pytest.raises(ValueError, match="not there"):
            native.Schedule(2, held, stages, ())
