"""Small models in plain torch, as people write them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

Tensor = torch.Tensor


class Perceptron(nn.Module):
    def __init__(self, widths: tuple[int, ...] = (20, 64, 48, 7), act: Any = nn.GELU) -> None:
        super().__init__()
        steps: list[nn.Module] = []
        for n, m in pairwise(widths):
            steps += [nn.Linear(n, m), act()]
        self.steps = nn.Sequential(*steps[:-1])

    def forward(self, x: Tensor) -> Tensor:
        return torch.log_softmax(self.steps(x), -1)


class RootMeanSquare(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


class LlamaBlock(nn.Module):
    """RMS norm, rotary positions, causal attention, SwiGLU."""

    def __init__(self, width: int = 32, heads: int = 4, hidden: int = 88) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = RootMeanSquare(width), RootMeanSquare(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        size = width // self.heads
        places = torch.arange(length, device=x.device, dtype=x.dtype)[:, None]
        angle = places / 10000 ** (torch.arange(0, size, 2, dtype=x.dtype) / size)
        angle = torch.cat((angle, angle), -1)
        cos, sin = angle.cos(), angle.sin()
        y = self.first(x)
        q, k, v = (
            each(y).view(batch, length, self.heads, size).transpose(1, 2)
            for each in (self.q, self.k, self.v)
        )
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, width))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class GptBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.attend(self.ln_1(x)).split(width, 2)
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).contiguous().view(batch, length, width))
        return x + self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """GPT-2's form, with the embedding tied to the last product."""

    def __init__(self, words: int = 50, width: int = 32, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(1024, width)
        self.blocks = nn.ModuleList(GptBlock(width, heads) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


class ResidualBlock(nn.Module):
    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.conv_1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv_2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn_1, self.bn_2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.bn_1(self.conv_1(x)))
        return F.relu(self.bn_2(self.conv_2(y)) + x)


class LeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv_1, self.conv_2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.lines = nn.Sequential(
            nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = F.avg_pool2d(torch.tanh(self.conv_1(x)), 2)
        x = F.avg_pool2d(torch.tanh(self.conv_2(x)), 2)
        return self.lines(x.flatten(1))


class Encoder(nn.Module):
    """Torch's own layer, without dropout."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            width, 4, 64, dropout=0.0, activation="gelu", batch_first=True
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


def cases() -> dict[str, tuple[nn.Module, tuple[Any, ...]]]:
    """Each model with its input."""
    return {
        "perceptron": (Perceptron(), (torch.randn(9, 20),)),
        "llama": (LlamaBlock(), (torch.randn(2, 9, 32),)),
        "gpt": (Gpt(), (torch.randint(0, 50, (2, 9)),)),
        "residual": (ResidualBlock(), (torch.randn(2, 6, 8, 8),)),
        "lenet": (LeNet(), (torch.randn(3, 1, 28, 28),)),
        "encoder": (Encoder(), (torch.randn(2, 9, 32),)),
    }


class Separable(nn.Module):
    """A depth-wise convolution and one of single pixels, each normalised, and what was given."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.steps = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU6(),
            nn.Conv2d(width, width, 1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.steps(x)
