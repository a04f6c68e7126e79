"""Fetching ahead: which loops ask for lines before they read them, and how often."""

import re

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

LARGE = 1 << 24
"""Float32 elements of 64 MiB, from which a result is written past the caches."""


def array(*shape):
    """Zeros nobody has touched: they take no memory."""
    return fw.asarray(np.zeros(shape, np.float32))


def fetched(value):
    """The streams asked for, by the pointer their first line is counted from."""
    text = str(fw.show(value, "llvm"))
    finish = text.find("define void @finish")
    places = dict(re.findall(r"(%\w+) = getelementptr i8, ptr (%\w+), i64 512\n", text))
    asked = re.findall(r"@llvm\.prefetch\.p0\(ptr (%\w+)", text[: finish if finish > 0 else None])
    return {places[name] for name in asked if name in places}


def test_a_loop_over_small_arrays_does_not():
    a, b = array(1000), array(1000)
    assert fetched(a + b) == set()


def test_a_loop_whose_result_is_large_does_so_for_each_stream():
    a, b = array(LARGE), array(LARGE)
    assert len(fetched(a + b)) == 2


def test_a_sum_does_at_any_size():
    a, b = array(1000), array(1000)
    assert len(fetched((a * b).sum())) == 2


def test_neighbours_are_one_stream():
    b = -array(LARGE + 2)
    assert len(fetched(b[2:] + b[:-2])) == 1


def test_rows_do_and_what_lies_in_scratch_is_not_asked_for():
    x = array(64, 512)
    e = fnp.exp(x - x.max(axis=1, keepdims=True))
    loops = len(fetched(e / e.sum(axis=1, keepdims=True)))
    text = str(fw.show(e / e.sum(axis=1, keepdims=True), "llvm"))
    assert "%scratch" in text
    assert 1 <= loops <= 2  # the row itself, in each loop that reads it


@pytest.mark.parametrize("count", [1, 15, 16, 1000, 8192, 8193, 100_003])
def test_the_last_vector_before_the_end_of_memory(count):
    values = np.random.default_rng(count).standard_normal(count)
    a = fw.asarray(values)
    assert float((a * a).sum()) == pytest.approx(float((values * values).sum()), rel=1e-12)
