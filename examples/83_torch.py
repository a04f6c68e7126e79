"""A model of torch's with our kernels: one word in `torch.compile`.

Needs `pip install "fusewright[torch]"`.
"""

from importlib.util import find_spec
from typing import Any


def compare() -> None:
    """A perceptron forward and backward, eager and compiled."""
    import torch
    from torch import nn

    import fusewright.bridges.torch as ft

    model: Any = nn.Sequential(
        nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 256)
    )
    run: Any = torch.compile(model, backend="fusewright")
    x = torch.randn(300, 256)

    want = model(x)
    want.square().mean().backward()
    theirs = [weight.grad.clone() for weight in model.parameters()]
    model.zero_grad()

    got = run(x)
    got.square().mean().backward()
    for weight, grad in zip(model.parameters(), theirs, strict=True):
        torch.testing.assert_close(weight.grad, grad, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)

    print(ft.explain())  # what is ours in the forward and the backward graph, and why not the rest


if find_spec("torch") is None:
    print("torch is not installed: pip install 'fusewright[torch]'")
else:
    compare()
