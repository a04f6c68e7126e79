"""Products of bfloat16: the reference's bits with any vector instructions and with tile registers
(emulated where the machine has none), on any threads, alone and in chains.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests import tile_registers as tiles
from tests.unit.targets.cpu.test_products import FEATURES, LAYOUTS, SIZES, small_machine

import fusewright as fw
from fusewright import driver
from fusewright.base.errors import DTypeError
from fusewright.codegen.products.module import product_module
from fusewright.codegen.products.registers import tile_for
from fusewright.frontends.arrays import trace
from fusewright.ir import bfloat16, products
from fusewright.ir.dtypes import BFLOAT16, FLOAT32, DType
from fusewright.ir.graph import LEAF, MAP, Node, leaf, memory_of, scalar
from fusewright.machine import record
from fusewright.plan import chains
from fusewright.runtime.profile import listen
from fusewright.targets.cpu import compiler, recorded_products, tile_registers
from fusewright.targets.cpu.features import UnsupportedCPU, select
from fusewright.targets.cpu.products import features_for, image_name, product
from fusewright.targets.reference import products as meaning

Array = np.ndarray[Any, Any]
DEPTHS = [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 128, 300]
WORK = 300_000
LEAST = 2.0**-126
RARE = (math.nan, math.inf, -math.inf, -0.0, 1e-40, -1e-40, LEAST, -LEAST, 3e38, -3e38)
SCALES = {"usual": 0, "tiny": -68, "huge": 60}
"""Powers of two: products of tiny numbers are denormal, sums of huge ones overflow."""


@pytest.fixture
def emulator() -> Iterator[Any]:
    with tiles.available() as found:
        yield found


def bits(values: Array) -> Array:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def numbers(rng: np.random.Generator, shape: tuple[int, ...], scale: str, rare: bool) -> Array:
    powers = rng.integers(-9, 9, shape) + SCALES[scale]
    made = rng.standard_normal(shape) * 2.0**powers
    if rare:
        where = rng.random(shape) < 0.02
        made[where] = rng.choice(np.array(RARE), int(where.sum()))
    return bfloat16.narrowed(made)


def laid(layout: str, values: Array) -> Array:
    """The values in a layout."""
    if layout == "one row":
        return np.broadcast_to(values[:1], values.shape)
    made = LAYOUTS[layout](values.shape, np.float16).view(bfloat16.STORED)
    made[...] = values
    return made


def assert_same(found: Array, wanted: Array) -> None:
    """To the bit, the NaN too; float32 leaves that open."""
    if wanted.dtype == np.float32:
        nan = np.isnan(wanted)
        assert np.array_equal(np.isnan(found), nan)
        found, wanted = (np.where(nan, np.float32(0), each) for each in (found, wanted))
    assert np.array_equal(bits(found), bits(wanted))


WIDE = {BFLOAT16: bfloat16.STORED, FLOAT32: np.dtype(np.float32)}


@settings(max_examples=120, deadline=None)
@given(
    extents=st.tuples(*(st.sampled_from(s) for s in (SIZES, DEPTHS, SIZES))).filter(
        lambda mkn: math.prod(mkn) <= WORK
    ),
    layouts=st.tuples(*(st.sampled_from([*LAYOUTS, "one row"]) for _ in range(2))),
    result=st.sampled_from([BFLOAT16, FLOAT32]),
    target=st.sampled_from(["rows", "columns", "wide rows", "spaced"]),
    scale=st.sampled_from(list(SCALES)),
    rare=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@example((61, 97, 33), ("rows", "rows"), BFLOAT16, "rows", "usual", True, 0)
@example((97, 64, 48), ("rows", "columns"), FLOAT32, "rows", "tiny", False, 0)
@example((33, 65, 97), ("columns", "columns"), BFLOAT16, "columns", "huge", True, 0)
@example((300, 1, 300), ("columns", "rows"), BFLOAT16, "spaced", "usual", False, 0)
@example((97, 0, 3), ("rows", "rows"), FLOAT32, "rows", "usual", False, 0)
@example((13, 2113, 5), ("rows", "columns"), FLOAT32, "wide rows", "usual", True, 0)
@example((7, 4100, 3), ("columns", "rows"), FLOAT32, "columns", "tiny", False, 0)
@example((3, 2113, 7), ("rows", "rows"), BFLOAT16, "rows", "usual", False, 0)
def test_bits(
    extents: tuple[int, int, int], layouts: tuple[str, str], result: DType, target: str,
    scale: str, rare: bool, seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    m, k, n = extents
    a, b = numbers(rng, (m, k), scale, rare), numbers(rng, (k, n), scale, rare)
    a, b = (laid(layout, each) for layout, each in zip(layouts, (a, b), strict=True))
    wanted = meaning.product(a, b, result)
    with tiles.available(), small_machine():
        for features in [*FEATURES, "amx"]:
            # Threads of the pool block signals, by which tile registers are emulated.
            for threads in (1, 2) if features != "amx" or tiles.HAS_TILES else (1,):
                with fw.options(features=features, threads=threads):
                    size = np.float16 if result is BFLOAT16 else np.float32
                    out = LAYOUTS[target]((m, n), size).view(WIDE[result])
                    assert product(a, b, out) is out
                    assert_same(out, wanted)


def test_ten_thousand_elements(emulator: Any) -> None:
    """The formula, said once more with exact numbers."""
    rng = np.random.default_rng(16)
    a, b = (numbers(rng, shape, "usual", False) for shape in ((100, 70), (70, 100)))
    wanted = meaning.product(a, b, FLOAT32)
    with fw.options(features="amx", threads=1):
        found = product(a, b, np.zeros((100, 100), np.float32))
    assert_same(found, wanted)
    wide = bfloat16.widened(a), bfloat16.widened(b)
    for i, j in rng.integers(0, 100, (40, 2)):
        total = np.float32(0)
        for start in range(0, 70, 32):
            halves = []
            for parity in (0, 1):
                half = np.float32(0)
                for k in range(start + parity, min(start + 32, 70), 2):
                    exact = Fraction(float(wide[0][i, k])) * Fraction(float(wide[1][k, j]))
                    half = _nearest(exact + Fraction(float(half)))
                halves.append(half)
            total = np.float32(total + np.float32(halves[0] + halves[1]))
        assert total == wanted[i, j]


def _nearest(exact: Fraction) -> Any:
    """float32, ties to even."""
    near = np.float32(float(exact))
    tried = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return min(tried, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1))


def test_denormal_numbers_are_zeros() -> None:
    """Going in, coming out, and what rounds with all its bits to less than the least normal one."""
    below, small = LEAST * (1 - 2.0**-7), 2.0**-75
    cases = [
        ([1e-39], [1e30], 0.0), ([2.0**-70], [-(2.0**-60)], -0.0), ([below], [1.0], 0.0),
        ([LEAST], [1.0], LEAST), ([2.0**-63], [2.0**-63], LEAST),
        ([LEAST, 0, small], [1, 0, -0.75 * small], 0.0),
        ([LEAST, 0, small], [1, 0, -0.4375 * small], LEAST),
    ]  # fmt: skip
    for a, b, wanted in cases:
        made = [bfloat16.narrowed(np.array(each, np.float32)[None, :]) for each in (a, b)]
        exact = meaning.product(made[0], made[1].T, FLOAT32)[0, 0]
        assert exact == np.float32(wanted) and (exact == 0 or exact >= LEAST)
        for features in FEATURES:
            with fw.options(features=features):
                found = product(made[0], made[1].T, np.zeros((1, 1), np.float32))
                assert_same(found, np.float32([[exact]]))
    one = np.float32(1e-40)
    assert one * np.float32(1) == one, "the processor treats denormal numbers as before"


def test_deep(emulator: Any) -> None:
    """Sums of float32 are taken up again: cutting k changes no bit."""
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (70, 4500), "usual", False), numbers(rng, (4500, 45), "usual", False)
    made = []
    for features in [*FEATURES, "amx"]:
        with fw.options(features=features, threads=1):
            wide = product(a, b, np.zeros((70, 45), np.float32))
            assert_same(bfloat16.narrowed(wide), product(a, b))
            made.append(wide.tobytes())
    assert len(set(made)) == 1


def test_types() -> None:
    a = numbers(np.random.default_rng(0), (5, 5), "usual", False)
    assert product(a, a).dtype == bfloat16.STORED
    assert product(a, a, np.zeros((5, 5), np.float32)).dtype == np.float32
    with pytest.raises(DTypeError):
        product(a, a, np.zeros((5, 5)))
    with pytest.raises(DTypeError):
        product(a, np.zeros((5, 5), np.float32))


def test_tiles_are_released(emulator: Any) -> None:
    if emulator is None:
        pytest.skip("the machine's own tile registers are not counted")
    a = numbers(np.random.default_rng(0), (64, 64), "usual", False)
    before = emulator.count()
    with fw.options(features="amx", threads=1):
        product(a, a)
    # Two by two blocks of results, each with two steps of four loads and four products.
    assert emulator.count() - before == 2 + 2 * 2 * (4 + 2 * 8 + 4)
    assert not emulator.in_use()


def test_refused_permission(emulator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without permission the same bits come from the vector unit."""
    a = numbers(np.random.default_rng(0), (64, 64), "usual", False)
    monkeypatch.setattr(tile_registers, "are_granted", lambda: False)
    before = emulator.count() if emulator else 0
    with fw.options(features="amx", threads=1):
        assert not features_for(BFLOAT16).has_tiles
        assert_same(product(a, a), meaning.product(a, a))
    assert emulator is None or emulator.count() == before


