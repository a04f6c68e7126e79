"""Whole models against eager: results, gradients, buffers, one step of training; one sequence
length after another without a new kernel.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import fusewright
from fusewright.runtime.listening import compilations

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
NAMES = ("perceptron", "llama", "gpt", "residual", "lenet", "encoder")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(3)
    with fusewright.options(
        background=False
    ):  # better code for what runs often is a compilation, too
        yield
    torch._dynamo.reset()


def compiled(model: Any, **options: Any) -> Any:
    return torch.compile(model, backend="fusewright", **options)


def near(got: Any, want: Any, units: float = 256) -> None:
    bound = units * torch.finfo(want.dtype).eps * max(1.0, float(want.detach().abs().max()))
    torch.testing.assert_close(got, want, rtol=0.0, atol=bound)


@contextmanager
def counted() -> Iterator[list[Any]]:
    """The structures compiled meanwhile."""
    found: list[Any] = []
    compilations.append(found.append)
    try:
        yield found
    finally:
        compilations.remove(found.append)


def of(name: str, dtype: Any = None) -> tuple[Any, tuple[Any, ...]]:
    from tests.bridges.torch.models import cases

    model, given = cases()[name]
    if dtype is not None:
        model = model.to(dtype)
        given = tuple(x.to(dtype) if x.is_floating_point() else x for x in given)
    return model, given


@pytest.mark.parametrize("name", NAMES)
def test_inference_is_eagers(name: str) -> None:
    model, given = of(name)
    model.eval()
    with torch.no_grad():
        near(compiled(model)(*given), model(*given))


@pytest.mark.parametrize("name", NAMES)
def test_training_is_eagers(name: str) -> None:
    """The result, every gradient, and what batch norm keeps."""
    model, given = of(name)
    twin = copy.deepcopy(model)
    run = compiled(twin)
    for _ in range(2):
        want, got = model(*given), run(*given)
        near(got, want)
        weights = torch.randn_like(want)
        for each, result in ((model, want), (twin, got)):
            each.zero_grad()
            (result * weights).sum().backward()
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        near(other.grad, one.grad, 2048)
    for one, other in zip(model.buffers(), twin.buffers(), strict=True):
        near(other.double(), one.double(), 2.0**31)


def test_double_precision() -> None:
    model, given = of("llama", torch.float64)
    with torch.inference_mode():
        near(compiled(model)(*given), model(*given))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_short_types_are_eagers(name: str, dtype: str) -> None:
    """Rounded after each of torch's operations: what differs are sums in another order."""
    model, given = of(name, getattr(torch, dtype))
    twin = copy.deepcopy(model)
    want, got = model(*given), compiled(twin)(*given)
    near(got, want, 8)
    weights = torch.randn_like(want)
    for result in (want, got):
        (result * weights).sum().backward()
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        near(other.grad, one.grad, 32)


def test_attention_of_any_length() -> None:
    """Ours for the first lengths, torch's for the last; the gradients are torch's from ours."""

    def attend(x: Any) -> Any:
        q, k, v = (each.unflatten(-1, (14, 64)).transpose(1, 2) for each in x.chunk(3, -1))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + torch.cat([y.transpose(1, 2).flatten(2)] * 3, -1)

    run = compiled(attend)
    for length in (301, 310, 333, 20):
        x, same = (torch.randn(1, length, 3 * 14 * 64, requires_grad=True) for _ in range(2))
        same.data.copy_(x.data)
        want, got = attend(x), run(same)
        near(got, want)
        weights = torch.randn_like(want)
        (want * weights).sum().backward()
        (got * weights).sum().backward()
        near(same.grad, x.grad)


@pytest.mark.parametrize("is_quick", [True, False])
def test_attention_is_torchs_where_its_library_is_as_fast(is_quick: bool, monkeypatch: Any) -> None:
    from fusewright.bridges.torch import attention, backend, partition
    from fusewright.bridges.torch.report import graphs

    monkeypatch.setitem(backend.OPTIONS, "always", False)
    monkeypatch.setattr(attention, "is_quick_in_torch", lambda: is_quick)
    q, k, v = torch.randn(3, 1, 14, 301, 64)
    with torch.no_grad():
        compiled(torch.nn.functional.scaled_dot_product_attention)(q, k, v)
    assert [why for _, why, _ in graphs[-1].theirs] == [partition.TUNED] * is_quick


