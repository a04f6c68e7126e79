"""Views: element types, layouts, parts, sharing, resizing; what they are to Python and NumPy."""

import numpy as np
import pytest

import fusewright.bridges.pykokkos as pk

TYPES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
)  # fmt: skip


@pk.workunit
def add(i, a, value):
    a[i] += value


@pk.workunit
def add_rows(i, a, m):
    for j in range(m):
        a[i][j] += 10 * i + j


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("layout", [pk.LayoutRight, pk.LayoutLeft])
def test_element_types_and_layouts(name, layout):
    kind = getattr(pk, name)
    a = pk.View([4, 3], kind, layout=layout)
    assert a.dtype is kind and a.layout is layout and a.shape == (4, 3) and a.size == 12
    assert (a.rank(), a.extent(0), a.extent(1), len(a)) == (2, 4, 3, 4)
    pk.parallel_for(4, add_rows, a=a, m=3)
    expected = 10 * np.arange(4)[:, None] + np.arange(3)
    np.testing.assert_array_equal(np.asarray(a), expected.astype(name))
    assert np.asarray(a).dtype == np.dtype(name)
    left = layout is pk.LayoutLeft
    assert np.asarray(a).flags["F_CONTIGUOUS" if left else "C_CONTIGUOUS"]


def test_names_of_types():
    assert pk.View([1], int).dtype is pk.int32 and pk.View([1], float).dtype is pk.float64
    assert pk.View([1], pk.float).dtype is pk.float32 and pk.View([1]).dtype is pk.float64
    assert pk.View([1], pk.DataType.double).dtype is pk.float64
    assert pk.View([2], pk.bool).data.dtype == np.bool_
    assert pk.result_type(pk.uint8, pk.uint16) is pk.uint16
    with pytest.raises(NotImplementedError):
        pk.result_type(pk.float32, pk.int64)
    assert pk.iinfo(pk.int16).max == 32767 and pk.finfo(pk.float).bits == 32


def test_default_precision():
    pk.set_default_precision(pk.int32)
    try:
        view = pk.View([3])
        assert view.dtype is pk.int32
        view.fill(7)
        view.set_precision(pk.float)
        assert view.dtype is pk.float32 and list(view) == [7.0] * 3
    finally:
        pk.set_default_precision(pk.double)


def test_complex_views():
    view = pk.View([2], pk.complex128)
    view.fill(1 + 2j)
    assert view[1] == 1 + 2j


def test_subviews_share_memory():
    a = pk.View([6, 5], pk.double)
    part = a[1:4, 2:]
    column = a[:, 1]
    assert isinstance(part, pk.Subview) and part.shape == (3, 3) and part.base_view is a
    pk.parallel_for(3, add_rows, a=part, m=3)
    pk.parallel_for(6, add, a=column, value=5.0)
    expected = np.zeros((6, 5))
    expected[1:4, 2:] += 10 * np.arange(3)[:, None] + np.arange(3)
    expected[:, 1] = 5
    np.testing.assert_array_equal(np.asarray(a), expected)
    assert a[2, 1] + 0.5 == 5.5 and a[2, 1] * 2.0 == 10.0 and float(a[2, 1]) == 5.0
    with pytest.raises(ValueError, match="all dimensions"):
        a[1:3]


def test_foreign_memory_is_shared():
    array = np.arange(6.0)
    view = pk.from_numpy(array)
    pk.parallel_for(6, add, a=view, value=1.0)
    assert list(array) == [k + 1.0 for k in range(6)]
    array[0] = 50.0
    assert view[0] == 50.0 and pk.array(view) is view
    assert list(pk.array([1, 2])) == [1, 2]
    assert pk.array(np.asfortranarray(np.ones((2, 2)))).layout is pk.LayoutLeft
    assert pk.asarray([1.5, 2.5], dtype=pk.float32).dtype is pk.float32
    assert pk.asarray(pk.pi).dtype is pk.float64


def test_resize():
    view = pk.View([3, 4], pk.int32)
    view.fill(2)
    view.resize(0, 5)
    assert view.shape == (5, 4) and np.asarray(view)[:3].sum() == 24
    assert np.asarray(view)[3:].sum() == 0
    view.resize(1, 2)
    assert view.shape == (5, 2) and np.asarray(view).sum() == 12
    with pytest.raises(ValueError, match="rank"):
        view.resize(2, 1)
    with pytest.raises(ValueError, match="rank"):
        view.extent(2)


def test_python_protocols():
    view = pk.View([3], pk.int64)
    view[:] = [1, 2, 3]
    assert str(view) == "[1 2 3]" and [int(x) for x in view] == [1, 2, 3]
    assert type(view[0]) is np.longlong and list(view == 2) == [0, 1, 0]
    assert list(+view) == [1, 2, 3] and hash(view) == hash(view)
    single = pk.View([1], pk.double)
    single.fill(2.5)
    assert float(single) == 2.5 and int(single) == 2 and bool(single)
    with pytest.raises(TypeError):
        float(view)
    with pytest.raises(OverflowError):
        pk.View([1], pk.uint8)[0] = -1
    assert np.add(view, 1).tolist() == [2, 3, 4]


def test_user_classes_of_views():
    class Numbers(pk.View):
        def __init__(self, n, kind=pk.int32):
            super().__init__([n], kind)

    numbers = Numbers(4)
    pk.parallel_for(4, add, a=numbers, value=3)
    assert list(numbers) == [3] * 4


def test_sorting_into_bins():
    keys = pk.View([6], pk.double)
    keys[:] = [9.0, 1.0, 5.0, 8.0, 0.0, 2.0]
    sorter = pk.BinSort(keys, pk.BinOp1D(keys, 2, 0.0, 10.0))
    sorter.create_permute_vector()
    assert list(sorter.get_permute_vector()) == [1, 4, 5, 0, 2, 3]
    assert list(sorter.get_bin_count()) == [3, 3, 0]
    assert list(sorter.get_bin_offsets()) == [0, 3, 6]
    sorter.sort(keys)
    assert list(keys) == [1.0, 0.0, 2.0, 9.0, 5.0, 8.0]
    longer = pk.View([8], pk.int32)
    longer[:] = range(8)
    sorter.sort(longer)  # Rows behind the keys stay.
    assert list(longer) == [1, 4, 5, 0, 2, 3, 6, 7]
