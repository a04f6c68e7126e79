"""Convolutions of single pixels are products of ours, alone and with what stands around them, those
of each channel by itself sums of shifted products; all others are torch's, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fusewright
from fusewright.runtime.listening import compilations

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")
nn = torch.nn

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(5)
    with fusewright.options(background=False):
        yield
    torch._dynamo.reset()


class Bottleneck(nn.Module):  # type: ignore[misc]
    """Pixels, windows, pixels, and the operand again."""

    def __init__(self, act: Callable[[Any], Any] = torch.relu) -> None:
        super().__init__()
        self.act = act
        self.first, self.last = nn.Conv2d(64, 32, 1), nn.Conv2d(32, 64, 1, bias=False)
        self.window = nn.Conv2d(32, 32, 3, padding=1)
        self.norms = nn.ModuleList(nn.BatchNorm2d(n) for n in (32, 32, 64))
        for norm in self.norms:
            nn.init.normal_(norm.running_mean)
            nn.init.normal_(norm.weight)

    def forward(self, x: Any) -> Any:
        a, b, c = self.norms
        h = self.act(a(self.first(x)))
        h = self.act(b(self.window(h)))
        return self.act(c(self.last(h)) + x)


class Scaled(nn.Module):  # type: ignore[misc]
    """A scale for each channel of each image, a mask for each pixel, a field for all channels."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(64, 48, 1)

    def forward(self, x: Any) -> Any:
        h = self.layer(x)
        scale = torch.sigmoid(h.mean((2, 3), keepdim=True))
        mask = (x[:, :1] > 0).to(h.dtype)
        return h * scale * mask + x[:1, :48], h.permute(0, 2, 3, 1), h.flatten(1)


MODELS: dict[str, Callable[[], Any]] = {
    "one": lambda: nn.Conv2d(64, 48, 1),
    "without bias": lambda: nn.Conv2d(64, 48, 1, bias=False),
    "several": lambda: nn.Sequential(
        nn.Conv2d(64, 96, 1), nn.GELU(), nn.Conv2d(96, 40, 1), nn.Tanh(), nn.Conv2d(40, 64, 1)
    ),
    "bottleneck": Bottleneck,
    "sigmoid": lambda: Bottleneck(nn.functional.silu),
    "scaled": Scaled,
    "softmax of channels": lambda: nn.Sequential(nn.Conv2d(64, 48, 1), nn.Softmax(dim=1)),
}


def near(got: Any, want: Any) -> None:
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for one, other in pairs:
        bound = 512 * torch.finfo(other.dtype).eps * max(1.0, float(other.detach().abs().max()))
        torch.testing.assert_close(one, other, rtol=0.0, atol=bound)
        assert one.stride() == other.stride()


