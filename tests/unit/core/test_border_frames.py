"""What has been met once is recorded without a line of Python: operators of arrays with numbers and
arrays of NumPy's, on either side.
"""

import operator

import numpy as np
import pytest
from tests.entered import frames

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="without the core everything is Python's")
OPERATORS = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "gt", "ge",
    "and_", "or_", "xor", "lshift", "rshift",
]  # fmt: skip
FLOATS = {"number": np.float64(2.5), "no dims": np.array(2.5), "row": np.full(20, 1.5),
          "column": np.full((40, 1), 1.5), "python": 2.5}  # fmt: skip
INTEGERS = {"number": np.int64(3), "no dims": np.array(3), "row": np.full(20, 2),
            "column": np.full((40, 1), 2), "python": 3}  # fmt: skip
BITS = ("and_", "or_", "xor", "lshift", "rshift")


@pytest.mark.parametrize("other", FLOATS)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_operators_met_before(name: str, other: str, side: str) -> None:
    whole = name in BITS
    partner = (INTEGERS if whole else FLOATS)[other]
    plain = np.arange(800).reshape(40, 20) if whole else np.linspace(1.0, 8.0, 800).reshape(40, 20)
    ours = fw.asarray(plain) + (0 if whole else 0.0)
    float(ours[0, 0])  # what is not pending is asked for at once
    function = getattr(operator, name)
    pair = (partner, ours) if side == "left" else (ours, partner)
    expected = function(*((partner, plain) if side == "left" else (plain, partner)))
    for _ in range(3):
        function(*pair)
        fw.sync()
    entered, result = frames(lambda: function(*pair))
    np.testing.assert_array_max_ulp(
        np.asarray(result) * 1.0, expected * 1.0, 0 if name != "pow" else 1
    )
    looks = 4 if name == "pow" else 0  # the exponent decides what it is
    assert len(entered) <= looks, entered


@pytest.mark.parametrize("side", ["left", "right"])
def test_products_met_before(side: str) -> None:
    plain = np.arange(1.0, 801.0).reshape(40, 20)
    ours, row = fw.asarray(plain), np.ones(40 if side == "left" else 20)
    pair = (row, ours) if side == "left" else (ours, row)
    with fw.options(small=512, interpret=True):
        for _ in range(20):  # the first twelve are recorded like all else
            operator.matmul(*pair)
        entered, result = frames(lambda: operator.matmul(*pair))
    np.testing.assert_array_equal(result, row @ plain if side == "left" else plain @ row)
    assert entered == [], entered


@pytest.mark.parametrize("x", ["row", "column", "number", "python"])
@pytest.mark.parametrize("y", ["ours", "row", "python"])
def test_choices_met_before(x: str, y: str) -> None:
    plain = np.arange(1.0, 801.0).reshape(40, 20)
    ours = fw.asarray(plain) * 1.0
    condition = ours > 7
    first, second = FLOATS[x], ours if y == "ours" else FLOATS[y]
    if x == y == "python":
        pytest.skip("two Python numbers have the type of neither array")
    for _ in range(3):
        fnp.where(condition, first, second)
        fw.sync()
    entered, result = frames(lambda: fnp.where(condition, first, second))
    np.testing.assert_array_equal(
        np.asarray(result), np.where(plain > 7, first, np.asarray(second))
    )
    assert entered == [], entered


