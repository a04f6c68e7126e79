"""Array statements before, between and after deferred calls: members of their group, with its
temporaries, its bits and its rules about what somebody holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.properties.test_deferred_groups import halved, picked, running, smoothed, total
from tests.unit.kernels.test_groups import allocated, arrays

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright._core import native
from fusewright.frontends.arrays import trace
from fusewright.ir.graph import LEAF, PART
from fusewright.kernels import deferred, statements, units
from fusewright.runtime.profile import listen

N = 500


@pytest.fixture(autouse=True)
def joining() -> Iterator[None]:
    """Statements on arrays of these tests' size join, and nobody waits for code."""
    deferred.forget()
    statements.set_least(N, N)
    with fw.options(background=False):
        yield
    statements.set_least()


def calls_of(array: Any) -> list[str]:
    """The members of the group that an array is part of."""
    assert array._node.kind == PART
    return [call.found.kernel.name for call in array._node.args[0].value.calls]


def plainly(kernel: Any) -> Any:
    return kernel.__wrapped__


def as_is(kernel: Any) -> Any:
    return kernel


def same(program: Callable[..., Any], *given: np.ndarray[Any, Any], times: int = 3) -> None:
    """One joined kernel gives what NumPy and CPython give."""
    wanted = program(np, plainly, *[x.copy() for x in given])
    for _ in range(times):
        mine = [fw.asarray(x) for x in given]
        fw.evaluate(*mine)
        runs, compiled = units.joined_runs(), driver.cached()
        found = program(fnp, as_is, *mine)
        assert np.asarray(found).tobytes() == wanted.tobytes()
        assert (units.joined_runs(), driver.cached()) == (runs + 1, compiled)


def numbers(count: int, shape: Any = N) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(count)
    return [rng.random(shape) * 4 for _ in range(count)]


# -- where statements stand -----------------------------------------------------------------------


def test_before_between_and_after() -> None:
    def program(xp: Any, k: Any, a: Any, b: Any) -> Any:
        t, u, w = a * 2.0 + b, xp.zeros(N), xp.zeros(N)
        k(halved)(t, u)
        k(smoothed)(u * a - 1.0, b, w, 0.25)
        return w + u

    same(program, *numbers(2))
    a, b = (fw.asarray(x) for x in numbers(2))
    program(fnp, as_is, a, b)
    u, w = fnp.zeros(N), fnp.zeros(N)
    halved(a * 2.0 + b, u)
    smoothed(u * a - 1.0, b, w, 0.25)
    name = "array_statement"
    assert calls_of(w) == [name, "halved", name, "smoothed"]
    found = w + u
    assert found._node.kind != LEAF
    fw.evaluate(found)
    assert found._node.kind == LEAF


@pytest.mark.skipif(native is None, reason="Python takes memory for what it computes")
def test_temporaries_get_no_memory() -> None:
    (a, b), _ = arrays(2)

    def step() -> None:
        u, w = fnp.empty(N), fnp.empty(N)
        halved(a * 2.0 + b, u)
        smoothed(u * a - 1.0, b, w, 0.25)
        fw.evaluate(w + u)

    assert allocated(step) == 1  # the result


def test_updates_in_place() -> None:
    def program(xp: Any, k: Any, a: Any, b: Any) -> Any:
        u = xp.zeros(N)
        k(halved)(a, u)
        u += b
        k(running)(b, u)
        u *= 0.5
        k(halved)(u, a)
        return a

    same(program, *numbers(2))


def test_regions() -> None:
    def program(xp: Any, k: Any, a: Any, b: Any) -> Any:
        u = xp.zeros(N)
        k(halved)(a, u)
        u[1:-1] = 0.5 * (u[2:] + u[:-2])  # reads what it writes elsewhere
        u[0] = 7.0
        u[-3:] = b[:3]
        u[100:300] *= 0.5
        u[::2] += 1.0
        k(running)(b, u)
        return u

    same(program, *numbers(2))


