"""Tier T0 against brute force: the bytes of random views."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis.oracle import Memory, value_of

from fusewright.analysis.alias import View, in_root, may_overlap, signature
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import const, index

STRIDES = (0, 4, 8, -8, 16, -16, 24, 32, 40, -40, 80)


@st.composite
def views(draw):
    rank = draw(st.integers(1, 2))
    return View(
        1000 + draw(st.sampled_from((0, 2, 4, 8, 16, 24, 32, 40, 48, 80))),
        tuple(draw(st.sampled_from(STRIDES)) for _ in range(rank)),
        tuple(draw(st.integers(0, 4)) for _ in range(rank)),
        draw(st.sampled_from((4, 8, 8, 8))),
    )


def elements(view):
    """Every index with the bytes of its element."""
    for point in product(*map(range, view.extents)):
        start = view.address + sum(s * p for s, p in zip(view.strides, point, strict=True))
        yield point, frozenset(range(start, start + view.itemsize))


def cells(view, place, reference):
    """Every index with the cells of the root it stands for."""
    ends = [const(extent, INT64) for extent in reference.extents]
    found = in_root(place, [index(d) for d in range(len(view.extents))], ends)
    for point, _ in elements(view):
        at = [value_of(e, dict(enumerate(point)), {}, Memory()) for e in found]
        width = view.itemsize if place.kind == "bytes" else 1
        yield frozenset((*at[:-1], at[-1] + offset) for offset in range(width))


@settings(max_examples=600, deadline=None)
@given(st.lists(views(), min_size=1, max_size=3))
def test_cells_meet_where_bytes_meet(chosen):
    places = signature(chosen)
    everything = [
        (place.root, bytes_, cell)
        for view, place in zip(chosen, places, strict=True)
        for (_, bytes_), cell in zip(
            elements(view), cells(view, place, chosen[place.reference]), strict=True
        )
    ]
    for (root, bytes_, cell), (other, others, second) in product(everything, repeat=2):
        assert bool(bytes_ & others) == (root == other and bool(cell & second))


@settings(max_examples=300, deadline=None)
@given(views(), views())
def test_overlap_is_never_missed(a, b):
    if not may_overlap(a, b):
        assert not {x for _, x in elements(a)} & {x for _, x in elements(b)}
        assert not any(x & y for (_, x), (_, y) in product(elements(a), elements(b)))


def test_slices_of_a_matrix_keep_their_dims():
    whole = View(1000, (80, 8), (10, 10), 8)
    inner, right = View(1088, (80, 8), (8, 8), 8), View(1016, (80, 8), (10, 8), 8)
    places = signature([whole, inner, right])
    assert [place.kind for place in places] == ["shift"] * 3
    assert [place.offsets for place in places] == [(0, 0), (1, 1), (0, 2)]


def test_halves_of_a_matrix_are_apart_by_index():
    left, right = View(1000, (80, 8), (10, 5), 8), View(1040, (80, 8), (10, 5), 8)
    assert [place.offsets for place in signature([left, right])] == [(0, 0), (0, 5)]


def test_different_buffers_have_different_roots():
    places = signature([View(1000, (8,), (10,), 8), View(5000, (8,), (10,), 8)])
    assert [place.root for place in places] == [0, 1]


def test_empty_views_share_nothing():
    assert [p.root for p in signature([View(1000, (8,), (0,), 8)] * 2)] == [0, 1]
