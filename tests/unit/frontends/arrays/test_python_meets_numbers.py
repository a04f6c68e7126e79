# ruff: noqa: E501
"""What Python's own operators, functions and sequences make of lazy numbers: what they make of
NumPy's.
"""

from __future__ import annotations

import array
import bisect
import collections
import itertools
import math
import operator
import random
import re
import struct
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed

import fusewright as fw
import fusewright.numpy as fnp

SEQUENCES = ("[0, 1]", "(0,)", "'ab'", "b'ab'", "bytearray(b'x')", "collections.deque([1])",
             "array.array('d', [1.0])", "[]", "''", "[[1], [2]]", "[1.5]", "range(3)", "{1: 2}",
             "{1}", "None")  # fmt: skip
"""Python repeats them by an integer; what it does not repeat is multiplied, or refused."""
EXPRESSIONS = """
round(f) | round(f, 1) | round(g, 2) | round(h, 1) | round(i) | round(i, -1) | divmod(f, 2) | divmod(7, i) | pow(i, 2)
abs(-f) | abs(c) | not b | b + b | b * 3 | b & True | f if b else i | max(f, 2) | min(i, f) | sum([f, i, b]) | pow(2, i)
sorted([f, i, 2, 0.1]) | f in [f] | i in {3} | {f: 1}[1.5] | hash(f) == hash(1.5) | f == 1.5 | f != f | f < i < 9 | f or i
range(i) | list(range(0, 9, i)) | [1, 2, 3, 4, 5][i] | [1, 2, 3, 4][:i] | [1, 2, 3][f] | 'abcdef'[i] | 'abcdef'[-i:]
chr(i + 65) | hex(i) | bin(i) | hex(f) | bytes(i) | bytes([i]) | int(f) | float(i) | str(f) | repr(f) | repr(b) | repr(c)
f'{f}' | f'{f:.3f}' | f'{i:05d}' | f'{i:x}' | f'{b}' | f'{c:.2f}' | '%d %s %r' % (i, f, f) | '%5.2f' % f | '%x' % i
math.comb(i, 2) | math.factorial(i) | math.gcd(i, 4) | math.hypot(f, i) | math.fsum([f, i]) | math.prod([f, i])
math.floor(f) | math.ceil(f) | math.trunc(f) | math.isinf(f) | math.copysign(f, -1) | math.log(i) | math.ldexp(f, i)
struct.pack('d', f) | struct.pack('i', i) | struct.pack('?', b) | complex(f, i) | (1, 2, 3, 4)[i] | '{:e}'.format(f)
random.Random(1).uniform(f, 9) | random.Random(1).randint(0, i) | random.Random(1).sample(range(100), i)
bisect.bisect([1, 2, 3, 4], f) | operator.index(i) | operator.index(f) | operator.index(b) | array.array('d', [f, i])
list(itertools.islice([1, 2, 3, 4], i)) | list(itertools.repeat(1, i)) | list(itertools.combinations(range(4), i))
collections.Counter([i, i, 3]) | 'a,b,c,d'.split(',', i) | int('11', i) | 'a'.zfill(i) | ' '.rjust(i) | isinstance(i, int)
f.is_integer() | i.bit_count() | f.hex() | f.as_integer_ratio() | f + [1] | i // 0 | f / 0 | i << 1 | f == 'a' | f < 'a'
np.random.default_rng(i).random() | np.random.default_rng([i, 2]).random() | np.random.RandomState(i).rand(i) | f + 'a'
np.repeat([1, 2], i) | np.char.multiply('ab', i) | np.unravel_index(i, (3, 3)) | np.binary_repr(i) | np.linspace(0, f, i)
"""
MODULES = (array, bisect, collections, itertools, math, operator, random, struct)
ERRORS = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)


def numbers(np_: Any) -> dict[str, Any]:
    """Numbers that are lazy where arrays are ours."""
    x = np_.array(np.arange(2000) % 4)
    return {"i": x.max(), "f": (x * 0.5).max(), "b": (x > 2).any(), "c": (x * 1j).sum(), "np": np_,
            "g": (x * 0 + 2.675).max(), "h": (x * 0 + 1.55).astype("f4").max()}  # fmt: skip


def outcome(text: str, np_: Any) -> str:
    """A value with its type as text, or the error that a program may catch."""
    scope = {module.__name__: module for module in MODULES} | numbers(np_)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return shown(eval(text, scope))
    except Exception as error:  # noqa: BLE001
        return next((kind.__name__ for kind in ERRORS if isinstance(error, kind)), "error")


def shown(value: Any) -> str:
    """A value as text; arrays and numbers of both worlds alike."""
    if hasattr(value, "dtype") and hasattr(value, "__array__"):
        plain = np.asarray(value)
        return f"{plain.dtype} {plain.tolist()!r}"
    if type(value) in (list, tuple):
        return f"{type(value).__name__} {[shown(each) for each in value]}"
    return f"{type(value).__name__} {value!r}"


@pytest.fixture(params=[0, 512], autouse=True)
def small(request: pytest.FixtureRequest) -> Iterator[None]:
    with installed("interpreted"), fw.options(small=request.param):
        yield


@pytest.mark.parametrize("number", ["i", "f", "b", "c"])
def test_sequences_are_repeated(number: str) -> None:
    """`[0] * n` is a longer list, never an array; what `n` cannot repeat is a TypeError."""
    for sequence in SEQUENCES:
        for text in (f"{sequence} * {number}", f"{number} * {sequence}"):
            assert outcome(text, fnp) == outcome(text, np), text


def test_sequences_are_repeated_in_place() -> None:
    kept: list[Any] = [0]
    kept *= numbers(fnp)["i"]
    assert kept == [0, 0, 0]


def test_expressions() -> None:
    texts = [text.strip() for text in re.split(r" \| |\n", EXPRESSIONS) if text]
    wrong = [(text, outcome(text, fnp), outcome(text, np)) for text in texts]
    assert [row for row in wrong if row[1] != row[2]] == []
    assert len(texts) > 100


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_words_are_written_as_numbers(dtype: str) -> None:
    """`matrix[i, j] = line.split()[j]`, as programs read files."""

    def filled(np_: Any) -> Any:
        made = np_.zeros((30, 40), dtype)
        words = ("1.5", " -2e3 ", "nan", "inf", "1_0", "0.1", "-0.0")
        for k, word in enumerate(words):
            made[k, 3], made[20 + k], made[::3, k] = word, word, word
        for word in ("", "x", "1.5.", "0x1", "1,5"):
            with pytest.raises(ValueError, match="could not convert string to float"):
                made[0, 0] = word
        with pytest.raises(IndexError):
            made[50, 0] = "1"
        return np.asarray(made)

    assert filled(fnp).tobytes() == filled(np).tobytes()
