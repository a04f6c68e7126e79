"""Random chains of products: the same bits fused and unfused, on any threads, with any
instructions; and those of the reference where NumPy defines all of them.

    python -m tests.properties.random_chains --seed 1 --count 20000

Chain `n` of seed `s` is the same at each run.  Small products take the path of large ones here.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import linalg
from fusewright.ir import products
from fusewright.ir.graph import Node
from fusewright.machine import record
from fusewright.plan import chains
from fusewright.targets.cpu import product_schedules, recorded_products
from fusewright.targets.reference.products import MOST

Array = np.ndarray[Any, Any]
SIZES = (0, 1, 2, 3, 5, 7, 12, 13, 16, 17, 31, 32, 33, 48, 61, 97)
LARGE = (127, 128, 199, 300)
ROWS = (0, 1, 2, 5, 23, 24, 25, 47, 49, 97, 151, 300)
WAYS: tuple[dict[str, Any], ...] = (
    {"fuse": False}, {}, {"threads": 1, "interpret": False}, {"threads": 2, "interpret": False},
    {"features": "avx2", "threads": 2, "interpret": False}, {"features": "avx2", "fuse": False},
)  # fmt: skip


@contextmanager
def small_ones() -> Iterator[list[chains.Segment]]:
    """Products of any size are ours inside, and fused wherever that is right; what ran fused."""

    def is_ours(left: Node, right: Node) -> bool:
        floats = left.dtype is right.dtype and left.dtype in products.DTYPES
        return floats and min(len(left.shape), len(right.shape)) >= 2

    ran: list[chains.Segment] = []
    genuine = recorded_products.chains.run
    add = product_schedules.Draft.add

    def added(draft: Any, bound: Any, members: Any = (), runners: Any = ()) -> None:
        for runner in runners:
            runner.is_final = True  # the core repeats it at once, whichever code that is
        add(draft, bound, members, runners)

    def noted(nodes: Any, segment: chains.Segment, *rest: Any) -> Any:
        ran.append(segment)
        return genuine(nodes, segment, *rest)

    kept = products.is_compiled, linalg.SMALL, chains.MOST_LAYERS
    products.is_compiled, linalg.SMALL = is_ours, -1
    recorded_products.chains.run = noted
    product_schedules.Draft.add = added  # type: ignore[method-assign]
    try:
        with record.using(record.current()._replace(chain_gain=0.0)):
            yield ran
    finally:
        products.is_compiled, linalg.SMALL, chains.MOST_LAYERS = kept
        recorded_products.chains.run = genuine
        product_schedules.Draft.add = add  # type: ignore[method-assign]


class Chain:
    """One program: `run` records it anew and gives what it asks for."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.seed = seed
        self.dtype = chance.choice((np.float32, np.float32, np.float64))
        self.batch = chance.choice(((), (), (), (2,), (2, 3), (0,)))
        self.rows = chance.choice(ROWS)
        self.width = chance.choice(SIZES)
        self.layers = chance.randrange(1, 6)
        self.exact = True
        """Whether nothing is used whose bits the reference leaves to NumPy."""

    def run(self) -> list[Any]:
        chance = random.Random(self.seed + 1)
        generator = np.random.default_rng(self.seed)
        maker = _Maker(self, chance, generator)
        value = maker.input((*self.batch, self.rows, self.width))
        for _ in range(chance.randrange(2)):
            value = maker.mapped(value)
        asked = []
        for _ in range(self.layers):
            value = maker.layer(value)
            for _ in range(chance.randrange(4)):
                value = maker.mapped(value)
            if chance.random() < 0.2:
                asked.append(value)
            if chance.random() < 0.2 and value.shape[-1]:
                asked.append(chance.choice(_ROWS)(value))
        if chance.random() < 0.15 and not self.batch and value.ndim == 2:
            asked.append(linalg.matmul(value.T, value))
        return [*asked, value]