def report() -> Any:
    from fusewright.bridges.torch.report import graphs

    return graphs[-1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", MODELS)
def test_models_of_pixels(name: str, dtype: Any) -> None:
    model = MODELS[name]().to(dtype).to(memory_format=torch.channels_last).eval()
    x = torch.randn(3, 64, 37, 41, dtype=dtype).to(memory_format=torch.channels_last)
    made = torch.compile(model, backend="fusewright")
    with torch.no_grad():
        near(made(x), model(x))
        near(made(x), model(x))
    refused = [each.refused for each in report().running]
    assert not any(refused), refused
    ours = [n for each in report().running for n in each.segment.members]
    assert any("convolution" in str(node.target) for node in ours)


@pytest.mark.parametrize(
    "shape", [(4, 64, 40, 40), (64, 64, 64, 64), (2, 40, 40, 64), (1, 64, 80, 80)]
)
def test_extents_that_are_alike(shape: tuple[int, ...]) -> None:
    channels = shape[1]
    model = nn.Sequential(
        nn.Conv2d(channels, 40, 1), nn.BatchNorm2d(40), nn.Tanh(), nn.Conv2d(40, 64, 1), nn.ReLU(),
        nn.Conv2d(64, channels, 1),
    )  # fmt: skip
    model = model.to(memory_format=torch.channels_last).eval()
    x = torch.randn(*shape).to(memory_format=torch.channels_last)
    with torch.no_grad():
        near(torch.compile(model, backend="fusewright")(x), model(x))


def test_gradients() -> None:
    model = Bottleneck().to(memory_format=torch.channels_last).eval()
    x = torch.randn(2, 64, 48, 48).to(memory_format=torch.channels_last).requires_grad_()
    made = torch.compile(model, backend="fusewright")
    wanted = torch.autograd.grad(model(x).square().sum(), [x, *model.parameters()])
    found = torch.autograd.grad(made(x).square().sum(), [x, *model.parameters()])
    for one, other in zip(found, wanted, strict=True):
        bound = 1e-4 * max(1.0, float(other.abs().max()))
        torch.testing.assert_close(one, other, rtol=0.0, atol=bound)


def test_another_batch_compiles_nothing() -> None:
    model = MODELS["several"]().to(memory_format=torch.channels_last).eval()
    made = torch.compile(model, backend="fusewright", dynamic=True)
    with torch.no_grad():
        for batch, side in ((4, 40), (5, 44)):
            x = torch.randn(batch, 64, side, side).to(memory_format=torch.channels_last)
            near(made(x), model(x))
        seen: list[Any] = []
        compilations.append(seen.append)
        x = torch.randn(6, 64, 36, 40).to(memory_format=torch.channels_last)
        near(made(x), model(x))
        compilations.remove(seen.append)
    assert seen == []


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kernel_size": 3, "padding": 1}, "windows have several pixels"),
        ({"kernel_size": 1, "stride": 2}, "windows have several pixels"),
        ({"kernel_size": 1, "groups": 4}, "windows have several pixels"),
        ({"kernel_size": 1, "padding": 1}, "windows have several pixels"),
        ({"kernel_size": 3, "padding": 2, "dilation": 2, "groups": 64}, "a channel's pixels"),
    ],
)
def test_other_convolutions_are_torchs(options: dict[str, Any], why: str) -> None:
    model = nn.Sequential(nn.Conv2d(64, 64, **options), nn.ReLU(), nn.Hardtanh()).eval()
    x = torch.randn(3, 64, 37, 41).to(memory_format=torch.channels_last)
    with torch.no_grad():
        near(torch.compile(model, backend="fusewright")(x), model(x))
    assert any(why in reason for name, reason, _ in report().theirs if "convolution" in name)


def test_channels_that_lie_apart_are_torchs() -> None:
    model = nn.Sequential(nn.Conv2d(64, 64, 1), nn.ReLU(), nn.Hardtanh()).eval()
    x = torch.randn(3, 64, 37, 41)
    with torch.no_grad():
        near(torch.compile(model, backend="fusewright")(x), model(x))
    assert any("channels_last" in reason for _, reason, _ in report().theirs)


def test_one_dim_and_three() -> None:
    for layer, shape in (
        (nn.Conv1d(64, 64, 1), (3, 64, 2000)),
        (nn.Conv3d(8, 8, 1), (1, 8, 9, 9, 9)),
    ):
        model, x = nn.Sequential(layer, nn.ReLU(), nn.Hardtanh()).eval(), torch.randn(*shape)
        with torch.no_grad():
            near(torch.compile(model, backend="fusewright")(x), model(x))


def by_channel(rank: int, taps: Any, **options: Any) -> Any:
    layer = nn.Conv1d if rank == 1 else nn.Conv2d
    return layer(24, 24, taps, groups=24, **options)


