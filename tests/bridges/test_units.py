"""Work units of every style: standalone, functors, workloads, lambdas, classes; C's types."""

import ctypes

import mpmath
import numpy as np
from tests.bridges import units

import fusewright.bridges.pykokkos as pk

N = 10


def doubles(n=N):
    return pk.View([n], pk.double)


def test_declared_types_convert():
    out, whole = doubles(), pk.View([N], pk.int32)
    pk.parallel_for(N, units.conversions, out=out, whole=whole, x=5.9)
    assert list(out) == [4.5] * N
    assert list(whole) == [-3 + -1 * 100 + i for i in range(N)]


def test_unsigned_wraps():
    a, b, out = (pk.View([2], pk.uint32) for _ in range(3))
    a[:], b[:] = [1, 5], [2, 3]
    pk.parallel_for(2, units.unsigned, out=out, a=a, b=b)
    assert list(out) == [2**32 - 1, 2]


def test_narrow_types_compute_as_int():
    a, wide, narrow = pk.View([1], pk.int8), pk.View([1], pk.int32), pk.View([1], pk.int8)
    a[0] = 100
    pk.parallel_for(1, units.small, out=wide, a=a)
    pk.parallel_for(1, units.small, out=narrow, a=a)
    assert wide[0] == 10000 and narrow[0] == ctypes.c_int8(10000).value


def test_names_of_c():
    x, out = doubles(), doubles()
    x[:] = np.arange(N) + 0.25
    pk.parallel_for(N, units.functions, out=out, x=x)
    expected = [
        np.sqrt(v) + v * v + v + max(v, 1.5) + i + min(i, 2) for i, v in enumerate(np.asarray(x))
    ]
    np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-15)


def test_special_functions_of_c():
    x, out, plain = doubles(), pk.View([4, N], pk.double), pk.View([4, N], pk.double)
    x[:] = np.linspace(0.3, 20.0, N)
    pk.parallel_for(N, units.special_functions, out=out, x=x)
    names = ("gamma", "loggamma", "j0", "j1")
    expected = [[float(getattr(mpmath, name)(float(v))) for v in x] for name in names]
    np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-14, atol=1e-15)
    pk.parallel_for(N, units.special_functions_of_python, out=plain, x=x)
    assert np.asarray(plain).tobytes() == np.asarray(out).tobytes()
    pk.parallel_for(
        pk.RangePolicy(pk.Debug, 0, N), units.special_functions_of_python, out=plain, x=x
    )
    np.testing.assert_allclose(np.asarray(plain), np.asarray(out), rtol=1e-14, atol=1e-15)


def test_integer_powers_are_exact():
    out = doubles(40)
    pk.parallel_for(40, units.powers, out=out)
    assert list(out) == [float(2**i + (i + 1) ** 3) for i in range(40)]


def test_lists_assignments_and_loops():
    out, count = doubles(), pk.View([1], pk.int32)
    pk.parallel_for(N, units.listed, out=out)
    assert list(out) == [3.0 * i + 3 for i in range(N)]
    pk.parallel_for(pk.RangePolicy(pk.Serial, 0, N), units.chained, out=out, count=count)
    assert list(out) == [i + 1.0 for i in range(N)] and count[0] == N
    pk.parallel_for(N, units.loops, out=out, n=20)
    assert list(out) == [16.0 + 100 * i for i in range(N)]


def test_parts_of_views():
    a, out = pk.View([N, N], pk.double), doubles()
    a[:] = np.arange(N * N).reshape(N, N)
    for layout in (pk.LayoutRight, pk.LayoutLeft):
        b = pk.View([N, N], pk.double, layout=layout)
        b[:] = a
        pk.parallel_for(N, units.rows, out=out, a=b)
        data = np.asarray(a)
        assert list(out) == [data[i, 0] + 10 * data[i, -1] + 100 * data[1, i] for i in range(N)]


def test_classes_and_functions():
    out = doubles()
    pk.parallel_for(N, units.objects, out=out)
    expected = [i + 7 + 1000 * 2 * (i + i if i > 2 else i) + 0.5 * int(i * 1.5) for i in range(N)]
    assert list(out) == expected


def test_functor():
    functor = units.Scaled(N)
    policy = pk.RangePolicy(pk.OpenMP, 0, N)
    pk.parallel_for("fill", policy, functor.fill)
    assert list(functor.a) == [1.5 * i for i in range(N)]
    assert [list(row) for row in functor.b] == [[int(1.5 * i) + j for j in range(3)]
                                                for i in range(N)]  # fmt: skip
    expected = sum(1.5 * i + int(1.5 * i) + 2 for i in range(N))
    assert pk.parallel_reduce(policy, functor.total) == expected
    whole = np.cumsum([int(1.5 * i) for i in range(N)])
    assert pk.parallel_scan(policy, functor.running) == whole[-1]
    assert list(functor.a) == list(whole)
    pk.parallel_for(policy, functor.bare)
    assert list(functor.a) == [3.0 + i for i in range(N)]


def test_fields_are_read_at_each_launch():
    functor = units.Scaled(N)
    pk.parallel_for(N, functor.fill)
    functor.scale = 6.0
    functor.a = doubles()
    pk.parallel_for(N, functor.fill)
    assert list(functor.a) == [3.0 * i for i in range(N)]


def test_workload():
    workload = units.Statistics(N)
    pk.execute(pk.ExecutionSpace.OpenMP, workload)
    assert list(workload.a) == [2 * (i + 1) for i in range(N)]
    assert workload.total == 55 and type(workload.total) is int
    assert workload.cells == N and type(workload.cells) is int  # Main did not store it.
    assert workload.squares == sum(4.0 * (i + 1) ** 2 for i in range(N))
    assert workload.shown == f"55 {workload.squares}" and workload.seconds >= 0


def test_several_units_in_one_call():
    first, second = doubles(), pk.View([N], pk.int32)
    pk.parallel_for(
        N, [put, put], args_0={"a": first, "value": 1.5}, args_1={"a": second, "value": 2.5}
    )
    assert list(first) == [1.5] * N and list(second) == [2] * N


@pk.workunit
def put(i, a, value):
    a[i] = value


def test_torch_like_arguments():
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.zeros(N)
    pk.parallel_for(N, put, a=Foreign(array), value=2.0)
    assert (array == 2.0).all()


def test_arguments_may_be_called_as_the_loops_around_a_unit_are():
    x = doubles()
    x.fill(1.0)
    found = pk.parallel_reduce(N, units.own_names, x=x, block=2.0, size=0.5)
    assert found == N * 2.5
