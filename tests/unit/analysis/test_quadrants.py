"""The loop pairs of Quadrants' fusion tests and of Genesis' rigid solver, as accesses."""

import pytest
from tests.unit.analysis.nests import (
    Facts,
    dim,
    i,
    j,
    k,
    least,
    loop,
    m,
    n,
    nest,
    read,
    table,
    update,
    write,
)

from fusewright.analysis.linearised import taken_apart
from fusewright.analysis.pairs import compare, independent

FUSES = {
    "identity": (n, i),
    "offset": (n - 1, i + 1),
    "even": (n // 2, i * 2),
    "affine": (n // 2, 2 * i + 3),
    "xor": (n, i ^ 1),
    "shift": (n // 2, i << 1),
}
RACES = {
    "halves": i // 2,
    "modulo": i % 4,
    "mask": i & 1,
    "clamped": least(i, 4),
    "one cell": i * 0,
}


@pytest.mark.parametrize("name", FUSES)
def test_one_to_one_indices_fuse(name):
    high, index = FUSES[name]
    verdict = compare(loop(high, write("a", index)), loop(high, read("a", index), write("o", i)))
    assert verdict.level == "same"
    assert verdict.same_bounds


@pytest.mark.parametrize("name", RACES)
def test_colliding_indices_do_not(name):
    index = RACES[name]
    verdict = compare(loop(n, write("a", index)), loop(n, read("a", index), write("o", i)))
    assert not verdict.parallel
    assert verdict.blockers[0].kind == "RAW"
    assert verdict.blockers[0].witness is not None


DOFS, ENVS = n, m
LINKS = 23


def per_dof(*parts):
    return nest([dim(0, DOFS), dim(1, ENVS)], *parts)


def per_link(*parts):
    return nest([dim(0, LINKS), dim(1, ENVS)], *parts)


def per_env(*parts):
    return nest([dim(1, ENVS)], *parts)


def some(number):
    """An inner loop nobody knows the end of."""
    return (dim(number, table(98, 0)),)


FLAT = nest(
    [dim(0, n * m)],
    read("n_constraints", i % m),
    write("jac", i // m, i % m),
)
GENESIS = {
    2: (per_dof(update("mass", i, i, j, exact=False)),
        per_dof(update("mass", i, i, j, exact=False))),
    3: (per_dof(write("mask", i, j)), per_dof(write("mask", i, j, when=table(9, i) > 0))),
    4: (per_dof(write("qf", i, j)),
        per_link(update("qf", table(9, i) + k, j, inner=some(2), exact=False))),
    5: (per_link(read("cinr", i, j), write("crb", i, j)),
        per_dof(read("crb", k, j, inner=some(2)),
                update("crb", table(9, k), j, inner=some(2), exact=False))),
    6: (per_link(read("coupling", i, j), write("cfrc", i, j)),
        per_dof(read("cfrc", k, j, inner=some(2)),
                update("cfrc", table(9, k), j, inner=some(2), exact=False))),
    7: (per_dof(write("vel", i, j)),
        per_link(read("vel", table(9, i) + k, j, inner=some(2)), write("qpos", i, j))),
    8: (per_link(write("efc", i, j)),
        per_dof(read("efc", k, j, inner=(dim(2, LINKS),)), write("qfrc", i, j))),
    9: (per_link(write("force", i, j)),
        per_env(update("force", table(9, k, j), j, inner=some(2), exact=False))),
    10: (taken_apart(FLAT), nest([dim(0, m)], update("n_constraints", i))),
    11: (per_env(write("n_awake", j)),
         per_dof(update("n_awake", j, observed=True), write("awake", table(8, j), j))),
    12: (per_dof(write("pos", table(9, i), table(7, j))),
         per_dof(read("pos", i, table(7, j)), write("out", i, j))),
    13: (per_env(update("flag", op="max")), loop(1, read("flag"), write("counter"))),
}  # fmt: skip
FULLY, BY_ENVIRONMENT = (2, 3), (4, 5, 6, 7, 8, 9, 10, 11)


def env_dims(a, b):
    """The pairs of dims that run over the environments."""
    return [
        (x.number, y.number) for x in a.dims for y in b.dims if x.high is y.high is m.expr
    ]  # fmt: skip


@pytest.mark.parametrize("number", FULLY)
def test_whole_groups_fuse(number):
    assert compare(*GENESIS[number]).level == "same"


@pytest.mark.parametrize("number", BY_ENVIRONMENT)
def test_groups_fuse_on_the_environments(number):
    verdict = compare(*GENESIS[number])
    assert verdict.allowed("dims")
    assert list(verdict.fused) == env_dims(*GENESIS[number])


def test_ten_of_twelve_dependent_groups_fuse():
    fusable = [number for number in GENESIS if compare(*GENESIS[number]).allowed("dims")]
    assert fusable == [*FULLY, *BY_ENVIRONMENT]


def test_independent_copies_fuse_and_commute():
    a, b = per_dof(read("q", i, j), write("x", i, j)), per_link(read("q", i, j), write("y", i, j))
    verdict = compare(a, b)
    assert verdict.independent
    assert (1, 1) in verdict.fused


def test_a_reset_moves_past_the_sweep_to_the_loop_it_fuses_with():
    first, sweep = GENESIS[6]
    reset = per_link(write("coupling", i, j))
    assert independent(sweep, reset)
    assert compare(first, reset).level == "same"


def test_a_table_of_environments_needs_the_fact():
    a, b = GENESIS[12]
    assert compare(a, b).fused == ()
    assert compare(a, b).unique == ("b7",)
    assert compare(a, b, Facts(unique=frozenset({7}))).fused == ((1, 1),)


def test_a_consumer_of_the_whole_reduction_is_a_barrier():
    assert compare(*GENESIS[13]).level is None
