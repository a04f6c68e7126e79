"""A copy, of an array or of a part, is not changed by writes to its original, nor the original by
writes to the copy, in whatever shape the written part is seen and whatever waits.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "array of a part": lambda np, a: np.array(a[1:]),
    "astype of a part": lambda np, a: a[1:].astype("f8"),
    "copy of a part": lambda np, a: a[1:].copy(),
    "deepcopy of a part": lambda np, a: copy.deepcopy(a[1:]),
    "array": lambda np, a: np.array(a),
    "copy": lambda np, a: a.copy(),
    "rows": lambda np, a: np.array(a.reshape(20, 100)[3:5]).reshape(-1),
}
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "in place": lambda np, a, c: a[: len(c)].__iadd__(c),
    "other in place": lambda np, a, c: c.__iadd__(a[: len(c)]),
    "turned round": lambda np, a, c: a.ravel().__setitem__(slice(0, len(c)), c[::-1]),
    "element of a ravelled part": lambda np, a, c: c[1:].ravel().__setitem__(0, 5.0),
    "the same of the original": lambda np, a, c: a[1:].ravel().__setitem__(0, 5.0),
    "ravelled parts of both": lambda np, a, c: (
        c[1:].ravel().__iadd__(1.0),
        a[1:].ravel().__iadd__(c[0]),
    ),
    "out": lambda np, a, c: np.multiply(c, a[: len(c)], out=a[: len(c)]),
    "out at the end": lambda np, a, c: np.multiply(c, a[-len(c) :], out=a[-len(c) :]),
}


def outcome(module: Any, copied: str, written: str, is_asked: bool, waits: bool) -> Any:
    values, other = module.cumsum(module.arange(2000.0) % 7), module.arange(4096.0)
    if is_asked:
        float(values[3])
    copy_of_it = COPIES[copied](module, values)
    if waits:
        other[1:] += 1
    with contextlib.suppress(ValueError):
        WRITES[written](module, values, copy_of_it)
    return [np.array(np.asarray(each)) for each in (values, copy_of_it, other)]


@pytest.mark.parametrize("copied", COPIES)
def test_a_write_changes_one_of_them(copied: str) -> None:
    for written, is_asked, waits, fuse in itertools.product(WRITES, *3 * [(False, True)]):
        want = outcome(np, copied, written, is_asked, waits)
        with fw.options(fuse=fuse):
            found = outcome(fnp, copied, written, is_asked, waits)
        for one, other in zip(want, found, strict=True):
            np.testing.assert_array_equal(other, one, f"{copied}, {written}, {is_asked}, {waits}")
