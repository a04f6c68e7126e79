"""Reductions, reducers, scans, several dims, atomics, random numbers: on any number of threads."""

import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import fusewright as fw
import fusewright.bridges.pykokkos as pk

SIZES = (0, 1, 7, 256, 257, 5000)


@pk.workunit
def total(i, acc, a):
    acc += a[i]


@pk.workunit
def total_of_ints(i: int, acc: pk.Acc[pk.int64], a):
    acc += a[i]


@pk.workunit
def product(i, acc: pk.Acc[pk.int64], a):
    acc *= a[i]


@pk.workunit
def least(i, acc: pk.Acc[pk.double], a):
    if a[i] < acc:
        acc = a[i]


@pk.workunit
def greatest(i, acc: pk.Acc[pk.int32], a):
    if a[i] > acc:
        acc = a[i]


@pk.workunit
def both_bits(i, acc: pk.Acc[pk.int64], a):
    acc &= a[i]


@pk.workunit
def any_bits(i, acc: pk.Acc[pk.int64], a):
    acc |= a[i]


@pk.workunit
def all_true(i, acc: pk.Acc[pk.bool], a):
    acc = acc and a[i]


@pk.workunit
def some_true(i, acc: pk.Acc[pk.bool], a):
    acc = acc or a[i]


@pk.workunit
def where_least(i, acc: pk.Acc[pk.double], a):
    if a[i] < acc.val:
        acc.val = a[i]
        acc.loc = i


@pk.workunit
def where_greatest(i, acc: pk.Acc[pk.double], a):
    if a[i] > acc.val:
        acc.val = a[i]
        acc.loc = i


@pk.workunit
def extremes(i, acc: pk.Acc[pk.double], a):
    if a[i] < acc.min_val:
        acc.min_val = a[i]
    if a[i] > acc.max_val:
        acc.max_val = a[i]


@pk.workunit
def where_extremes(i, acc: pk.Acc[pk.double], a):
    if a[i] < acc.min_val:
        acc.min_val = a[i]
        acc.min_loc = i
    if a[i] > acc.max_val:
        acc.max_val = a[i]
        acc.max_loc = i


@pk.workunit
def prefix(i, acc, last_pass, a, exclusive):
    if last_pass:
        exclusive[i] = acc
    acc += a[i]


@pytest.mark.parametrize("n", SIZES)
def test_sums(n):
    ints = np.arange(n, dtype=np.int64) * 3 - 5
    found = pk.parallel_reduce(n, total_of_ints, a=ints)
    assert found == int(ints.sum()) and type(found) is int
    floats = np.random.default_rng(n).standard_normal(n)
    found = pk.parallel_reduce("name", pk.RangePolicy(0, n), total, a=floats)
    assert abs(found - floats.sum()) <= 1e-12 * max(1.0, np.abs(floats).sum())
    assert type(found) is float


def test_sum_is_the_same_on_any_number_of_threads():
    floats = np.random.default_rng(3).standard_normal(100_000)
    found = set()
    for threads in (1, 2, 3):
        with fw.options(threads=threads):
            found.add(pk.parallel_reduce(floats.size, total, a=floats))
    assert len(found) == 1


def test_range_starts_anywhere():
    a = np.arange(100.0)
    assert pk.parallel_reduce(pk.RangePolicy(10, 20), total, a=a) == a[10:20].sum()
    assert pk.parallel_reduce(pk.RangePolicy(pk.OpenMP, 20, 10), total, a=a) == 0.0
    assert pk.parallel_reduce(pk.RangePolicy(10, 20), total, 5.0, a=a) == a[10:20].sum() + 5.0


