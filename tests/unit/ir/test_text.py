"""A program's text parses back to the program."""

from __future__ import annotations

import struct

import pytest
from tests.unit.programs_of import PROGRAMS, decided

from fusewright.ir.dtypes import COMPLEX128, FLOAT16, FLOAT32, FLOAT64, INT64, UINT64
from fusewright.ir.expr import Expr, bitcast, cast, const, index, load, op, param, typed_op
from fusewright.ir.nest import Alias, Box, Buffer, Library, Nest, Program, Source, Stage
from fusewright.ir.text import nodes_text, parse_program, program_text


@pytest.mark.parametrize("name", PROGRAMS)
def test_round_trip(name: str) -> None:
    _, program, _ = decided(PROGRAMS[name]())
    assert parse_program(program_text(program)) == program


def program_of(body: Expr) -> Program:
    n = param(0, INT64)
    buffers = {0: Buffer(0, FLOAT64, (n,)), 1: Buffer(1, body.dtype, (n,), (const(-8, INT64),))}
    nest = Nest(Box((const(0, INT64),), (n,)), body, (index(0),))
    stage = Stage(1, "map", body.dtype, (n,), (nest,), update=0)
    steps = (stage, Library(2, (0, 1)), Alias(3, 2))
    return Program(buffers, steps, (Source("start", 4, 1, 2),), frozenset({1, 3}))


X = load(0, (index(0),), FLOAT64)
NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000BAD))[0]


@pytest.mark.parametrize(
    "body",
    [
        X,
        const(0.1, FLOAT64),
        const(-0.0, FLOAT64),
        const(float("inf"), FLOAT32),
        const(NAN, FLOAT64),
        const(1.5, FLOAT16),
        const(2**64 - 1, UINT64),
        const(complex(-0.0, float("nan")), COMPLEX128),
        param(0, INT64),
        param((0, 1), FLOAT64),
        cast(X, FLOAT32),
        bitcast(X, UINT64),
        op("less", X, X),
        typed_op("isnan", op("less", X, X).dtype, X),
        op("multiply", op("add", X, X), op("add", X, X)),
        load(0, (cast(load(0, (index(0),), FLOAT64), INT64),), FLOAT64),
        load(0, (op("subtract", index(0), const(-3, INT64)),), FLOAT32),
    ],
    ids=repr,
)
def test_every_kind_of_expression(body: Expr) -> None:
    program = program_of(body)
    (stage, *_) = parse_program(program_text(program)).steps
    assert isinstance(stage, Stage) and stage.nests[0].body is body
    assert parse_program(program_text(program)) == program


def test_what_is_used_twice_is_written_once() -> None:
    total = X
    for _ in range(60):
        total = op("add", total, total)
    text = program_text(program_of(total))
    assert len(text) < 3000
    assert parse_program(text) == program_of(total)


@pytest.mark.parametrize(
    "text",
    ["nonsense", "buffer b0 float65 [p0]", "stage b1 map float64 [p0", "add(i0, i1)",
     "outputs x1", "stage b0 map float64 []\n  nest [] to [] store []\n    conjure()"],
)  # fmt: skip
def test_what_is_no_program_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"line 1|line 3"):
        parse_program(text)


def test_a_slice_as_text() -> None:
    slice_, _, _ = decided(PROGRAMS["chain"]())
    text = nodes_text([slice_.order[-1]])
    assert text.splitlines()[0] == "%0 = leaf: float64[10]"
    assert "multiply %0 %1: float64[10]" in text and "scalar 2.5: float64[]" in text
