"""Attention and its gradients: near what double precision says, within a bound that is stated; the
same bits however they are arranged; whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt
from random import Random
from typing import Any, NamedTuple

import pytest

import fusewright as fw
from fusewright.bridges.torch.rows import ATTENTION, ATTENTION_BACKWARD, COMPUTED
from fusewright.ir.dtypes import BFLOAT16, FLOAT16, FLOAT32
from fusewright.machine import record

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
if True:  # torch is there
    from functorch.compile import aot_function
    from tests.bridges.torch.graphs import graph_of, overload
    from tests.bridges.torch.test_semantics import compiled

    from fusewright.bridges.torch import attention, attention_gradients, backend, matrices
    from fusewright.bridges.torch import graphs as bridge
    from fusewright.bridges.torch.partition import TUNED
    from fusewright.bridges.torch.report import graphs

DTYPES = ("float32", "float64", "bfloat16", "float16")


class Case(NamedTuple):
    """Extents of a call, and how it is masked."""

    batch: int
    heads: int
    shared: int
    queries: int
    keys: int
    width: int
    kind: str = "plain"


def drawn(seed: int) -> Case:
    """One of odd lengths that is large enough to be ours."""
    chance = Random(seed)
    batch, shared = chance.choice([2, 3]), chance.choice([1, 2, 7])
    heads = shared * chance.choice([3, 4])
    least = -(-4200 // (batch * heads))
    queries, keys = (max(chance.randint(129, 400), least) for _ in range(2))
    kind = chance.choice(["plain", "causal", "masked", "masked by head"])
    return Case(batch, heads, shared, queries, keys, chance.choice([32, 33, 64, 100, 256]), kind)


CASES = (
    Case(1, 14, 14, 310, 310, 64, "causal"),
    Case(1, 14, 2, 600, 310, 64, "causal"),
    Case(1, 14, 7, 310, 600, 80, "causal"),
    Case(2, 7, 7, 301, 333, 64, "masked"),
    Case(1, 6, 3, 701, 700, 256),
    Case(1, 12, 12, 400, 390, 16, "causal"),
    *map(drawn, range(2)),
)


def operands(case: Case, dtype: Any) -> tuple[tuple[Any, ...], Any]:
    """Queries, keys and values in the layout of linear layers, and the mask: of one row nothing is
    seen.
    """
    torch.manual_seed(sum(case[:6]))
    sizes = ((case.queries, case.heads), (case.keys, case.shared), (case.keys, case.shared))
    made = (torch.randn(case.batch, n, h, case.width).to(dtype).transpose(1, 2) for n, h in sizes)
    mask = None
    if case.kind.startswith("masked"):
        lead = (case.batch, case.heads) if "head" in case.kind else ()
        mask = torch.randn(*lead, case.queries, case.keys)
        mask = mask.masked_fill(mask > 0.5, -float("inf"))
        mask[..., 3, :] = -float("inf")
        mask = mask.to(dtype)
    return tuple(made), mask


class Exact(NamedTuple):
    """Attention in double precision: results, and those of absolute values, to which errors are in
    proportion.
    """

    made: Any
    bound: Any
    gradients: tuple[Any, ...]
    bounds: tuple[Any, ...]
    scores: float


def exact(case: Case, given: tuple[Any, ...], mask: Any, grad: Any) -> Exact:
    q, k, v, g = (each.double() for each in (*given, grad))
    count, scale = case.heads // case.shared, 1 / sqrt(case.width)
    k, v = (each.repeat_interleave(count, 1) for each in (k, v))
    scores = q @ k.mT * scale
    if mask is not None:
        scores = scores + mask.double()
    if case.kind == "causal":
        seen = torch.ones(case.queries, case.keys, dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -float("inf"))
    p = torch.softmax(scores, -1).nan_to_num(0.0)

    def of_keys(x: Any) -> Any:
        return x.unflatten(1, (case.shared, count)).sum(2)

    apart = g @ v.mT
    ds = p * (apart - (p * apart).sum(-1, keepdim=True)) * scale
    largest = p * (g.abs() @ v.abs().mT)
    largest = scale * (largest + p * largest.sum(-1, keepdim=True))
    return Exact(
        p @ v,
        p @ v.abs(),
        (ds @ k, of_keys(ds.mT @ q), of_keys(p.mT @ g)),
        (largest @ k.abs(), of_keys(largest.mT @ q.abs()), of_keys(p.mT @ g.abs())),
        float((q.abs() @ k.abs().mT).max()) * scale,
    )


def share(case: Case, dtype: str, scores: float, roundings: float) -> float:
    """What an error may be, for one of the result of absolute values (as the page says): so many
    roundings to the stored type; of scores, in the exponent; of sums.
    """
    wide = torch.finfo(torch.float64 if dtype == "float64" else torch.float32).eps / 2
    unit = torch.finfo(getattr(torch, dtype)).eps / 2
    depth = max(case.queries * case.heads // case.shared, case.keys, 16)
    return float(roundings * unit + 2 * (case.width + 8) * scores * wide + 4 * depth * wide)


def run(name: str, given: Any, options: Any) -> Any:
    """One operation as ours."""
    module, tensors = graph_of(COMPUTED[name], given, options)
    ours, _, running = bridge.compiled(module, always=True)
    made = ours(list(tensors))
    assert [segment.calls for segment in running] == [1]
    return made


def both(case: Case, dtype: str) -> tuple[list[Any], Exact]:
    """Attention, the logarithms of its sums and its gradients, as ours; and exactly."""
    given, mask = operands(case, getattr(torch, dtype))
    is_causal = case.kind == "causal"
    made, sums, *_ = run(ATTENTION, (*given, 0.0, is_causal), {"attn_mask": mask})
    grad = torch.randn_like(made)
    all_of_it = (grad, *given, made, sums, 0.0, is_causal)
    found = run(ATTENTION_BACKWARD, all_of_it, {"attn_mask": mask})[:3]
    return [made, *found], exact(case, given, mask, grad)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_within_the_stated_bound(case: Case, dtype: str) -> None:
    (made, *gradients), want = both(case, dtype)
    few, many = (2, 5) if dtype in ("bfloat16", "float16") else (0, 0)
    apart = (made.double() - want.made).abs()
    assert bool((apart <= share(case, dtype, want.scores, few) * want.bound).all())
    every = zip(gradients, want.gradients, want.bounds, strict=True)
    for got, wanted, bound in every:
        apart = (got.double() - wanted).abs()
        assert bool((apart <= 2 * share(case, dtype, want.scores, many) * bound).all())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_as_exact_as_eagers_kernel(dtype: str) -> None:
    """On average over all elements."""
    case = CASES[0]
    (made, *gradients), want = both(case, dtype)
    given, _ = operands(case, getattr(torch, dtype))
    eager, sums = overload(ATTENTION)(*given, 0.0, True)
    torch.manual_seed(1)
    grad = torch.randn_like(made)
    want = exact(case, given, None, grad)
    theirs = overload(ATTENTION_BACKWARD)(grad, *given, eager, sums, 0.0, True)
    gradients = run(ATTENTION_BACKWARD, (grad, *given, made, sums, 0.0, True), {})[:3]
    for mine, other, wanted in zip(
        (made, *gradients), (eager, *theirs), (want.made, *want.gradients), strict=True
    ):
        apart, others = ((x.double() - wanted).abs().mean() for x in (mine, other))
        assert float(apart) <= 1.01 * float(others)


@contextmanager
def arranged(gain: float, threads: int, **settings: Any) -> Iterator[None]:
    """Chains fused from a predicted gain on, with so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        machine = record.current()._replace(chain_gain=gain, fork=0.0)
        with record.using(machine), fw.options(**settings):
            yield
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [CASES[1], CASES[3]], ids=["causal", "masked"])
def test_the_same_bits_however_it_is_arranged(case: Case, dtype: str) -> None:
    found = []
    for gain, threads, settings in (
        (0.0, 1, {}), (99.0, 1, {}), (0.0, 2, {}), (0.0, 1, {"fuse": False}),
        (0.0, 1, {"features": "avx2"}),
    ):  # fmt: skip
        with arranged(gain, threads, **settings):
            found.append(both(case, dtype)[0])
    for other in found[1:]:
        assert all(torch.equal(*pair) for pair in zip(found[0], other, strict=True))


