"""Teams: leagues, members, barriers, scratch memory, nested ranges; with one member and several."""

import numpy as np
import pytest

import fusewright.bridges.pykokkos as pk

SIZES = (pk.AUTO, 1, 3, 4)


@pk.workunit
def weighted(team_member, acc, y, a, x, m):
    j: int = team_member.league_rank()

    def inner(i: int, inner_acc: pk.Acc[float]):
        inner_acc += a[j][i] * x[i]

    part: float = pk.parallel_reduce(pk.TeamThreadRange(team_member, m), inner)
    if team_member.team_rank() == 0:
        acc += y[j] * part


@pk.workunit
def nested(team_member, acc, y, a, n, m):
    e: int = team_member.league_rank()

    def over_rows(j: int, team_acc: pk.Acc[float]):
        def over_columns(i: int, vector_acc: pk.Acc[float]):
            vector_acc += a[e][j][i]

        row: float = pk.parallel_reduce(pk.ThreadVectorRange(team_member, m), over_columns)
        team_acc += y[e][j] * row

    total: float = pk.parallel_reduce(pk.TeamThreadRange(team_member, 0, n), over_rows)

    def once():
        nonlocal acc
        acc += total

    pk.single(pk.PerTeam(team_member), once)


@pk.functor
class Staged:
    def __init__(self, leagues: int, m: int):
        self.m: int = m
        self.x: pk.View2D[pk.double] = pk.View([leagues, m], pk.double)
        self.out: pk.View2D[pk.double] = pk.View([leagues, m], pk.double)

    @pk.workunit
    def reverse(self, team: pk.TeamMember):
        e: int = team.league_rank()
        n: int = self.m
        s: pk.ScratchView1D[float] = pk.ScratchView1D(team.team_scratch(0), n)

        def stage(i: int):
            s[i] = self.x[e][i]

        pk.parallel_for(pk.TeamThreadRange(team, self.m), stage)
        team.team_barrier()

        def give(i: int):
            self.out[e][i] = s[self.m - 1 - i]

        pk.parallel_for(pk.TeamThreadRange(team, self.m), give)


@pk.workunit
def members(team, out, kept):
    rank: int = team.team_rank()
    e: int = team.league_rank()
    size: int = team.team_size()
    mine: float = 10.0 * rank + e
    shared: pk.ScratchView1D[int] = pk.ScratchView1D(team.team_scratch(0), team.team_size())
    shared[rank] = rank * rank
    team.team_barrier()
    neighbour: int = shared[(rank + 1) % size]
    team.team_barrier()
    shared[rank] = neighbour + 1
    team.team_barrier()
    out[e][rank] = mine + 100 * shared[(rank + size - 1) % size]

    def once():
        kept[e] = shared[0]

    pk.single(pk.PerTeam(team), once)


@pk.workunit
def grid(team, a, b, n, m):
    e: int = team.league_rank()

    def inner(i: int, j: int):
        a[e][i][j] = b[e][i] + j

    pk.parallel_for(pk.TeamThreadMDRange(team, n, m), inner)
    team.team_barrier()


@pk.workunit
def doubled(team, out):
    for round in range(3):

        def add(i: int):
            out[team.league_rank()][i] += round + 1  # noqa: B023

        pk.parallel_for(pk.TeamThreadRange(team, 5), add)
        team.team_barrier()


@pk.workunit
def counted(team, acc):
    acc += 1


@pytest.mark.parametrize("size", SIZES)
def test_reduction_over_teams(size):
    rng = np.random.default_rng(1)
    y, a, x = rng.integers(0, 9, 6) * 1.0, rng.integers(0, 9, (6, 5)) * 1.0, np.arange(5.0)
    found = pk.parallel_reduce(pk.TeamPolicy(6, size), weighted, y=y, a=a, x=x, m=5)
    assert found == y @ (a @ x)


@pytest.mark.parametrize("size", SIZES)
def test_nested_ranges(size):
    rng = np.random.default_rng(2)
    y, a = rng.integers(0, 9, (4, 3)) * 1.0, rng.integers(0, 9, (4, 3, 7)) * 1.0
    policy = pk.TeamPolicy(pk.OpenMP, 4, size, 8)
    found = pk.parallel_reduce(policy, nested, y=y, a=a, n=3, m=7)
    assert found == (y * a.sum(2)).sum()


@pytest.mark.parametrize("size", SIZES)
def test_scratch_memory(size):
    unit = Staged(3, 6)
    unit.x[:] = np.arange(18.0).reshape(3, 6)
    need = pk.ScratchView1D[float].shmem_size(6)
    assert need == 48
    policy = pk.TeamPolicy(3, size).set_scratch_size(0, pk.PerTeam(need))
    pk.parallel_for(policy, unit.reverse)
    np.testing.assert_array_equal(np.asarray(unit.out), np.asarray(unit.x)[:, ::-1])


@pytest.mark.parametrize("size", [1, 2, 5])
def test_members_meet_at_barriers(size):
    out, kept = pk.View([3, size], pk.double), pk.View([3], pk.int32)
    pk.parallel_for(pk.TeamPolicy(3, size), members, out=out, kept=kept)
    for e in range(3):
        last = [((rank + 1) % size) ** 2 + 1 for rank in range(size)]
        assert list(np.asarray(out)[e]) == [
            10.0 * rank + e + 100 * last[rank - 1] for rank in range(size)
        ]
        assert kept[e] == last[0]


@pytest.mark.parametrize("size", SIZES)
def test_several_dims_and_loops_around(size):
    a, b = pk.View([3, 4, 2], pk.double), pk.View([3, 4], pk.double)
    b[:] = np.arange(12.0).reshape(3, 4)
    pk.parallel_for(pk.TeamPolicy(3, size), grid, a=a, b=b, n=4, m=2)
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b)[:, :, None] + np.arange(2))
    out = pk.View([3, 5], pk.int32)
    pk.parallel_for(pk.TeamPolicy(3, size), doubled, out=out)
    assert (np.asarray(out) == 6).all()


def test_each_member_contributes():
    assert pk.parallel_reduce(pk.TeamPolicy(5, 4), counted) == 20
    assert pk.parallel_reduce(pk.TeamPolicy(5, pk.AUTO), counted) == 5


@pytest.mark.parametrize("unit", [weighted, nested])
def test_plain_python_agrees(unit):
    rng = np.random.default_rng(4)
    if unit is weighted:
        arrays = {"y": rng.random(6), "a": rng.random((6, 5)), "x": rng.random(5), "m": 5}
    else:
        arrays = {"y": rng.random((6, 3)), "a": rng.random((6, 3, 5)), "n": 3, "m": 5}
    found = pk.parallel_reduce(pk.TeamPolicy(6, 1), unit, **arrays)
    plain = pk.parallel_reduce(pk.TeamPolicy(pk.Debug, 6, 1), unit, **arrays)
    assert found == pytest.approx(plain, rel=1e-14)


@pk.workunit
def counting(team: pk.TeamMember, out: pk.View1D[pk.double]):
    out[team.league_rank()] = team.league_size()


@pytest.mark.parametrize("size", SIZES)
def test_what_a_member_has_not(size):
    with pytest.raises(pk.Error, match="a team member has no `league_size`") as found:
        pk.parallel_for(pk.TeamPolicy(3, size), counting, out=pk.View([3], pk.double))
    assert "an argument of your own" in found.value.help
