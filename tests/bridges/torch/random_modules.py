"""Random small modules, forward and backward, eager against ours.

    python -m tests.bridges.torch.random_modules --seed 1 --count 200

Module `n` of a seed is the same at each run.  It takes numbers (batch, length, width), tokens
(batch, length) or images (batch, channels, height, width); every second one is called with two
shapes, with sizes as symbols.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from fusewright.bridges.torch import report

Tensor = Any
HEADS = 2
WIDTHS = (2, 4, 6, 8, 12, 16)
WORDS = 11


class Step(nn.Module):
    """A function of a value of one shape, with its parameters; `last` is the width afterwards."""

    def __init__(self, run: Callable[[Tensor], Tensor], last: int, **parts: Any) -> None:
        super().__init__()
        self.run, self.last = run, last
        for name, part in parts.items():
            if isinstance(part, nn.Module):
                self.add_module(name, part)
            else:
                self.register_parameter(name, nn.Parameter(part))

    def forward(self, x: Tensor) -> Tensor:
        return self.run(self, x)


class Residual(nn.Module):
    """`x + f(x)`, where the shape allows it."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        made = self.inner(x)
        return x + made if made.shape == x.shape else made


ACTIVATIONS = (
    torch.tanh, torch.sigmoid, torch.relu, F.silu, F.gelu, F.elu, F.celu, F.selu, F.softplus,
    F.hardtanh, F.hardswish, F.hardsigmoid, F.mish, F.relu6, F.softsign, F.logsigmoid, torch.erf,
    torch.sin, torch.abs, torch.square, lambda x: F.gelu(x, approximate="tanh"),
    lambda x: F.leaky_relu(x, 0.2), lambda x: x.clamp(-0.7, 0.9), lambda x: torch.exp(-x.abs()),
    lambda x: torch.log1p(x.abs()), lambda x: x.pow(3) * 0.1, lambda x: torch.sqrt(x * x + 0.3),
    lambda x: torch.where(x > 0.1, x, 0.3 * x), lambda x: x.masked_fill(x < -1, 0.25),
    lambda x: torch.maximum(x, -0.5 * x), lambda x: torch.addcmul(x, x, x.tanh(), value=0.3),
    lambda x: x.sign() * x, lambda x: torch.lerp(x, x.tanh(), 0.3),
    lambda x: 1.5 - x, lambda x: x / (2 + x.abs()), lambda x: torch.atan2(x, x * x + 1),
)  # fmt: skip
REDUCTIONS = (
    lambda x: x.softmax(-1), lambda x: x.log_softmax(1), lambda x: x - x.mean(1, keepdim=True),
    lambda x: x + x.sum(-1, keepdim=True), lambda x: x * x.amax(0), lambda x: x - x.amin((0, 1)),
    lambda x: x / (x.std(-1, keepdim=True) + 1), lambda x: x - x.logsumexp(-1, keepdim=True),
    lambda x: x.cumsum(1), lambda x: x / (1 + x.norm(dim=-1, keepdim=True)),
    lambda x: x + x.var((0, 1), unbiased=False), lambda x: x * x.max(1, keepdim=True)[0],
    lambda x: F.normalize(x, dim=-1), lambda x: x + x.mean(), lambda x: x * (x > 0).sum() * 0.01,
    lambda x: x + (x > 0).any(1, keepdim=True), lambda x: x.prod(-1, keepdim=True) + x,
    lambda x: x + torch.var_mean(x, 1, keepdim=True)[1], lambda x: x.softmax(1) * x.shape[1],
)  # fmt: skip
MOVES = (
    lambda x: x.transpose(0, 1).contiguous().transpose(0, 1), lambda x: x.flip(1),
    lambda x: x.flatten(0, 1).unflatten(0, x.shape[:2]), lambda x: x.roll(1, 1),
    lambda x: torch.cat([x[:, :1], x[:, 1:] * 2], 1),
    lambda x: x.unsqueeze(0).expand(3, *x.shape).sum(0),
    lambda x: torch.stack([x, -x], 0)[1], lambda x: F.pad(x, (0, 0, 1, 0))[:, :-1],
    lambda x: torch.cat(x.chunk(2, -1)[::-1], -1),
    lambda x: x.reshape(-1, x.shape[-1]).view(x.shape),
    lambda x: x.permute(2, 0, 1).permute(1, 2, 0), lambda x: x[:, :, None].squeeze(2),
    lambda x: x[..., ::2].repeat_interleave(2, -1) if x.shape[-1] % 2 == 0 else x,
    lambda x: torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], -1),
    lambda x: x.tril() if x.shape[-1] > 1 else x, lambda x: x.clone(),
    lambda x: x.mT.contiguous().mT,
    lambda x: x.movedim(1, 0).tanh().movedim(0, 1), lambda x: x.select(0, 0) + x,
    lambda x: x.narrow(1, 0, 1) - x, lambda x: torch.split(x, [1, x.shape[-1] - 1], -1)[0] + x,
    lambda x: x.unbind(-1)[0].unsqueeze(-1) * x, lambda x: x.repeat(2, 1, 1)[: x.shape[0]],
)  # fmt: skip
INDEXING = (
    lambda x: x[:, torch.arange(x.shape[1] - 1, -1, -1)],
    lambda x: x.index_select(-1, torch.tensor([0])) + x,
    lambda x: x.gather(1, (x > 0).long().clamp(max=x.shape[1] - 1)), lambda x: x.topk(1, -1)[0] + x,
    lambda x: x.sort(-1)[0], lambda x: x[torch.zeros(2, dtype=torch.long)].sum(0) + x,
    lambda x: x * F.one_hot(x.argmax(-1), x.shape[-1]),
    lambda x: x.index_add(1, torch.tensor([0]), x[:, :1]),
    lambda x: torch.where(x.isnan(), 0.0, x), lambda x: x.scatter_add(1, (x > 9).long(), x * 0.5),
    lambda x: x.take_along_dim((x < 0).long().clamp(max=x.shape[1] - 1), 1),
)  # fmt: skip


