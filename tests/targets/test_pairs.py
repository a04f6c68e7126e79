"""Operations on every pair of integer types, compiled, against NumPy: values at all ends."""

import itertools
import operator

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

DTYPES = "?bhilBHIL"
OPERATIONS = {
    name: getattr(operator, name)
    for name in ("lt", "le", "eq", "ne", "gt", "ge", "add", "sub", "mul", "and_", "or_", "xor")
} | {
    name: (lambda a, b, name=name: getattr(fnp if isinstance(a, fnp.ndarray) else np, name)(a, b))
    for name in ("maximum", "minimum", "fmax", "fmin", "logical_and", "true_divide")
}


def ends(code: str, other: str) -> np.ndarray:
    """Every end of both types that this one can hold, and some beside."""
    own = [0, 1, 1] if code == "?" else [np.iinfo(code).min, np.iinfo(code).max]
    theirs = [0, 1] if other == "?" else [np.iinfo(other).min, np.iinfo(other).max]
    low, high = (0, 1) if code == "?" else (np.iinfo(code).min, np.iinfo(code).max)
    near = [end + step for end in own + theirs + [0] for step in (-1, 0, 1)]
    return np.array(sorted({number for number in near if low <= number <= high}), dtype=code)


@pytest.mark.parametrize(("left", "right"), list(itertools.product(DTYPES, repeat=2)))
def test_pairs(left: str, right: str) -> None:
    a, b = (grid.ravel() for grid in np.meshgrid(ends(left, right), ends(right, left)))
    a, b = np.tile(a, 3), np.tile(b, 3)
    with fw.options(interpret=False, small=0), np.errstate(all="ignore"):
        x, y = fw.asarray(a), fw.asarray(b)
        wanted, found = {}, {}
        for name, operation in OPERATIONS.items():
            try:
                wanted[name] = operation(a, b)
            except TypeError:
                continue  # NumPy has no `-` of booleans, no `&` of uint64 and int64
            found[name] = operation(x, y)
        fw.evaluate(*found.values())
        for name, value in wanted.items():
            assert found[name].dtype == value.dtype, name
            np.testing.assert_array_equal(np.asarray(found[name]), value, err_msg=name)