BY_CHANNEL: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "3": (lambda: by_channel(1, 3, padding=1), (2, 24, 50)),
    "causal": (lambda: by_channel(1, 4, padding=3, bias=False), (2, 24, 50)),
    "beyond": (lambda: by_channel(1, 3, padding=7), (2, 24, 5)),
    "dilated": (lambda: by_channel(1, 5, padding=8, dilation=4), (2, 24, 41)),
    "many": (lambda: by_channel(1, 31, padding=15), (1, 24, 64)),
    "by three": (lambda: by_channel(1, 4, stride=3, dilation=2), (2, 24, 50)),
    "3x3": (lambda: by_channel(2, 3, padding=1), (2, 24, 7, 49)),
    "1x9": (lambda: by_channel(2, (1, 9), padding=(0, 4)), (2, 24, 7, 49)),
    "3x3 without zeros": (lambda: by_channel(2, 3, dilation=2), (1, 24, 9, 60)),
    "7x7": (lambda: by_channel(2, 7, padding=3, bias=False), (2, 24, 10, 11)),
}

THEIRS = ("beyond", "by three", "3x3", "1x9", "3x3 without zeros")
"""Those whose gradients are torch's."""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", BY_CHANNEL)
def test_convolutions_of_each_channel(name: str, dtype: Any) -> None:
    """With what stands around them, and their gradients, whatever their layout is."""
    make, shape = BY_CHANNEL[name]
    model = nn.Sequential(nn.Tanh(), make(), nn.SiLU()).to(dtype)
    made = torch.compile(model, backend="fusewright")
    x = torch.randn(*shape).to(dtype).requires_grad_()
    for is_turned in (False, True):
        want, got = model(x), made(x)
        grad = torch.randn_like(want.mT).mT if is_turned else torch.randn_like(want)
        near(got, want)
        wanted = torch.autograd.grad(want, [x, *model.parameters()], grad)
        found = torch.autograd.grad(got, [x, *model.parameters()], grad)
        for one, other in zip(found, wanted, strict=True):
            units = 8 if dtype is torch.bfloat16 else 512
            bound = units * torch.finfo(dtype).eps * max(1.0, float(other.abs().max()))
            torch.testing.assert_close(one, other, rtol=0.0, atol=bound)
            assert one.stride() == other.stride()
    from fusewright.bridges.torch.report import graphs

    forward, backward = list(graphs)[-2:]
    ours = [str(n.target) for graph in (forward, backward) for each in graph.running
            for n in each.segment.members]  # fmt: skip
    assert ("aten.convolution.default" in ours) == (name != "7x7")
    assert ("aten.convolution_backward.default" in ours) == (name not in THEIRS)
    assert not any(each.refused for graph in (forward, backward) for each in graph.running)


def test_windows_of_turned_images() -> None:
    """Of one dim; a result lies in C order, as eager's."""

    class Turned(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.windows = by_channel(1, 4, padding=3)

        def forward(self, x: Any) -> Any:
            first, second = x.transpose(1, 2).split(24, dim=1)
            return nn.functional.silu(self.windows(first)[..., : x.shape[1]]) * second

    model, x = Turned(), torch.randn(2, 70, 48, requires_grad=True)
    made = torch.compile(model, backend="fusewright")
    near(made(x), model(x))
    wanted = torch.autograd.grad(model(x).square().sum(), [x, *model.parameters()])
    found = torch.autograd.grad(made(x).square().sum(), [x, *model.parameters()])
    near(tuple(found), tuple(wanted))
    ours = [str(n.target) for each in report().running for n in each.segment.members]
    assert "aten.convolution_backward.default" in ours


def test_another_length_of_each_channel_compiles_nothing() -> None:
    model = nn.Sequential(by_channel(1, 4, padding=3), nn.SiLU()).eval()
    made = torch.compile(model, backend="fusewright", dynamic=True)
    with torch.no_grad():
        for batch, length in ((4, 40), (5, 44)):
            x = torch.randn(batch, 24, length)
            near(made(x), model(x))
        seen: list[Any] = []
        compilations.append(seen.append)
        x = torch.randn(3, 24, 61)
        near(made(x), model(x))
        compilations.remove(seen.append)
    assert seen == []