def test_keys_behind_a_part_of_causal_rows_are_not_read() -> None:
    q, k, v = torch.randn(3, 1, 14, 520, 64)
    v[..., 300:, :] = float("nan")
    with torch.no_grad():
        run = compiled(torch.nn.functional.scaled_dot_product_attention)
        got = run(q, k, v, is_causal=True)
    assert not got[..., :260, :].isnan().any()


def test_element_by_element_the_bits_are_eagers() -> None:
    def steps(x: Any, y: Any) -> Any:
        return torch.where(x > 0.3, (x * 1.1 + y).relu() / 3, x - 0.7 * y) + 0.1

    x, y = torch.randn(2, 300, 70, dtype=torch.bfloat16)
    assert torch.equal(compiled(steps)(x, y), steps(x, y))


def test_most_of_a_transformer_is_ours() -> None:
    from fusewright.bridges.torch.report import graphs

    model, given = of("gpt")
    with torch.no_grad():
        compiled(model)(*given)
    theirs = {name for name, _, _ in graphs[-1].theirs}
    assert graphs[-1].ours == 12 and theirs == {
        "aten.embedding.default", "aten.arange.default", "aten.addmm.default", "aten.mm.default",
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
    }  # fmt: skip


@pytest.mark.parametrize("first", [True, False])
def test_an_encoder_layer_is_written_out_where_its_products_are_ours(first: bool) -> None:
    from fusewright.bridges.torch.report import graphs

    layer = torch.nn.TransformerEncoderLayer(
        256, 8, 512, dropout=0.0, activation="gelu", batch_first=True, norm_first=first
    ).eval()
    whole = "aten._transformer_encoder_layer_fwd.default"
    mask = torch.ones(200, 200, dtype=torch.bool).triu(1)
    with torch.no_grad():
        for dtype, length, given, ours in (
            (torch.float32, 200, (), True), (torch.float32, 7, (), False),
            (torch.bfloat16, 200, (), False), (torch.float32, 200, (mask,), False),
        ):  # fmt: skip
            torch._dynamo.reset()
            layer.to(dtype)
            x = torch.randn(2, length, 256, dtype=dtype)
            near(compiled(layer)(x, *given), layer(x, *given))
            assert (whole in {name for name, _, _ in graphs[-1].theirs}) is not ours


@pytest.mark.parametrize("dynamic", [None, True])
def test_another_length_compiles_no_kernel(dynamic: bool | None) -> None:
    model, _ = of("llama")
    run = compiled(model, dynamic=dynamic)
    with torch.no_grad():
        for length in (17, 20):  # the second time torch records sizes as symbols
            x = torch.randn(2, length, 32)
            near(run(x), model(x))
        with counted() as found:
            for length in (23, 33, 45):
                x = torch.randn(2, length, 32)
                near(run(x), model(x))
    assert not found


def test_training_with_another_batch_compiles_no_kernel() -> None:
    model, _ = of("perceptron")
    run = compiled(model, dynamic=True)
    for batch in (8, 9, 30):
        with counted() as found:
            run(torch.randn(batch, 20)).sum().backward()
    assert not found


def test_products_of_another_size_compile_no_kernel() -> None:
    """Products that are ours, small ones that are not, and what fuses with them."""
    from tests.bridges.torch.models import GptBlock

    model = GptBlock(192, 4)
    run = compiled(model, dynamic=True)
    with torch.no_grad():
        run(torch.randn(1, 200, 192))
        with counted() as found:
            for shape in ((1, 230, 192), (2, 150, 192), (1, 5, 192)):
                x = torch.randn(shape)
                near(run(x), model(x))
    assert not found


def test_training_with_products_of_ours() -> None:
    from tests.bridges.torch.models import LlamaBlock

    model = LlamaBlock(192, 4, 320)
    twin = copy.deepcopy(model)
    x = torch.randn(2, 150, 192)
    for each in (model, compiled(twin)):
        each(x).square().sum().backward()
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        near(other.grad, one.grad, 2048)


def test_an_optimiser_that_is_compiled_too() -> None:
    model, given = of("perceptron")
    twin = copy.deepcopy(model)

    def step(which: Any, optimiser: Any) -> None:
        which(*given).square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()

    one = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    other = torch.optim.SGD(twin.parameters(), 0.1, momentum=0.9)
    run = compiled(step)
    for _ in range(3):
        step(model, one)
        run(twin, other)
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        near(b, a, 1024)