SETTLING = {"_settle", "_value_was_asked_for", "catch_up", "_let_pass", "prune", "forget_loop"}
"""What looks for the program's loop after an evaluation, where other tests have left values."""
READS = {
    "asarray": lambda x: fnp.asarray(x),
    "asanyarray": lambda x: fnp.asanyarray(x),
    "item": lambda x: x.item(3),
    "items": lambda x: x.item(1, 2),
    "tolist": lambda x: x[5].tolist(),
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("pending", [False, True])
@fw.options(small=512, interpret=True)
def test_reads_met_before(name: str, pending: bool) -> None:
    plain = np.arange(1.0, 801.0).reshape(40, 20)
    ours = fw.asarray(plain)
    for _ in range(20):
        READS[name](ours * 2.0 if pending else ours)
    value = ours * 2.0 if pending else ours
    entered, result = frames(lambda: READS[name](value))
    np.testing.assert_array_equal(result, READS[name](plain * 2.0 if pending else plain))
    names = {code.co_name for code in entered} - {"<lambda>"} - SETTLING
    assert names == set(), names


WRITTEN = {"number": 2.5, "float64": np.float64(2.5), "integer": 3, "row": np.full(20, 1.5)}
PLACES = {"element": (3, 4), "row": 5, "part": (slice(2, 4),), "column of rows": ([1, 3],)}


@pytest.mark.parametrize("value", WRITTEN)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("whole", ["array", "view"])
@fw.options(small=512, interpret=True)
def test_what_others_see_is_written_at_once(value: str, place: str, whole: str) -> None:
    if value == "row" and place == "element":
        pytest.skip("a row is no number")
    ours = fw.asarray(np.arange(1.0, 801.0).reshape(40, 20)) * 1.0
    walk = fnp.nditer(ours, op_flags=["readwrite"])
    target = ours if whole == "array" else ours[:]
    before = ours * 2.0  # computed of what was there
    expected = np.array(ours)

    def write() -> None:
        target[PLACES[place]] = WRITTEN[value]

    write()
    entered, _ = frames(write)
    twice = expected * 2.0
    expected[PLACES[place]] = WRITTEN[value]
    np.testing.assert_array_equal(np.asarray(ours), expected)
    np.testing.assert_array_equal(walk.operands[0], expected)
    np.testing.assert_array_equal(np.asarray(before), twice)
    names = {code.co_name for code in entered} - {"write"} - SETTLING
    assert names == set(), names


def test_writes_that_others_see_are_refused_as_ever() -> None:
    ours = fw.asarray(np.arange(800).reshape(40, 20)) * 1
    walk = fnp.nditer(ours, op_flags=["readwrite"])
    with pytest.raises(IndexError):
        ours[40, 0] = 1
    with pytest.raises((OverflowError, ValueError)):
        ours[1, 0] = float("nan")
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        ours[1] = np.ones(3, dtype=int)
    np.testing.assert_array_equal(walk.operands[0], np.arange(800).reshape(40, 20))
    with fw.lazy():
        ours[1, 1] = 7
    assert walk.operands[0][1, 1] == 7


PARTS = {
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "imag of a row": lambda x: x[3].imag,
    "row of imag": lambda x: x.imag[3],
    "real transposed": lambda x: x.T.real,
    "imag reshaped": lambda x: x.reshape(-1).imag,
    "imag times two": lambda x: x.imag * 2.0,
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("kind", ["c16", "c8", "f8"])
@fw.options(small=16, interpret=True)
def test_parts_met_before(name: str, pending: bool, kind: str) -> None:
    if kind == "f8" and "imag" in name:
        pytest.skip("zeros of their own")
    plain = (np.arange(800.0) * (2 - 1j if kind[0] == "c" else 1)).astype(kind).reshape(40, 20)
    ours = fw.asarray(plain)
    for _ in range(20):
        PARTS[name](ours * 2 if pending else ours)
    value = ours * 2 if pending else ours
    entered, result = frames(lambda: PARTS[name](value))
    names = {code.co_name for code in entered} - {"<lambda>"} - SETTLING
    wanted = PARTS[name](plain * 2 if pending else plain)
    assert result.dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(result), wanted)
    assert names == set(), names


@pytest.mark.parametrize("small", [0, 512])
def test_parts_are_writable_views(small: int) -> None:
    with fw.options(small=small):
        plain = np.arange(800.0).reshape(40, 20) * (1 + 2j)
        ours = fw.asarray(plain)
        for one in (ours, plain):
            imag, real = one.imag, one[1:].real
            imag[...] = 3.0
            real[::2, 4] += 1.0
            one[0, 0] = 7j
            one.imag += real.sum()
        np.testing.assert_array_equal(np.asarray(ours), plain)
        np.testing.assert_array_equal(np.asarray(imag), plain.imag)