class _Maker:
    """The random choices of one run."""

    def __init__(self, chain: Chain, chance: random.Random, generator: Any) -> None:
        self.chain = chain
        self.chance = chance
        self.generator = generator
        self.earlier: list[Any] = []

    def numbers(self, shape: tuple[int, ...]) -> Array:
        found = self.generator.standard_normal(shape).astype(self.chain.dtype)
        if self.chance.random() < 0.1 and found.size:
            special = (np.nan, np.inf, -np.inf, -0.0, 1e-42, -1e-310, 3e38)
            with np.errstate(all="ignore"):
                found.flat[self.chance.randrange(found.size)] = self.chance.choice(special)
        return found

    def input(self, shape: tuple[int, ...]) -> Any:
        """An array of a random layout."""
        way = self.chance.randrange(9)
        if way == 0 and len(shape) == 2:
            return fw.asarray(self.numbers(shape[::-1])).T
        if way == 1:
            return fw.asarray(self.numbers((*shape[:-1], 2 * shape[-1])))[..., ::2]
        if way == 2:
            return fw.asarray(self.numbers(shape))[..., ::-1, :]
        if way == 3:
            return fw.asarray(self.numbers(shape))[..., ::-1]
        if way == 4:
            return fnp.broadcast_to(fw.asarray(self.numbers((1, shape[-1]))), shape)
        if way == 5:
            return fw.asarray(self.numbers((*shape[:-1], shape[-1] + 1)))[..., 1:]
        if way == 8 and self.chance.random() < 0.5:  # a view of a number
            return fnp.full(shape, 0.25, self.chain.dtype)
        if way == 6 and len(shape) == 2 and 0 not in shape:
            flat = self.numbers((shape[0] + shape[1] - 1,))
            return fw.asarray(np.lib.stride_tricks.sliding_window_view(flat, shape[1]).copy())
        return fw.asarray(self.numbers(shape))

    def layer(self, value: Any) -> Any:
        """A product, or two gated ones, or one with a value's own transpose."""
        k = value.shape[-1]
        n = self.chance.choice(LARGE if self.chance.random() < 0.05 else SIZES)
        weights = self.weights(k, n)
        found = linalg.matmul(value, weights)
        if value.size * n > MOST:
            self.chain.exact = False
        if self.chance.random() < 0.15:
            found = fnp.maximum(found, 0) * linalg.matmul(value, self.weights(k, n))
        if self.chance.random() < 0.1:
            found = found.astype(np.float64).astype(self.chain.dtype)
        return found

    def weights(self, k: int, n: int) -> Any:
        batch = self.chain.batch if self.chance.random() < 0.4 else ()
        found = self.input((*batch, k, n))
        return found * 2 if self.chance.random() < 0.2 else found

    def mapped(self, value: Any) -> Any:
        """One more operation on a value."""
        result = self.chance.choice(_MAPS)(self, value)
        self.earlier.append(result)
        return result

    def residual(self, value: Any) -> Any:
        fitting = [each for each in self.earlier if each.shape == value.shape]
        return value - self.chance.choice(fitting) if fitting else value + value

    def inexact(self, function: Callable[[Any], Any], value: Any) -> Any:
        self.chain.exact = False
        return function(value)

    def excerpt(self, value: Any) -> Any:
        width = value.shape[-1]
        return value[..., width // 3 :] if width > 2 else value


def _highest(maker: _Maker, value: Any) -> Any:
    return value - value.max(axis=-1, keepdims=True) if value.shape[-1] else value


def _softmax(maker: _Maker, value: Any) -> Any:
    maker.chain.exact = False
    powers = fnp.exp(_highest(maker, value))
    return powers / powers.sum(axis=-1, keepdims=True)


_MAPS: tuple[Callable[[_Maker, Any], Any], ...] = (
    lambda m, v: fnp.maximum(v, 0),
    lambda m, v: v + fw.asarray(m.numbers(v.shape[-1:])),
    lambda m, v: v * fw.asarray(m.numbers((*v.shape[:-1], 1))),
    lambda m, v: v + fw.asarray(m.numbers(v.shape)),
    lambda m, v: v * m.chain.dtype(0.37),
    lambda m, v: v + fnp.ones(v.shape[-1:], m.chain.dtype),
    lambda m, v: fnp.where(v > 0, v, v * m.chain.dtype(0.1)),
    lambda m, v: fnp.sqrt(abs(v)) / 3,
    lambda m, v: m.inexact(fnp.tanh, v),
    lambda m, v: v[..., ::-1] + v,
    lambda m, v: m.inexact(lambda x: x - x.sum(axis=-1)[..., None], v),
    lambda m, v: m.inexact(lambda x: fnp.cumsum(x, axis=-1), v),
    lambda m, v: m.excerpt(v),
    lambda m, v: v[..., ::-1],
    lambda m, v: v[..., 1::2] if v.shape[-1] > 3 else v,
    lambda m, v: m.inexact(lambda x: x / (1 + fnp.exp(-x)), v),
    lambda m, v: fnp.clip(v, -1, 1) * (v.shape[-1] + 1),
    lambda m, v: m.residual(v),
    lambda m, v: (v > 0).astype(m.chain.dtype) * v,
    _highest,
    _softmax,
)


_ROWS: tuple[Callable[[Any], Any], ...] = (
    lambda v: v.argmax(axis=-1),
    lambda v: v.min(axis=-1),
    lambda v: (v > 0).any(axis=-1),
    lambda v: (v < 0).sum(axis=-1),
    lambda v: v.T if v.ndim == 2 else v,
    lambda v: v[..., 0],
    lambda v: v[..., :1] + v,
)
"""What is asked for besides."""


def bits(found: list[Any], zeros: bool = False) -> list[bytes]:
    """The bits of all results; a NaN is a NaN, and, where that is said, a zero is a zero: which one
    is the larger NumPy does not define.
    """
    arrays = []
    for array in map(np.asarray, found):
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
            if zeros:
                array = array + array.dtype.type(0)
        arrays.append(array)
    return [array.tobytes() for array in arrays]


def difference(seed: int) -> str:
    """What is wrong with a chain; empty where nothing is."""
    chain = Chain(seed)
    chains.MOST_LAYERS = 1 + seed % 8
    results = []
    ways = [way for way in WAYS for _ in range(2)]  # the second time by the core, if it can
    with record.using(record.current()):  # what the core knows was cut otherwise
        for way in ways:
            with fw.options(**way):
                results.append(bits(chain.run()))
    for way, result in zip(ways, results, strict=True):
        if result != results[0]:
            which = [
                k
                for k, pair in enumerate(zip(result, results[0], strict=True))
                if len(set(pair)) > 1
            ]
            return f"seed {seed}: {way} differs from {WAYS[0]} in results {which}"
    if chain.exact:
        ours = bits(chain.run(), zeros=True)
        with fw.options(target="reference"):
            if bits(chain.run(), zeros=True) != ours:
                return f"seed {seed}: the reference differs"
    return ""


def main() -> int:
    """Run many; the first that differs is told, and how many were fused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    wrong = 0
    with small_ones() as ran:
        for number in range(chosen.seed * chosen.count, (chosen.seed + 1) * chosen.count):
            told = difference(number)
            if told:
                wrong += 1
                print(told, flush=True)
        longest = max((len(segment.products) for segment in ran), default=0)
    print(
        f"{chosen.count} chains, {wrong} wrong; {len(ran)} segments ran fused, with {longest} "
        "products at most"
    )
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())