def test_asking_never_ends_the_process() -> None:
    """Whatever the system answers, with Python's own handlers of signals in place."""
    program = (
        "import faulthandler, threading; faulthandler.enable()\n"
        "from fusewright.targets.cpu.tile_registers import are_granted\n"
        "found = [are_granted()]\n"
        "thread = threading.Thread(target=lambda: found.append(are_granted()))\n"
        "thread.start(); thread.join(); assert found[0] == found[1]\n"
        "print(found[0])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str(tiles.HAS_TILES)


def test_features(emulator: Any) -> None:
    """Only products of bfloat16 are other code, under other keys."""
    found = {name: select(name) for name in ("avx512", "amx")}
    assert found["amx"].llvm_features == found["avx512"].llvm_features
    assert select("auto") == found["amx"]
    names = set()
    for name in found:
        with fw.options(features=name):
            names |= {image_name(BFLOAT16, r, features_for(BFLOAT16)) for r in WIDE}
            assert features_for(FLOAT32).llvm_features == found["avx512"].llvm_features
    assert len(names) == 4


@pytest.mark.skipif(tiles.HAS_TILES, reason="the machine has tile registers")
def test_absent_tiles() -> None:
    with pytest.raises(UnsupportedCPU, match="amx"):
        select("amx")
    assert not select("auto").has_tiles


def test_inner_loop(emulator: Any) -> None:
    """Four products a turn, four loads, and nothing of tiles besides; nor do the others spill."""
    with fw.options(features="amx"):
        chosen = features_for(BFLOAT16)
        tile = tile_for(BFLOAT16, chosen.vector_bytes, True)
        text = compiler.assembly(product_module(BFLOAT16, tile), chosen, 2, scalars=True)
    start = text.index("tile_32_2:")
    loop = text[start : text.index("tilestored", start)]
    assert loop.count("tdpbf16ps") == loop.count("tileloadd") == loop.count("tilezero") == 4
    assert text.count("ldtilecfg") == text.count("tilerelease") == 1


@pytest.mark.parametrize("result", [BFLOAT16, FLOAT32])
@pytest.mark.parametrize("features", FEATURES)
def test_turns_stay_in_registers(features: Any, result: DType) -> None:
    """Sums wait on the stack for the end of a block of k's; the loop over it touches no stack."""
    with fw.options(features=features):
        chosen = features_for(BFLOAT16)
    tile = tile_for(BFLOAT16, chosen.vector_bytes, False, result)
    text = compiler.assembly(product_module(BFLOAT16, tile), chosen, 2, scalars=True)
    start = text.index(f".Ltile_{tile.rows}_2:")
    body = text[start : text.index(".Lfunc_end", start)]
    first, last = body.index("vfmadd"), body.rindex("vfmadd")
    assert body.count("vfmadd") == 8 * tile.rows * 2
    assert not re.search(r"vmov\w+\s+%[yz]mm\d+, \S*\(", body[first:last])  # no stores


# ---- chains


def operand(values: Array) -> Node:
    return leaf(memory_of(values), BFLOAT16, values.shape, 0, values.strides)


def mapped(op: str, *args: Node, dtype: DType = FLOAT32) -> Node:
    shape = np.broadcast_shapes(*(each.shape for each in args))
    return Node(MAP, op, args, dtype, shape)


def cast(node: Node, dtype: DType) -> Node:
    return mapped("cast", node, dtype=dtype)


def layers(x: Node, weights: Sequence[Array], shift: Array) -> list[Node]:
    """Bias and ReLU after each product but the last, of which the bias is added before rounding."""
    found = []
    for number, w in enumerate(weights):
        is_wide = number % 2
        made = products.multiplied("matmul", x, operand(w), (), FLOAT32 if is_wide else None)
        made = made if is_wide else cast(made, FLOAT32)
        made = mapped("add", made, cast(operand(shift[: w.shape[1]]), FLOAT32))
        zero = scalar(0.0, FLOAT32)
        x = cast(mapped("maximum", cast(cast(made, BFLOAT16), FLOAT32), zero), BFLOAT16)
        found.append(x)
    return found


def computed(program: Callable[[], list[Node]], **options: Any) -> list[Array]:
    with fw.options(interpret=False, background=False, **options), trace.lock:
        made = program()[-2:]
        driver.compute(tuple(made))
    assert all(node.kind == LEAF for node in made)
    found = [np.ndarray(node.shape, np.uint16, node.value[0].owner, node.value[1]) for node in made]
    # The sign of a NaN is a sum's or a maximum's, for which it is not specified.
    return [np.where(each & 0x7FFF > 0x7F80, np.uint16(0x7FC0), each) for each in found]


@settings(max_examples=25, deadline=None)
@given(
    rows=st.sampled_from([1, 2, 31, 32, 33, 95, 96, 97, 200, 300]),
    widths=st.lists(st.sampled_from([1, 2, 5, 16, 17, 32, 33, 61, 64, 97]), min_size=2, max_size=5),
    rare=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@example(300, [64, 97, 32], False, 0)
@example(97, [33, 64, 17, 61], True, 1)
@example(95, [5, 32, 5, 2], True, 2604)
def test_chains(rows: int, widths: list[int], rare: bool, seed: int) -> None:
    """Fused and unfused, on any threads, with any instructions: the reference's bits."""
    rng = np.random.default_rng(seed)
    x = numbers(rng, (rows, widths[0]), "usual", rare)
    weights = [numbers(rng, pair, "usual", False) for pair in pairwise(widths)]
    shift = numbers(rng, (max(widths),), "usual", rare)

    def program() -> list[Node]:
        return layers(operand(x), weights, shift)

    wanted = computed(program, target="reference")
    machine = record.current()._replace(chain_gain=0.0, fork=0.0)
    with tiles.available(), record.using(machine):
        for features in [*FEATURES, "amx"]:
            for threads in (1, 2) if features != "amx" or tiles.HAS_TILES else (1,):
                for fuse in (True, False):
                    options = {"features": features, "threads": threads, "fuse": fuse}
                    for found, other in zip(computed(program, **options), wanted, strict=True):
                        assert np.array_equal(found, other)


def test_what_fuses(emulator: Any) -> None:
    """Tile registers multiply so fast that memory is what takes time: chains fuse that do not
    without.
    """
    rng = np.random.default_rng(0)
    x = numbers(rng, (32768, 128), "usual", False)
    weights = [numbers(rng, shape, "usual", False) for shape in ((128, 512), (512, 128))]

    def fused(features: str) -> chains.Segment:
        made = layers(operand(x), weights, numbers(rng, (512,), "usual", False))[-1]
        with fw.options(features=features), record.using(record.DEFAULT):
            found = recorded_products.segments_of(recorded_products.take([made]), True)
        return found[0]

    slow, fast = fused("avx512"), fused("amx")
    assert fast.fused and fast.rows % 96 == 0
    assert fast.together.multiplying < slow.together.multiplying / 5
    gain = [each.apart.total / each.together.total for each in (slow, fast)]
    assert gain[1] > gain[0]


def test_explained() -> None:
    x = numbers(np.random.default_rng(0), (4096, 128), "usual", False)
    w = numbers(np.random.default_rng(1), (128, 128), "usual", False)
    with listen() as heard:
        computed(lambda: layers(operand(x), [w], w[0]))
    steps = [step for flush in heard.flushes for step in flush.steps]
    assert any("bfloat16[" in getattr(step, "loops", "") for step in steps)


THREADS = """
import numpy as np
from tests import tile_registers as tiles
with tiles.available(workers=True):
    from tests.unit.targets.cpu import test_bfloat16_products as tests
    import fusewright as fw
    rng = np.random.default_rng(0)
    for m, k, n in ((300, 97, 131), (64, 64, 64), (97, 300, 300)):
        a, b = (tests.numbers(rng, shape, "usual", True) for shape in ((m, k), (k, n)))
        for threads in (1, 2):
            with tests.small_machine(), fw.options(features="amx", threads=threads):
                tests.assert_same(tests.product(a, b), tests.meaning.product(a, b))
print("same")
"""


def test_threads() -> None:
    """Two threads, each with tiles of its own, in a process whose pool leaves signals open."""
    with tiles.available():
        pass  # skipped where that cannot be
    ran = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "same"
