"""What a work unit cannot be: an error at the user's line, before anything runs."""

import numpy as np
import pytest

import fusewright as fw
import fusewright.bridges.pykokkos as pk

A = np.zeros(4)


@pk.workunit
def unknown_name(i, a):
    a[i] = nothing + 1  # noqa: F821  <


@pk.workunit
def unknown_function(i, a):
    a[i] = nowhere(i)  # noqa: F821  <


@pk.workunit
def comprehension(i, a):
    a[i] = len({2 * j for j in range(3)})  # <


@pk.workunit
def bits_of_floats(i, a):
    a[i] = a[i] & 1  # <


@pk.workunit
def no_format(i, a):
    pk.printf(i)  # <


@pk.workunit
def few_values(i, a):
    pk.printf("%d %d\n", i)  # <


@pk.workunit
def unassigned(i, a):
    if i > 2:
        x: int = 1
    a[i] = x  # <


@pk.workunit
def too_many_indices(i, a):
    a[i][0] = 1.0  # <


@pk.function
def endless(x: int) -> int:
    return endless(x)  # <


@pk.workunit
def recursive(i, a):
    a[i] = endless(i)


@pk.workunit
def lost_closure(team, a):
    pk.parallel_for(pk.TeamThreadRange(team, 3), elsewhere)  # noqa: F821  <


@pk.workunit
def unknown_size(team, a):
    n: int = a[team.league_rank()]
    s: pk.ScratchView1D[float] = pk.ScratchView1D(team.team_scratch(0), n)  # <
    s[0] = 1.0


@pk.workunit
def plain(i, a):
    a[i] = 1.0


REFUSED = (
    unknown_name, unknown_function, comprehension, bits_of_floats, no_format, few_values,
    unassigned, too_many_indices, recursive,
)  # fmt: skip


@pytest.mark.parametrize("unit", REFUSED, ids=lambda unit: unit.__name__)
def test_refused(unit):
    with pytest.raises(fw.FusewrightError) as caught:
        pk.parallel_for(4, unit, a=A)
    assert_marked(str(caught.value))
    assert (A == 0).all()


@pytest.mark.parametrize("unit", [lost_closure, unknown_size], ids=lambda unit: unit.__name__)
def test_refused_in_teams(unit):
    with pytest.raises(fw.FusewrightError) as caught:
        pk.parallel_for(pk.TeamPolicy(4, 1), unit, a=A)
    assert_marked(str(caught.value))


def assert_marked(text):
    """The message shows the line that is marked, with carets."""
    shown = [line for line in text.splitlines() if "# <" in line or "  <" in line]
    assert shown and "^" in text and "test_refused.py:" in text


def test_wrong_calls():
    with pytest.raises(fw.FusewrightError, match="needs the argument `a`"):
        pk.parallel_for(4, plain)
    with pytest.raises(fw.FusewrightError, match="no argument `b`"):
        pk.parallel_for(4, plain, a=A, b=A)
    with pytest.raises(fw.FusewrightError, match="gives it"):
        pk.parallel_scan(4, plain, a=A)
    with pytest.raises(TypeError, match="workunit"):
        pk.parallel_for(4, 5, a=A)
    with pytest.raises(TypeError, match="policy"):
        pk.parallel_for("name", plain, plain)
    with pytest.raises(ValueError, match="number of arguments"):
        pk.parallel_for(plain)
    with pytest.raises(fw.FusewrightError, match="read-only"):
        frozen = np.zeros(4)
        frozen.flags.writeable = False
        pk.parallel_for(4, plain, a=frozen)


def test_gpus_are_refused():
    with pytest.raises(fw.FusewrightError, match="Cuda"):
        pk.RangePolicy(pk.Cuda, 0, 4)
    with pytest.raises(fw.FusewrightError, match="device 1"):
        pk.set_device_id(1)
    with pytest.raises(fw.FusewrightError, match="compile_into_module"):
        pk.compile_into_module  # noqa: B018
    before = pk.get_default_space()
    try:
        with pytest.warns(UserWarning, match="CPU"):
            pk.set_default_space(pk.ExecutionSpace.Cuda)
        a = np.zeros(4)
        pk.parallel_for(pk.RangePolicy(0, 4), plain, a=a)
        assert (a == 1.0).all()
    finally:
        pk.set_default_space(before)


def test_checked_indices():
    with pytest.raises(fw.FusewrightError, match="out of bounds") as caught, fw.options(check=True):
        pk.parallel_for(6, plain, a=np.zeros(4))
    assert "index 4" in str(caught.value)