def test_a_region_of_a_group_is_written_in_place() -> None:
    (a,), _ = arrays(1)
    u = fnp.zeros(N)
    halved(a, u)
    u[0] = 7.0
    running(a, u)
    shape = u._node.args[0].value.shape
    assert len(shape.calls) == 3
    assert len(shape.arrays) == 2


def test_an_older_version_that_is_held_stays() -> None:
    def program(xp: Any, k: Any, a: Any, b: Any) -> Any:
        u = xp.zeros(N)
        k(halved)(a, u)
        old = u.copy()
        u[1:-1] = b[1:-1]
        k(running)(b, u)
        return u + old

    same(program, *numbers(2))


def test_views_matrices_and_tables() -> None:
    def program(xp: Any, k: Any, m: Any, t: Any) -> Any:
        u = xp.zeros(N)
        row = m.sum(axis=0)
        k(halved)(m[1] * 2.0 + m[2, ::-1], u)
        k(picked)(u[::-1] * 1.5, t, row)
        return xp.where(m > 1.0, m + u, row - m)

    rng = np.random.default_rng(0)
    wanted = program(np, plainly, *(given := (rng.random((3, N)), rng.integers(N, size=N))))
    for _ in range(3):
        found = program(fnp, as_is, *map(fw.asarray, given))
        assert np.allclose(np.asarray(found), wanted)  # but for the order of the sum
    with fw.options(fuse=False):
        apart = np.asarray(program(fnp, as_is, *map(fw.asarray, given)))
    assert np.asarray(found).tobytes() == apart.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "int64", "bool"])
def test_types(dtype: str) -> None:
    def program(xp: Any, k: Any, a: Any, b: Any) -> Any:
        u = xp.zeros(N)
        k(halved)(xp.where(b, b * 2 + b, b) + a * True, u)
        return (u > 1.0) & (b > 0)

    (a,) = numbers(1)
    same(program, a, (a * 5).astype(dtype))


def test_functions_mean_the_same() -> None:
    def program(a: Any, b: Any) -> Any:
        u = fnp.zeros(N)
        halved(fnp.exp(a) * fnp.sin(b) + fnp.log(a) ** 1.5, u)
        return fnp.tanh(u) + fnp.arctan2(a, b)

    a, b = map(fw.asarray, numbers(2))
    runs = units.joined_runs()
    found = np.asarray(program(a, b))
    assert units.joined_runs() == runs + 1
    statements.set_least(1 << 60)
    assert found.tobytes() == np.asarray(program(a, b)).tobytes()


# -- where they do not join -----------------------------------------------------------------------


def test_small_arrays_are_left_to_the_core() -> None:
    statements.set_least(N + 1, N + 1)
    (a, b), _ = arrays(2)
    u = fnp.zeros(N)
    halved(a * 2.0 + b, u)
    assert calls_of(u) == ["halved"]


@pytest.mark.parametrize("setting", [{"fuse": False}, {"contract": True}, {"reassociate": True}])
def test_settings_that_keep_them_apart(setting: dict[str, Any]) -> None:
    (a, b), (p, q) = arrays(2)
    u, w = fnp.zeros(N), np.zeros(N)
    with fw.options(**setting):
        halved(a * 2.0 - b, u)
        assert calls_of(u) == ["halved"]
        found = np.asarray(u)
    halved.__wrapped__(p * 2.0 - q, w)
    assert np.allclose(found, w)


def test_a_library_step_ends_the_group() -> None:
    def program(xp: Any, k: Any, a: Any) -> Any:
        u, w = xp.zeros(N), xp.zeros(N)
        k(halved)(a, u)
        k(halved)(xp.sort(u) * 2.0, w)
        return w + u

    given = numbers(1)[0]
    wanted = program(np, plainly, given.copy())
    for _ in range(3):
        assert np.asarray(program(fnp, as_is, fw.asarray(given))).tobytes() == wanted.tobytes()
    a, u, w = fw.asarray(given), fnp.zeros(N), fnp.zeros(N)
    halved(a, u)
    halved(fnp.sort(u) * 2.0, w)
    assert calls_of(w) == ["array_statement", "halved"]


