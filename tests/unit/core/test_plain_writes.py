"""Small arrays of NumPy's written into regions of ours: what NumPy writes, whatever layout and type
they have, and however the array and the region are seen.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests import evaluators

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.ir.graph import LEAF

pytestmark = pytest.mark.skipif(native is None, reason="what the core writes at once")

BASES: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda xp: xp.zeros((30, 8, 9)),
    "in memory": lambda xp: xp.asarray(np.arange(2160.0).reshape(30, 8, 9)),
    "single": lambda xp: xp.full((30, 8, 9), 2.5, dtype="f4"),
    "computed": lambda xp: xp.asarray(np.arange(2160.0).reshape(30, 8, 9)) * 0.5,
    "turned": lambda xp: xp.asarray(np.arange(2160.0).reshape(9, 8, 30)).T,
    "part": lambda xp: xp.asarray(np.arange(17280.0).reshape(60, 16, 18))[::2, 1::2, ::-2],
    "reshaped": lambda xp: xp.asarray(np.arange(2160.0)).reshape(30, 8, 9),
}
KEYS: tuple[Any, ...] = (
    3, (3, 4), (3, 4, 5), (slice(None), 4), (..., 5), slice(2, 6), (slice(9, 1, -3), 2),
    (slice(1, -1), slice(None, None, 2), slice(7, None, -1)), (2, None, slice(3)), slice(5, 5),
)  # fmt: skip
REFUSALS = ValueError, TypeError, IndexError
NUMBERS = np.random.default_rng(5).normal(size=(4, 30, 8, 9)) * 90


def values(shape: tuple[int, ...]) -> dict[str, Any]:
    """What may be written to a region of a shape, as far as it is small."""
    room = tuple(slice(extent) for extent in shape)
    like = NUMBERS[(0,) * (4 - len(shape))][room] if shape else NUMBERS[0, 0, 0, :1].reshape(())
    found = {
        "as it is": like,
        "copy": like.copy(),
        "single": like.astype("f4"),
        "whole": like.astype("i2"),
        "other bytes": like.astype(">f8"),
        "complex": like + 1j,
        "one more dim": like[None],
        "two rows": np.stack([like, like]),
        "number": np.array(7.5),
    }
    if shape:
        found |= {
            "turned": np.asfortranarray(like),
            "reversed": like[::-1],
            "ones": like[(slice(1),) * len(shape)],
            "last": NUMBERS[3, 2, 1, : shape[-1]],
            "first": like[(slice(None), *(slice(1),) * (len(shape) - 1))],
            "too long": np.concatenate([like, like], -1),
            "repeated": np.broadcast_to(NUMBERS[1, 2, 3, : shape[-1]], shape),
        }
    return found


def write(array: Any, key: Any, value: Any) -> str:
    try:
        with np.errstate(all="ignore"):
            array[key] = value
    except REFUSALS as error:
        return next(kind.__name__ for kind in REFUSALS if isinstance(error, kind))
    return "written"


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", BASES)
def test_they_are_numpys_writes(name: str) -> None:
    evaluators.begin()
    with fw.options(interpret=True, small=512):
        float((fnp.ones(900) + fnp.ones(900)).sum())  # what runs at once is there
        shape = BASES[name](np).shape
        for key, kept in product(KEYS, (False, True)):
            for kind, value in values(np.empty(shape)[key].shape).items():
                ours, plain = BASES[name](fnp), BASES[name](np)
                ours[2:4] = plain[2:4] = 1.0
                before = (ours + 0, plain + 0) if kept else (0, 0)
                told = write(ours, key, value), write(plain, key, value)
                assert told[0] == told[1], (key, kind)
                assert np.array_equal(np.asarray(ours), plain), (key, kind)
                assert np.array_equal(np.asarray(before[0]), before[1]), (key, kind)


def test_they_are_no_copies() -> None:
    evaluators.begin()
    with fw.options(interpret=True, small=512):
        float((fnp.ones(900) + fnp.ones(900)).sum())
        ours = fnp.zeros((40, 50))
        for k in range(20):
            ours[k] = np.arange(50.0)
        memory = id(ours._node.value[0])  # a reference would be somebody who sees it
        assert ours._node.kind == LEAF
        for k in range(20):
            ours[1:4, 2:7] = np.full((3, 5), k)
        assert id(ours._node.value[0]) == memory
        assert float(ours[3, 6]) == 19.0