@pytest.mark.parametrize(
    ("reducer", "unit", "data", "expected"),
    [
        (pk.Sum, total, np.array([1.0, 2.0]), 3.0),
        (pk.Prod, product, np.array([2, 3, 4]), 24),
        (pk.Min, least, np.array([4.0, 2.0, 9.0]), 2.0),
        (pk.Max, greatest, np.array([-5, -1, -3], np.int32), -1),
        (pk.BAnd, both_bits, np.array([0b1111, 0b1101, 0b0111]), 0b0101),
        (pk.BOr, any_bits, np.array([0b1000, 0b0101]), 0b1101),
        (pk.LAnd, all_true, np.array([1, 2, 0], np.uint8), False),
        (pk.LAnd, all_true, np.array([1, 2], np.uint8), True),
        (pk.LOr, some_true, np.array([0, 4], np.uint8), True),
        (pk.MinLoc, where_least, np.array([4.0, -2.0, -2.0]), (-2.0, 1)),
        (pk.MaxLoc, where_greatest, np.array([1.0, 9.0, 9.0]), (9.0, 1)),
        (pk.MinMax, extremes, np.array([4.0, -2.0, 8.0]), (-2.0, 8.0)),
        (pk.MinMaxLoc, where_extremes, np.array([4.0, -2.0, 8.0]), (-2.0, 1, 8.0, 2)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("space", [pk.OpenMP, pk.Debug])
def test_reducers(reducer, unit, data, expected, space):
    policy = pk.RangePolicy(space, 0, data.size)
    assert pk.parallel_reduce(policy, unit, reducer=reducer, a=data) == expected


def test_location_in_many_blocks():
    data = np.random.default_rng(5).permutation(10_000).astype(float)
    found = pk.parallel_reduce(data.size, where_least, reducer=pk.MinLoc, a=data)
    assert found.val == 0.0 and found.loc == int(np.argmin(data))


@pytest.mark.parametrize("n", SIZES)
def test_scan(n):
    a, exclusive = np.arange(n) * 0.5, np.full(n, -1.0)
    assert pk.parallel_scan(n, prefix, a=a, exclusive=exclusive) == a.sum()
    np.testing.assert_array_equal(exclusive, np.cumsum(a) - a)


# -- several dims ---------------------------------------------------------------------------------


@pk.functor
class Grid:
    def __init__(self, n: int, m: int):
        self.a: pk.View2D[pk.double] = pk.View([n, m], pk.double)
        self.c: pk.View3D[pk.int32] = pk.View([n, m, 2], pk.int32)

    @pk.workunit
    def fill(self, i: int, j: int):
        self.a[i][j] = 10 * i + j

    @pk.workunit
    def fill3(self, i: int, j: int, k: int):
        self.c[i][j][k] = 100 * i + 10 * j + k

    @pk.workunit
    def weigh(self, i: int, j: int, acc: pk.Acc[pk.double]):
        acc += self.a[i][j] * j


def test_several_dims():
    grid = Grid(9, 5)
    pk.parallel_for(pk.MDRangePolicy([1, 0], [9, 4], [4, 4]), grid.fill)
    expected = np.zeros((9, 5))
    expected[1:, :4] = 10 * np.arange(1, 9)[:, None] + np.arange(4)
    np.testing.assert_array_equal(np.asarray(grid.a), expected)
    policy = pk.MDRangePolicy([0, 0, 0], [9, 5, 2], rank=pk.Rank(3, pk.Iterate.Left))
    pk.parallel_for("three", policy, grid.fill3)
    index = np.indices((9, 5, 2))
    np.testing.assert_array_equal(np.asarray(grid.c), 100 * index[0] + 10 * index[1] + index[2])
    found = pk.parallel_reduce(pk.MDRangePolicy([0, 1], [9, 5]), grid.weigh)
    assert found == (expected[:, 1:] * np.arange(1, 5)).sum()


# -- atomics --------------------------------------------------------------------------------------


@pk.workunit
def histogram(i, bins, keys, seen):
    old: int = pk.atomic_fetch_add(bins, [keys[i]], 1)
    pk.atomic_increment(seen, [0])
    pk.atomic_fetch_max(seen, [1], old)


@pk.workunit
def every_update(i, whole, real):
    pk.atomic_fetch_sub(whole, [0], 3)
    pk.atomic_fetch_mul(whole, [1], 3)
    pk.atomic_fetch_div(whole, [2], 3)
    pk.atomic_fetch_mod(whole, [3], 3)
    pk.atomic_fetch_and(whole, [4], 3)
    pk.atomic_fetch_or(whole, [5], 3)
    pk.atomic_fetch_xor(whole, [6], 3)
    pk.atomic_fetch_lshift(whole, [7], 3)
    pk.atomic_fetch_rshift(whole, [8], 3)
    pk.atomic_fetch_min(whole, [9], -3)
    pk.atomic_compare_exchange(whole, [10], 17, 99)
    pk.atomic_compare_exchange(whole, [11], 0, 99)
    pk.atomic_fetch_div(real, [0], 4)


@pytest.mark.parametrize("space", [pk.OpenMP, pk.Debug])
def test_atomics(space):
    keys = np.array([0, 2, 1, 2, 2, 0], np.int32)
    bins, seen = pk.View([3], pk.int32), pk.View([2], pk.int32)
    pk.parallel_for(pk.RangePolicy(space, 0, 6), histogram, bins=bins, keys=keys, seen=seen)
    assert list(bins) == [2, 1, 3] and list(seen) == [6, 2]
    whole, real = pk.View([12], pk.int64), pk.View([1], pk.double)
    whole.fill(17)
    real.fill(2.0)
    pk.parallel_for(pk.RangePolicy(space, 0, 1), every_update, whole=whole, real=real)
    assert list(whole) == [14, 51, 5, 2, 1, 19, 18, 136, 2, -3, 99, 17]
    assert real[0] == 0.5


# -- random numbers -------------------------------------------------------------------------------


@pk.workunit
def draw(i, out, pool):
    for j in range(2):
        out[i][j] = pk.rand(pk.double)
    out[i][2] = pk.rand(pk.double) + pk.rand(pk.double)


@pk.workunit
def draw_ints(i, out, pool):
    out[i] = pk.rand(pk.int32)


def test_random_numbers():
    def drawn(seed, launches=1):
        pool = pk.Random_XorShift64_Pool(seed, 100)
        out = pk.View([500, 3], pk.double)
        for _ in range(launches):
            pk.parallel_for(500, draw, out=out, pool=pool)
        return np.asarray(out)

    first = drawn(1)
    assert (first[:, :2] >= 0).all() and (first[:, :2] < 1).all()
    assert len(np.unique(first[:, :2])) == 1000
    assert abs(first[:, :2].mean() - 0.5) < 0.05 and abs(first[:, 2].mean() - 1.0) < 0.1
    np.testing.assert_array_equal(first, drawn(1))
    assert (first != drawn(2)).all() and (first != drawn(1, launches=2)).all()


def test_random_integers():
    out = pk.View([200], pk.int32)
    pk.parallel_for(200, draw_ints, out=out, pool=pk.Random_XorShift1024_Pool(7, 1))
    data = np.asarray(out)
    assert (data >= 0).all() and len(np.unique(data)) > 190 and data.max() > 2**30


@pk.workunit
def weighted(i, acc, a, f):
    acc += a[i] * f


def test_a_reduction_again_takes_what_it_is_given():
    """A launch that is known reads policies, types, lengths and numbers afresh."""
    for count in (1, 7, 300, 7):
        for a in (np.arange(count) * 0.5, np.arange(count), pk.View([count], pk.float32)):
            for f in (2.0, 3, 0.25):
                plain = np.asarray(a)
                policy = pk.RangePolicy(pk.OpenMP, 0, count)
                assert pk.parallel_reduce(policy, weighted, a=a, f=f) == plain.sum() * f
                half = pk.RangePolicy(pk.OpenMP, count // 2, count)
                wanted = (plain[count // 2 :] * f).sum()
                assert pk.parallel_reduce(half, weighted, a=a, f=f) == pytest.approx(wanted)
                slow = pk.RangePolicy(pk.Debug, 0, count)
                assert pk.parallel_reduce(slow, weighted, a=a, f=f) == plain.sum() * f
    assert pk.parallel_reduce(policy, weighted, 1.5, a=np.ones(7), f=1) == 8.5
    with pytest.raises(pk.Error, match="needs the argument"):
        pk.parallel_reduce(policy, weighted, a=np.ones(7))


def test_a_repeated_reduction_looks_at_range_layout_and_settings():
    views = [pk.from_numpy(np.arange(n) * 1.5) for n in (10, 300, 10)]
    halves = [pk.from_numpy(np.arange(2.0 * n)[::2]) for n in (10, 300)]
    for turn in range(6):
        for view in (*views, *halves):
            n = len(view) - turn % 2
            wanted = float(np.asarray(view)[:n].sum())
            policy = pk.RangePolicy(pk.ExecutionSpace.OpenMP, 0, n)
            assert pk.parallel_reduce(policy, total, a=view) == wanted
            assert pk.parallel_reduce(n, total, a=view) == wanted
            assert pk.parallel_reduce("named", n, total, a=view) == wanted
            with fw.options(threads=1 + turn % 2), fw.lazy():
                assert pk.parallel_reduce(n, total, a=view) == wanted
        views[0] += 1.0 if turn % 2 else 0.0


def test_repeated_reductions_on_several_threads_keep_apart():
    views = [pk.from_numpy(np.full(5000, float(k))) for k in range(4)]

    def sums(k):
        return {pk.parallel_reduce(5000, total, a=views[k]) for _ in range(300)}

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(sums, range(4))) == [{5000.0 * k} for k in range(4)]


def test_a_repeated_reduction_keeps_no_memory():
    for _ in range(5):
        array = np.arange(50.0)
        held = weakref.ref(array)
        assert pk.parallel_reduce(50, total, a=array) == 1225.0
        del array
        assert held() is None
