"""Buffers of arrays that are only read: the array's own memory, shared while somebody holds it."""

import gc
import subprocess
import sys

import numpy as np
import pytest

import fusewright as fw
from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="without the core Python answers")
DTYPES = "?bhilBHILefdFD"


def made(plain):
    """An array of ours with these elements, in memory of its own."""
    ours = fw.asarray(plain) + 0 if plain.dtype != bool else fw.asarray(plain) | False
    fw.sync()
    return ours


PARTS = {
    "all": np.s_[...], "a row": np.s_[5], "a column": np.s_[:, 3], "every other": np.s_[::2, 1:9],
    "turned": np.s_[::-1, ::-3], "one": np.s_[3:4, 5:6], "none": np.s_[3:3],
}  # fmt: skip


@pytest.mark.parametrize("code", DTYPES)
@pytest.mark.parametrize("part", PARTS)
def test_elements(code: str, part: str) -> None:
    plain = (np.arange(800).reshape(40, 20) % 100).astype(code)
    ours = made(plain)
    view = memoryview(ours[PARTS[part]])
    expected = np.ascontiguousarray(plain[PARTS[part]])
    assert view.readonly
    assert view.shape == expected.shape
    assert np.asarray(view).dtype == plain.dtype
    assert bytes(ours[PARTS[part]]) == expected.tobytes()
    target = np.empty_like(expected)
    target[...] = ours[PARTS[part]]
    assert target.tobytes() == expected.tobytes()


def test_parts_in_other_shapes() -> None:
    plain = np.arange(800.0).reshape(40, 20)
    ours = made(plain)
    for _ in range(3):
        assert bytes(ours[5].reshape(4, 5)) == bytes(plain[5].reshape(4, 5))
        assert bytes(ours[5:7].reshape(5, 8)[1:3, 2]) == plain[5:7].reshape(5, 8)[1:3, 2].tobytes()
        assert bytes(ours.T[3:5]) == plain.T[3:5].tobytes()
        ours[5] += 1.0
        plain[5] += 1.0


def test_who_holds_a_buffer_sees_our_writes() -> None:
    ours = made(np.arange(800.0).reshape(40, 20))
    first, second = memoryview(ours), np.asarray(memoryview(ours[5]))
    copy, later = ours.copy(), ours * 2.0
    ours[5] = 7.0
    ours[6, 1] += 0.5
    assert first[5, 3] == 7.0
    assert first[6, 1] == 121.5
    assert (second == 7.0).all()
    assert copy[5, 3] == 103.0
    assert later[5, 3] == 206.0
    with pytest.raises(TypeError):
        first[0, 0] = 1.0
    assert not second.flags.writeable


def test_a_writer_beside_a_reader() -> None:
    ours = made(np.arange(800.0).reshape(40, 20))
    reader = memoryview(ours[5])
    writer = ours.view(np.ndarray)
    del reader
    gc.collect()
    writer[5, 3] = -1.0
    assert ours[5, 3] == -1.0
    ours[5, 4] = -2.0
    assert writer[5, 4] == -2.0
    again = memoryview(ours)
    del writer
    gc.collect()
    ours[5, 3] = -3.0
    assert again[5, 3] == -3.0


def test_what_is_let_go_is_the_arrays_alone() -> None:
    ours = made(np.arange(800.0).reshape(40, 20))
    plain = np.ones(20)
    for _ in range(100):
        plain[:] = ours[5]
        plain.dot(ours[6])
    memory = ours._node.value[0]
    assert memory.readers == 0
    assert not memory.external
    kept = ours * 1.0  # pending, and reads what is written now
    ours[5] = 0.0
    assert kept[5, 3] == 103.0


def test_while_an_error_is_on_its_way() -> None:
    ours = made(np.arange(800.0).reshape(40, 20))
    with pytest.raises(ValueError, match="broadcast"):
        np.ones(3)[:] = ours[5]
    assert ours._node.value[0].readers == 0


def test_pending_values_are_computed_first() -> None:
    ours = made(np.arange(800.0).reshape(40, 20))
    plain = np.empty(20)
    plain[:] = (ours * 2.0 + 1.0)[5]
    assert plain[3] == 207.0
    with fw.lazy():
        plain[:] = (ours * 3.0)[5]
    assert plain[3] == 309.0


def test_an_array_dies_before_its_reader() -> None:
    view = memoryview(made(np.arange(800.0).reshape(40, 20))[5])
    gc.collect()
    junk = [made(np.ones((40, 20))) for _ in range(10)]
    assert view.tolist() == np.arange(100.0, 120.0).tolist()
    assert len(junk) == 10


BEFORE_ANY_REQUEST = """
import sys
import numpy as np, fusewright as fw
def note(frame, event, _):
    if event == "call":
        entered.add(frame.f_code.co_name)
x, plain = fw.asarray(np.arange(3000.0).reshape(1000, 3)), np.zeros(3)
entered = set()
for i in range(40):
    row = x[i]
    if i == 20:  # what small programs record first is behind it
        sys.setprofile(note)
    plain[:] = row
sys.setprofile(None)
assert plain.tolist() == [117.0, 118.0, 119.0]
print(sorted(entered - {"watch"}), "fusewright.driver" in sys.modules)
"""


def test_reading_needs_no_runtime() -> None:
    """A program that only reads and writes elements never loads what plans and compiles."""
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_ANY_REQUEST], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[] False\n", done.stderr


def test_what_is_recorded_while_a_buffer_is_read_is_computed_before_the_next_write() -> None:
    """A flush of a loop's iterations, too: the buffer's reader keeps the memory as shared."""
    x = fw.asarray(np.arange(1000.0))
    fw.evaluate(x)
    view = memoryview(x)
    total = np.zeros(1000)
    mine = fw.asarray(np.zeros(1000))
    for step in range(300):
        y = x * 2.0 + step
        x[step] = -1.0
        assert view[step] == -1.0
        mine = mine + y
        total = total + (np.where(np.arange(1000) < step, -1.0, np.arange(1000.0)) * 2.0 + step)
    assert np.array_equal(np.asarray(mine), total)
    view.release()
    x[0] = 7.0
    assert float(x[0]) == 7.0