def _add(x: Tensor) -> Tensor:
    x = x.clone()
    return x.add_(1).mul_(0.5)


def _part(x: Tensor) -> Tensor:
    x = x * 1
    x[:, :1] = x[:, :1] * 0.5 + 1
    x[..., 0] += 0.25
    return x


def _relu(x: Tensor) -> Tensor:
    return F.relu(x + 0.1, inplace=True)


def _filled(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    y.copy_(x)
    y[..., -1].fill_(0.5)
    return y.sub_(x.detach() * 0.1)


def _looked_into(x: Tensor) -> Tensor:
    y = (x + 0.5).clamp_(max=2.0)
    y[..., ::2].mul_(1.5)
    return y


IN_PLACE = (_add, _part, _relu, _filled, _looked_into)


def _attend(step: Any, x: Tensor) -> Tensor:
    batch, length, width = x.shape
    q, k, v = (
        each.view(batch, length, HEADS, -1).transpose(1, 2) for each in step.three(x).chunk(3, -1)
    )
    y = F.scaled_dot_product_attention(q, k, v, is_causal=step.causal)
    return y.transpose(1, 2).reshape(batch, length, width)


def _attend_written_out(step: Any, x: Tensor) -> Tensor:
    q, k, v = step.three(x).chunk(3, -1)
    scores = q @ k.mT / x.shape[-1] ** 0.5
    seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return scores.masked_fill(~seen, float("-inf")).softmax(-1) @ v


def _gated(step: Any, x: Tensor) -> Tensor:
    return F.silu(step.gate(x)) * step.up(x)


def _of(function: Callable[[Tensor], Tensor], last: int) -> Step:
    return Step(lambda _, x: function(x), last)


def _sequence_step(chance: random.Random, width: int) -> nn.Module:
    """One step on (batch, length, width)."""
    kind = chance.randrange(14)
    wide = chance.choice(WIDTHS)
    if kind == 0:
        return Step(
            lambda s, x: s.line(x), wide, line=nn.Linear(width, wide, chance.random() < 0.7)
        )
    if kind == 1:
        return Step(lambda s, x: s.norm(x), width, norm=nn.LayerNorm(width))
    if kind == 2:
        return Step(lambda s, x: s.norm(x), width, norm=nn.RMSNorm(width, eps=1e-6))
    if kind == 3 and width % HEADS == 0:
        step = Step(
            chance.choice((_attend, _attend_written_out)), width, three=nn.Linear(width, 3 * width)
        )
        step.causal = chance.random() < 0.5
        return step
    if kind == 4:
        inner = _sequence_step(chance, width)
        return Step(lambda s, x: s.inner(x), inner.last, inner=Residual(inner))
    if kind == 5:
        return Step(_gated, wide, gate=nn.Linear(width, wide), up=nn.Linear(width, wide))
    if kind == 6:
        conv = nn.Conv1d(width, wide, 3, padding=1, groups=chance.choice((1, 2)))
        return Step(lambda s, x: s.conv(x.transpose(1, 2)).transpose(1, 2), wide, conv=conv)
    if kind == 7:
        part = torch.randn(width)
        return Step(lambda s, x: x * s.part + 1, width, part=part)
    tables = (ACTIVATIONS, ACTIVATIONS, REDUCTIONS, MOVES, INDEXING, IN_PLACE)
    return _of(chance.choice(chance.choice(tables)), width)


def _image_step(chance: random.Random, width: int) -> nn.Module:
    """One step on (batch, channels, height, width)."""
    kind, wide = chance.randrange(9), chance.choice(WIDTHS)
    if kind < 2:
        size, groups = chance.choice((1, 3)), chance.choice((1, 1, 2))
        dilation = chance.choice((1, 1, 2)) if size == 3 else 1
        conv = nn.Conv2d(
            width, wide, size, padding=dilation * (size // 2), dilation=dilation, groups=groups
        )
        return Step(lambda s, x: s.conv(x), wide, conv=conv)
    if kind == 2:
        return Step(lambda s, x: s.norm(x), width, norm=nn.BatchNorm2d(width))
    if kind == 3:
        return Step(lambda s, x: s.norm(x), width, norm=nn.GroupNorm(2, width))
    if kind == 4:
        inner = _image_step(chance, width)
        return Step(lambda s, x: s.inner(x), inner.last, inner=Residual(inner))
    if kind == 5:
        pool = chance.choice((F.max_pool2d, F.avg_pool2d))
        return _of(
            lambda x: F.interpolate(pool(x, 2), scale_factor=2) if x.shape[-1] > 1 else x, width
        )
    if kind == 6:
        return _of(lambda x: x * F.adaptive_avg_pool2d(x, 1).sigmoid(), width)
    if kind == 7:
        return _of(lambda x: x.to(memory_format=torch.channels_last), width)
    return _of(chance.choice(ACTIVATIONS), width)


class Small(nn.Module):
    """A random module: what it takes is said by `shape`."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        chance = random.Random(seed)
        torch.manual_seed(seed)
        self.kind = chance.choice(("numbers", "numbers", "tokens", "images"))
        width = chance.choice(WIDTHS[1:])
        self.first = nn.Embedding(WORDS, width) if self.kind == "tokens" else nn.Identity()
        self.width = width
        steps = []
        make = _image_step if self.kind == "images" else _sequence_step
        for _ in range(chance.randrange(3, 9)):
            steps.append(make(chance, width))
            width = steps[-1].last
        self.steps = nn.ModuleList(steps)
        self.middle = chance.randrange(len(steps))
        self.lengths = chance.sample((2, 3, 5, 6, 8, 9), 2)
        self.batches = chance.sample((2, 3, 4, 5), 2)

    def given(self, which: int) -> Tensor:
        batch, length = self.batches[which], self.lengths[which]
        if self.kind == "tokens":
            return torch.randint(0, WORDS, (batch, length))
        if self.kind == "images":
            return torch.randn(batch, self.width, 2 * length, 4)
        return torch.randn(batch, length, self.width)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = kept = self.first(x)
        for number, step in enumerate(self.steps):
            x = step(x)
            if number == self.middle:
                kept = x
        return x, kept * 1


def _gradients(model: nn.Module, run: Any, x: Tensor) -> list[Tensor]:
    """Both results, the gradients of the input and of the parameters, and the buffers."""
    torch.manual_seed(5)
    model.zero_grad()
    x = x.clone().requires_grad_(x.is_floating_point())
    first, second = run(x)
    weights = torch.randn_like(first), torch.randn_like(second)
    total = (first * weights[0]).sum() + (second * weights[1]).sum()
    if total.requires_grad:
        total.backward()
    grads = [x.grad, *(each.grad for each in model.parameters())]
    return [first, second, *[g for g in grads if g is not None], *model.buffers()]


def difference(seed: int, dtype: torch.dtype = torch.float64) -> str:
    """What is wrong with one module; empty if nothing is."""
    torch._dynamo.reset()
    model = Small(seed).to(dtype)
    twin = copy.deepcopy(model)
    dynamic = bool(seed % 2)
    options = {"always": True}
    run = torch.compile(twin, backend="fusewright", dynamic=dynamic or None, options=options)
    near = 1e-8 if dtype is torch.float64 else 3e-3
    for which in (0, 1) if dynamic else (0,):
        x = model.given(which)
        x = x.to(dtype) if x.is_floating_point() else x
        wants = _gradients(model, model, x)
        try:
            gots = _gradients(twin, run, x)
            for got, want in zip(gots, wants, strict=True):
                torch.testing.assert_close(got, want, rtol=near, atol=near, equal_nan=True)
            for got, want in zip(gots[:2], wants[:2], strict=True):
                assert got.stride() == want.stride(), (got.stride(), want.stride())
        except Exception as error:  # noqa: BLE001 - whatever a module does is told with its seed
            return f"module {seed}, shape {tuple(x.shape)}: {type(error).__name__}: {error}"
    return ""


def main() -> int:
    """Run many; tell each that differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--dtype", default="float64")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    wrong, ours, began = 0, 0, time.process_time()
    for number in range(chosen.seed * chosen.count, (chosen.seed + 1) * chosen.count):
        report.graphs.clear()
        told = difference(number, getattr(torch, chosen.dtype))
        ours += sum(graph.ours for graph in report.graphs)
        if told:
            wrong += 1
            print(told[:1200], flush=True)
        elif number % 10 == 9:
            print(f"{number + 1} done", flush=True)
    took = time.process_time() - began
    print(f"{chosen.count} modules, {wrong} wrong; {ours} operations of ours; {took:.0f} CPU s")
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())