def test_a_number_of_the_group_ends_it() -> None:
    def program(xp: Any, k: Any, a: Any) -> Any:
        u, w = xp.zeros(N), xp.zeros(N)
        k(halved)(a, u)
        s = k(total)(u, 0.5)
        k(halved)(u * s, w)
        return w

    (given,) = numbers(1)
    wanted = program(np, plainly, given.copy())
    for _ in range(3):
        assert np.asarray(program(fnp, as_is, fw.asarray(given))).tobytes() == wanted.tobytes()


@pytest.mark.skipif(native is None, reason="only the core counts them")
def test_groups_are_counted_while_they_live() -> None:
    (a,), _ = arrays(1)
    trace.prune()  # what other tests left
    before = native.groups_alive()
    for _ in range(3):  # the first in Python, the others in the core
        u, w = fnp.zeros(N), fnp.zeros(N)
        halved(a, u)
        halved(a, w)
        assert native.groups_alive() == before + 2
        fw.evaluate(u)
        del w
        trace.prune()  # the list's dead nodes
        assert native.groups_alive() == before


# -- what is held ---------------------------------------------------------------------------------


def test_no_statement_joins_what_waits_for_it() -> None:
    (a, b), (p, _) = arrays(2)
    t = a * 2.0
    r = t + b  # computes `t` without storing it
    fw.evaluate(r)
    u, w = fnp.zeros(N), fnp.zeros(N)
    halved(t + 1.0, u)  # reads `t`, which is stored this time
    smoothed(t, u, w, 0.5)
    x, y = np.zeros(N), np.zeros(N)
    halved.__wrapped__(p * 2.0 + 1.0, x)
    smoothed.__wrapped__(p * 2.0, x, y, 0.5)
    assert (w.tolist(), t.tolist()) == (y.tolist(), (p * 2.0).tolist())


def test_a_held_operand_is_there_when_it_is_asked_for() -> None:
    (a, b), (p, q) = arrays(2)
    t = a * 2.0 + b
    u = fnp.zeros(N)
    halved(t, u)
    d = u - a
    fw.evaluate(d)
    wanted = p * 2.0 + q
    x = np.zeros(N)
    halved.__wrapped__(wanted, x)
    assert (d.tolist(), t.tolist(), u.tolist()) == ((x - p).tolist(), wanted.tolist(), x.tolist())


def test_what_is_listened_to_joins_too() -> None:
    (a, b), (p, q) = arrays(2)
    u = fnp.zeros(N)
    runs = units.joined_runs()
    with listen() as profile:
        halved(a * 2.0 + b, u)
        found = np.asarray(u - a)
    x = np.zeros(N)
    halved.__wrapped__(p * 2.0 + q, x)
    assert found.tolist() == (x - p).tolist()
    assert units.joined_runs() == runs + 1
    assert sum(len(flush.steps) for flush in profile.flushes) == 1


def test_a_second_run_leaves_what_the_first_has_given() -> None:
    def program(xp: Any, k: Any, a: Any, b: Any, out: Any, held: Any) -> list[bytes]:
        def step() -> None:
            t = a * 0.5 + 1.0
            k(smoothed)(t, b, out, 0.5)

        step()
        t = xp.zeros(N)
        k(halved)(out, t)
        k(smoothed)(t, b, held, 0.5)  # not asked for: it waits with the group
        del t
        k(smoothed)(out, b, out, 0.5)  # in the memory of what `out` was
        seen = [np.asarray(out).tobytes()]
        step()  # and in it again
        seen += [np.asarray(each).tobytes() for each in (out, held, out)]
        return seen

    given = numbers(4)
    wanted = program(np, plainly, *[x.copy() for x in given])
    for _ in range(3):
        assert program(fnp, as_is, *map(fw.asarray, given)) == wanted
