"""Whose an operation is: what is alone and goes to its reader, what torch multiplies faster, what
torch cannot trace.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

import fusewright

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
if True:  # torch is there
    from tests.bridges.torch.test_semantics import compiled, near

    from fusewright.bridges.torch import attention, backend
    from fusewright.bridges.torch.report import graphs


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(3)
    graphs.clear()
    yield
    torch._dynamo.reset()


def test_a_conversion_to_integers_takes_nothing_with_it() -> None:
    """It is torch's, as both have their own integers for what is too large; the rest is ours."""

    def rounded(x: Any) -> Any:
        y = torch.tanh(x * 2) + 1
        return y.to(torch.int32), y * 0.5

    x = torch.tensor([0.3, float("nan"), 3e38, -7.0])
    for got, want in zip(compiled(rounded)(x), rounded(x), strict=True):
        torch.testing.assert_close(got, want, equal_nan=True)
    (report,) = graphs
    assert report.ours == 4 and [name for name, _, _ in report.theirs] == ["aten._to_copy.default"]
    assert not any(segment.refused for segment in report.running)


def test_arrays_of_one_number_are_in_the_segment_that_reads_them() -> None:
    """However late that is; they need no memory."""

    def masked(x: Any, adjacent: Any) -> Any:
        y = torch.sort(torch.tanh(x * 2) + 1).values
        far = torch.full((5, 1), -9e15).expand(5, 4) * torch.ones_like(y)
        return torch.where(adjacent > 0, y * 2, far + torch.zeros(4))

    x, adjacent = torch.randn(5, 4), torch.randn(5, 4)
    near(compiled(masked)(x, adjacent), masked(x, adjacent))
    (report,) = graphs
    assert [each.segment.computed for each in report.running] == [3, 8]
    assert [name for name, _, _ in report.theirs] == ["aten.sort.default"]


class SetUpByData(torch.nn.Module):
    """Sets its parameters from the first batch, by `.data`, as layers of flows do."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.is_set = torch.nn.Parameter(torch.zeros(4)), False

    def forward(self, x: Any) -> Any:
        if not self.is_set:
            self.scale.data = (-torch.log(x.std(0))).detach()
            self.is_set = True
        return torch.tanh(x * torch.exp(self.scale)) + 1


def test_a_graph_that_torch_cannot_trace_is_torchs() -> None:
    x = torch.randn(50, 4)
    model = SetUpByData()
    other = copy.deepcopy(model)
    ours = compiled(other)
    for _ in range(2):
        want, got = model(x), ours(x)
        near(got, want)
        want.sum().backward()
        got.sum().backward()
    near(other.scale, model.scale)
    near(other.scale.grad, model.scale.grad)
    assert any(report.kind == "refused" for report in graphs)
    assert "set_" in fusewright.bridges.torch.explain()
    torch._dynamo.reset()
    with pytest.raises(Exception, match="no graph of ours"):
        compiled(SetUpByData(), options={"strict": True})(x)


def test_nothing_of_a_graph_is_ours() -> None:
    """Then nothing stands in front of it."""
    layer = torch.nn.Linear(4, 2)
    x = torch.randn(3, 4)
    with torch.no_grad():
        near(compiled(lambda x: torch.sort(layer(x)))(x).values, torch.sort(layer(x)).values)
    (report,) = graphs
    assert report.ours == 0
    near(compiled(lambda x: torch.sort(layer(x)))(x).values, torch.sort(layer(x)).values)


def test_whose_product_it_is_where_torch_multiplies_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours from 32 MiB of results on, which torch writes into fresh pages."""
    monkeypatch.setitem(backend.OPTIONS, "always", False)

    def products(is_quick: bool, rows: int, follows: bool) -> int:
        monkeypatch.setattr(attention, "is_quick_in_torch", lambda: is_quick)
        torch._dynamo.reset()
        graphs.clear()
        x, w = torch.randn(rows, 128), torch.randn(128, 256)

        def step(x: Any, w: Any) -> Any:
            return torch.relu(x @ w) if follows else x @ w

        with torch.no_grad():
            torch.testing.assert_close(compiled(step)(x, w), step(x, w), rtol=1e-4, atol=1e-4)
        return graphs[-1].ours

    assert products(False, 1024, True) == 2
    assert products(True, 16384, True) == 0
    assert products(True, 32768, True) == 2
    assert products(True, 16384, False) == 0
    assert products(True, 32768, False) == 1


def test_an_error_of_torchs_tracing_is_the_models_own_or_none() -> None:
    """AOTAutograd cannot differentiate `torch.pow` with a symbolic exponent, and what eager refuses
    is refused with eager's words.
    """
    ours = compiled(lambda x, k: x.pow(k) * 2)
    for k in (2, 3, 4):
        x = torch.rand(4, 5, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        ours(x, k).sum().backward()
        (y.pow(k) * 2).sum().backward()
        assert x.grad is not None and y.grad is not None
        near(x.grad, y.grad)

    def overwritten(x: Any) -> Any:
        y = x.exp()
        y[1:].mul_(2)
        return y * 3

    with pytest.raises(RuntimeError, match="modified by an inplace operation") as found:
        compiled(overwritten)(torch.rand(4, 5, requires_grad=True)).sum().backward()
    assert "backend=" not in str(found.value)
