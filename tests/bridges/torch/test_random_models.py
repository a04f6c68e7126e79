"""Random chains of operations, forward and backward, against eager in double precision."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda x: torch.tanh(x),
    lambda x: torch.sigmoid(x),
    lambda x: torch.nn.functional.gelu(x),
    lambda x: torch.nn.functional.silu(x),
    lambda x: x * 2 + 1,
    lambda x: x.transpose(-1, -2),
    lambda x: x.transpose(0, -1),
    lambda x: x.flatten().view(x.shape),
    lambda x: x.softmax(-1),
    lambda x: x.log_softmax(0),
    lambda x: x - x.mean(0, keepdim=True),
    lambda x: x.sum(-1, keepdim=True) + x,
    lambda x: torch.cat([x[:1], x[1:] * 2], 0),
    lambda x: x.clamp(-1, 1),
    lambda x: x.amax(0) + x,
    lambda x: torch.where(x > 0, x, -x),
    lambda x: x.unsqueeze(0).expand(2, *x.shape).sum(0),
    lambda x: x.reshape(-1, x.shape[-1]).view(x.shape),
    lambda x: x.contiguous(),
)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_chain(seed: int) -> None:
    choose = random.Random(seed)
    torch.manual_seed(seed)
    torch._dynamo.reset()
    steps = [choose.choice(STEPS) for _ in range(choose.randint(4, 9))]
    shape = [choose.choice((1, 2, 3, 5, 8, 17)) for _ in range(choose.randint(2, 4))]

    def chain(x: Any) -> tuple[Any, Any]:
        values = [x]
        for step in steps:
            values.append(step(values[-1]))
        return values[-1], values[len(values) // 2]

    x = torch.randn(shape, dtype=torch.float64)
    one, other = (x.clone().requires_grad_() for _ in range(2))
    wants, gots = chain(one), torch.compile(chain, backend="fusewright")(other)
    for want, got in zip(wants, gots, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-9)
    for results in (wants, gots):
        (results[0].tanh().sum() + results[1].tanh().sum()).backward()
    torch.testing.assert_close(other.grad, one.grad, rtol=1e-8, atol=1e-8)