@pytest.mark.parametrize("kind", ["plain", "causal", "masked"])
@pytest.mark.parametrize("shared", [11, 1])
def test_gradients_by_differences(kind: str, shared: int) -> None:
    case = Case(1, 11, shared, 391, 400, 32, kind)
    given, mask = operands(case, torch.float64)
    segments: list[Any] = []

    def attend(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
        return overload(ATTENTION)(q, k, v, 0.0, kind == "causal", attn_mask=mask)[0]

    def ours(graph: Any, _: Any) -> Any:
        function, _, running = bridge.compiled(graph, always=True)
        segments.extend(running)
        return function

    for each in given:
        each.requires_grad_()
    torch.manual_seed(0)
    every = given if mask is None else (*given, mask)
    assert torch.autograd.gradcheck(aot_function(attend, ours), every, fast_mode=True)
    assert len(segments) == 2 and all(segment.calls for segment in segments)


def test_rows_without_keys_have_no_gradient() -> None:
    (_, of_queries, *rest), _ = both(CASES[3], "float32")
    assert not of_queries[:, :, 3].any() and of_queries[:, :, 4].any()
    assert not any(each.isnan().any() for each in rest)


def test_what_no_query_sees_has_none() -> None:
    (_, _, of_keys, of_values), _ = both(CASES[2], "bfloat16")
    for each in (of_keys, of_values):
        assert not each[:, :, 310:].any() and each[:, :, :310].any()


@pytest.mark.parametrize("is_quick", [True, False])
def test_whose(is_quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By type: of bfloat16 where products of it are, of float16 torch's; and by size."""
    monkeypatch.setattr(attention, "is_quick_in_torch", lambda: is_quick)
    monkeypatch.setattr(attention, "is_half_quick_in_torch", lambda: not is_quick)

    def are_torchs(dtype: Any, length: int = 512, width: int = 64) -> tuple[bool, bool]:
        shape = (1, 12, length, width)
        modules = (attention, attention_gradients)
        forward, backward = (each.is_faster_in_torch(shape, shape, dtype) for each in modules)
        return forward, backward

    assert are_torchs(FLOAT32) == (is_quick, is_quick)
    assert are_torchs(FLOAT32, width=16) == are_torchs(FLOAT16) == (True, True)
    assert are_torchs(BFLOAT16) == (not is_quick, not is_quick)
    assert are_torchs(BFLOAT16, 1024) == (not is_quick, True)
    assert are_torchs(BFLOAT16, 1024, 128) == (not is_quick, not is_quick)
    assert are_torchs(BFLOAT16, width=32) == (True, True)


@pytest.mark.parametrize("always", [True, False])
def test_both_passes_are_ours_where_it_is_asked_for(
    always: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(backend.OPTIONS, "always", False)
    monkeypatch.setattr(attention, "is_quick_in_torch", lambda: True)
    graphs.clear()
    given = [x.detach().requires_grad_() for x in operands(CASES[0], torch.float32)[0]]
    attend = torch.nn.functional.scaled_dot_product_attention
    made = compiled(attend, options={"always": always})(*given)
    made.sum().backward()
    assert [graph.ours for graph in graphs] == [int(always)] * 2
    if not always:
        assert all(TUNED in {why for _, why, _ in graph.theirs} for graph in graphs)


def test_products_of_bfloat16_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training step of bfloat16 is ours in both passes where its products are."""
    for module in (attention, matrices):
        monkeypatch.setattr(module, "is_half_quick_in_torch", lambda: False)
    monkeypatch.setattr("fusewright.bridges.torch.prices.is_half_quick_in_torch", lambda: False)
    monkeypatch.setitem(backend.OPTIONS, "always", False)
    graphs.clear()
    case = Case(1, 12, 12, 512, 512, 64, "causal")
    given = [x.detach().requires_grad_() for x in operands(case, torch.bfloat16)[0]]
    attend = torch.nn.functional.scaled_dot_product_attention
    compiled(attend)(*given, is_causal=True).sum().backward()
    assert [graph.ours > 0 for graph in graphs] == [True, True]


def test_sizes() -> None:
    """Longer rows leave the cache; thinner ones are torch's."""
    assert attention_gradients.is_faster((1, 14, 310, 64), (1, 2, 310, 64), FLOAT32)
    assert attention.is_faster((1, 2, 4096, 64), (1, 2, 4096, 64), BFLOAT16)
    for query, key in (
        ((1, 2, 4100, 64), (1, 2, 310, 64)), ((1, 2, 310, 64), (1, 2, 4100, 64)),
        ((1, 14, 310, 64), (1, 14, 20, 64)), ((1, 14, 310, 64), (1, 3, 310, 64)),
    ):  # fmt: skip
        assert not attention_gradients.is_faster(query, key, FLOAT32)


def test_torchs_samples_whatever_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are too small to be ours by themselves."""
    pytest.importorskip("expecttest")
    from tests.bridges.torch import op_samples

    for module in (attention, attention_gradients):
        monkeypatch.setattr(module, "is_multiplied", lambda *shapes: True)
    names = ["nn.functional.scaled_dot_product_attention"]
    found = list(op_samples.checked(names, [getattr(torch, each) for each in DTYPES], 60))
    assert not [told for _, _, told in found if told]
    for name in (ATTENTION, ATTENTION_BACKWARD):
        whose = [ours for row, ours, _ in found if row == name]
        assert len(whose) >= 8 and all(whose)
