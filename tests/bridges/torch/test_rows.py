"""Every row of the table against eager, on dense, strided, broadcast, 0-d and empty tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from fusewright.bridges.torch.rows import (
    ATTENTION_BACKWARD,
    COMPUTED,
    PRODUCTS,
    VIEWS,
    AtenRow,
)

torch = pytest.importorskip("torch")
if True:  # torch is there
    from tests.bridges.torch.graphs import equal_to_eager, results_of

Sample = tuple[tuple[Any, ...], dict[str, Any]]
Make = Callable[..., Any]


def normal(*shape: int, dtype: Any = None) -> Any:
    """Numbers around 0."""
    return torch.randn(shape, dtype=dtype or torch.float32)


def positive(*shape: int, dtype: Any = None) -> Any:
    """Numbers above 0."""
    return normal(*shape, dtype=dtype).abs() + 0.25


def laid_out(make: Make) -> list[Any]:
    """The same kind of tensor in several layouts."""
    return [
        make(3, 5, 7),
        make(7, 5, 3).permute(2, 1, 0),
        make(3, 10, 14)[:, ::2, 1::2],
        make(3, 1, 7).expand(3, 5, 7),
        make(),
        make(2, 0, 3),
        make(1, 33),
        make(2, 3, 4, 5).to(memory_format=torch.channels_last),
        make(4, 6, dtype=torch.float64),
    ]


def unary(make: Make = normal, *rest: Any, **options: Any) -> list[Sample]:
    return [((x, *rest), options) for x in laid_out(make)]


def pairs(make: Make = normal, **options: Any) -> list[Sample]:
    found = [((x, make(*x.shape, dtype=x.dtype)), options) for x in laid_out(make)]
    found += [
        ((make(3, 5), make(5)), options),
        ((make(3, 1), make(1, 5)), options),
        ((make(3, 5), make()), options),
        ((make(3, 5), make(5, dtype=torch.float64)), options),
    ]
    return found


def whole(*shape: int, dtype: Any = None) -> Any:
    """Small integers."""
    return torch.randint(-9, 9, shape, dtype=torch.int64)


def truth(*shape: int, dtype: Any = None) -> Any:
    return torch.randint(0, 2, shape, dtype=torch.bool)


def integers(count: int = 2) -> list[Sample]:
    return [(tuple(whole(3, 5) for _ in range(count)), {})]


def arithmetic() -> list[Sample]:
    mixed = [((whole(3, 5), normal(3, 5)), {}), ((truth(3, 5), normal(5)), {})]
    return pairs() + integers() + mixed


def number(value: Any, make: Make = normal, **options: Any) -> list[Sample]:
    return [*unary(make, value, **options), ((whole(3, 5), value), options)]


def compared() -> list[Sample]:
    base = normal(4, 6)
    return [*arithmetic(), ((base, base.clone()), {}), ((whole(3, 5), whole(5).int()), {})]


def reductions(make: Make = normal) -> list[Sample]:
    found: list[Sample] = []
    for x in (make(3, 5, 7), make(7, 5, 3).permute(2, 1, 0), make(64, 200), make(9)):
        last = x.dim() - 1
        found += [((x, [last]), {}), ((x, [0], True), {}), ((x, [-1], True), {})]
    return [*found, ((make(3, 5, 7), [0, 2]), {}), ((make(3, 5, 7), [0, 1, 2]), {})]


def one_dim(samples: list[Sample]) -> list[Sample]:
    return [((x, dims[0], *rest), o) for (x, dims, *rest), o in samples if len(dims) == 1]


def softmax(flag: Any) -> list[Sample]:
    found = []
    for x in (normal(3, 5, 7), normal(7, 5, 3).permute(2, 1, 0), 9 * normal(40, 300), normal(5)):
        found += [((x, d, flag), {}) for d in range(x.dim())]
    return [*found, ((normal(4, 6, dtype=torch.float64), -1, flag), {})]


def softmax_backward(log: bool) -> list[Sample]:
    found = []
    for x in (normal(3, 5, 7), normal(40, 300)):
        for d in range(x.dim()):
            y = torch.log_softmax(x, d) if log else torch.softmax(x, d)
            found.append(((normal(*x.shape), y, d, torch.float32), {}))
    return found


def layer_norm() -> list[Sample]:
    weight, bias = normal(7), normal(7)
    return [
        ((normal(3, 5, 7), [7], weight, bias, 1e-5), {}),
        ((normal(3, 5, 7), [5, 7], None, None, 1e-5), {}),
        ((normal(5, 3, 7).transpose(0, 1), [7], weight, None, 1e-3), {}),
        ((normal(64, 768) + 3, [768], normal(768), normal(768), 1e-5), {}),
    ]


def layer_norm_backward() -> list[Sample]:
    found = []
    for (x, shape, weight, bias, eps), _ in layer_norm():
        _, mean, root = torch.native_layer_norm(x, shape, weight, bias, eps)
        for wanted in ([True] * 3, [True, False, False], [False, True, True]):
            mask = [w and (k == 0 or weight is not None) for k, w in enumerate(wanted)]
            mask[2] = mask[2] and bias is not None
            given = (normal(*x.shape), x, shape, mean, root, weight, bias, mask)
            found.append((given, {}))
    return found


def batch_norm() -> list[Sample]:
    stats = (normal(5), positive(5))
    return [
        ((normal(2, 5, 4, 4), normal(5), normal(5), *stats, 0.1, 1e-5), {}),
        ((normal(2, 5), None, None, *stats, 0.1, 1e-5), {}),
    ]


POINTWISE = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)


def pixels(*shape: int) -> Any:
    return normal(*shape).to(memory_format=torch.channels_last)


def attention() -> list[Sample]:
    """Large enough to be ours, but for the last; strided, masked, cut off, with shared keys."""
    heads, length = 14, 301

    def given(
        queries: int = length, keys: int = length, shared: int = heads, width: int = 64
    ) -> Any:
        return tuple(
            normal(1, n, h, width).transpose(1, 2)
            for n, h in ((queries, heads), (keys, shared), (keys, shared))
        )

    mask = normal(length, length).masked_fill(truth(length, length), float("-inf"))
    mask[7] = float("-inf")
    return [
        (given(), {}),
        ((*given(), 0.0, True), {}),
        ((*given(310, 210, width=65), 0.0, True), {}),
        ((*given(601, 601), 0.0, True), {}),
        ((*given(530, 270), 0.0, True), {}),
        ((*given(270, 530, shared=2), 0.0, True), {}),
        ((*given(601, 270, shared=7), 0.0, True), {"attn_mask": normal(1, heads, 601, 270)}),
        (given(310, 210), {"scale": 0.3}),
        (given(), {"attn_mask": mask}),
        (given(), {"attn_mask": normal(1, 1, length, length)}),
        (given(shared=7), {"attn_mask": normal(1, heads, length, length)}),
        ((*given(shared=2), 0.0, True), {}),
        (given(9, 8), {}),
    ]


def attention_backward() -> list[Sample]:
    """Of the same."""
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    samples = [*attention(), ((*[normal(1, 310, 14, 64).transpose(1, 2)] * 3, 0.0, True), {})]
    found: list[Sample] = []
    for (query, key, value, *how), options in samples:
        made, sums = forward(query, key, value, *how, **options)
        given = (normal(*made.shape), query, key, value, made, sums, *(how or (0.0, False)))
        found.append((given, options))
    return found


def losses() -> list[Sample]:
    """Of each element, the mean, the sum."""
    found: list[Sample] = [((normal(3, 5), normal(3, 5), how), {}) for how in (0, 1, 2)]
    return [*found, ((normal(64, 200), normal(200, 64).t()), {}), ((normal(), normal()), {})]


def likely(*shape: int) -> Any:
    """Numbers between 0 and 1."""
    return torch.rand(shape)


def edges(count: int) -> Any:
    """Numbers around 0, the bounds of lines in pieces among them."""
    x = 4 * normal(count)
    x[:3] = torch.tensor([-3.0, 3.0, 0.0])
    return x


def corners() -> list[Sample]:
    """Of matrices of any layout, from any diagonal on."""
    given = (normal(5, 7), normal(7, 5).t(), normal(2, 3, 4, 4), whole(4, 6), truth(5, 5))
    return [((x, diagonal), {}) for x in given for diagonal in (0, 2, -1, 9)]


SAMPLES: dict[str, Callable[[], Sequence[Sample]]] = {
    "aten.add.Tensor": lambda: [*arithmetic(), ((normal(9), normal(9)), {"alpha": 2})],
    "aten.sub.Tensor": lambda: [*pairs(), *integers(), ((normal(9), normal(9)), {"alpha": 0.5})],
    "aten.mul.Tensor": arithmetic,
    "aten.div.Tensor": lambda: [*pairs(positive), *integers()],
    "aten.true_divide.Tensor": lambda: pairs(positive),
    "aten.add.Scalar": partial(number, 1.1),
    "aten.sub.Scalar": partial(number, 3),
    "aten.rsub.Scalar": partial(number, 2),
    "aten.mul.Scalar": partial(number, 0.3),
    "aten.div.Scalar": partial(number, 0.7),
    "aten.neg.default": lambda: unary() + integers(1),
    "aten.abs.default": lambda: unary() + integers(1),
    "aten.square.default": lambda: unary() + integers(1),
    "aten.reciprocal.default": partial(unary, positive),
    "aten.sqrt.default": partial(unary, positive),
    "aten.rsqrt.default": partial(unary, positive),
    "aten.log.default": partial(unary, positive),
    "aten.log2.default": partial(unary, positive),
    "aten.log10.default": partial(unary, positive),
    "aten.log1p.default": partial(unary, positive),
    "aten.pow.Tensor_Scalar": lambda: [
        sample for n in (2, 3, 0.5, 1, -0.5, -1, -2, 1.7) for sample in unary(positive, n)
    ],
    "aten.pow.Tensor_Tensor": partial(pairs, positive),
    "aten.maximum.default": arithmetic,
    "aten.minimum.default": arithmetic,
    "aten.clamp.default": lambda: [
        *unary(normal, -0.5, 0.5), *unary(normal, 0.1), *unary(normal, None, 0.1),
    ],
    "aten.clamp.Tensor": lambda: [((normal(3, 5), normal(5), normal(3, 1)), {})],
    "aten.clamp_min.default": partial(unary, normal, 0.25),
    "aten.clamp_max.default": partial(unary, normal, 0.25),
    "aten.threshold_backward.default": lambda: [
        ((normal(3, 5), normal(3, 5), 0), {}), ((normal(9), normal(9), 0.3), {}),
    ],
    "aten.leaky_relu_backward.default": lambda: [
        ((normal(3, 5), normal(3, 5), 0.2, of), {}) for of in (False, True)
    ],
    "aten.hardtanh_backward.default": lambda: [((normal(40), 2 * normal(40), -1.0, 1.5), {})],
    "aten.hardsigmoid.default": lambda: [((4 * normal(400),), {}), *unary()],
    "aten.hardswish.default": lambda: [((4 * normal(400),), {}), *unary()],
    "aten.hardsigmoid_backward.default": lambda: [((normal(400), edges(400)), {})],
    "aten.hardswish_backward.default": lambda: [((normal(400), edges(400)), {})],
    "aten.elu.default": lambda: [
        *unary(), *unary(normal, 0.7), *unary(normal, 1.6732632423543772, 1.0507009873554805),
        *unary(normal, 1.0, 1.0, 1 / 0.7),
    ],
    "aten.elu_backward.default": lambda: [
        ((normal(400), *rest, of, normal(400)), {})
        for rest in ((1.0, 1.0, 1.0), (1.67, 1.05, 1.0), (0.5, 1.0, 2.0)) for of in (False, True)
    ],
    "aten.softplus.default": lambda: [
        *unary(), ((30 * normal(400),), {}), ((normal(400), 3.0, 2.0), {}),
    ],
    "aten.softplus_backward.default": lambda: [
        ((normal(400), 30 * normal(400), 1.0, 20.0), {}), ((normal(400), normal(400), 3, 2), {}),
    ],
    "aten.mish_backward.default": pairs,
    "aten.mse_loss.default": losses,
    "aten.smooth_l1_loss.default": lambda: [*losses(), ((normal(40), normal(40), 1, 0.3), {})],
    "aten.huber_loss.default": lambda: [*losses(), ((normal(40), normal(40), 2, 0.3), {})],
    "aten.mse_loss_backward.default": lambda: [
        ((grad, normal(3, 5), normal(3, 5), how), {})
        for how, grad in ((0, normal(3, 5)), (1, normal()), (2, normal()))
    ],
    "aten.binary_cross_entropy.default": lambda: [
        ((likely(3, 5), likely(3, 5), weight, how), {})
        for how in (0, 1, 2) for weight in (None, positive(5))
    ] + [((truth(40).float(), truth(40).float()), {})],
    "aten.binary_cross_entropy_backward.default": lambda: [
        ((grad, likely(3, 5), likely(3, 5), weight, how), {})
        for how, grad in ((0, normal(3, 5)), (1, normal()), (2, normal()))
        for weight in (None, positive(3, 5))
    ],
    "aten.linalg_vector_norm.default": lambda: [
        *unary(normal, 2, [-1]), *((((normal(30, 40)), n, d, k), {})
        for n in (2, 1, float("inf")) for d in (None, [0], [0, 1]) for k in (False, True)),
    ],
    "aten.full_like.default": lambda: [*unary(normal, 0.3), *unary(whole, 3)],
    "aten.ones_like.default": lambda: [
        *unary(), *unary(truth), ((normal(3, 5),), {"dtype": torch.int64}),
    ],
    "aten.zeros_like.default": lambda: [*unary(), *unary(truth)],
    "aten.new_ones.default": lambda: unary(normal, [4, 3]),
    "aten.new_zeros.default": lambda: unary(normal, [4, 3]) + unary(whole, []),
    "aten.new_full.default": lambda: unary(normal, [4, 3], 0.3),
    "aten.ones.default": lambda: [(([4, 3],), {}), (([],), {"dtype": torch.bool})],
    "aten.zeros.default": lambda: [(([4, 3],), {}), (([5],), {"dtype": torch.int32})],
    "aten.full.default": lambda: [(([4, 3], 0.3), {}), (([5], True), {"dtype": torch.bool})],
    "aten.scalar_tensor.default": lambda: [((0.3,), {}), ((3,), {"dtype": torch.int64})],
    "aten.arange.default": lambda: [((9,), {}), ((5,), {"dtype": torch.int32}), ((4.5,), {})],
    "aten.arange.start": lambda: [((2, 9), {}), ((-3, 3), {"dtype": torch.int8})],
    "aten.arange.start_step": lambda: [((2, 19, 3), {}), ((9, -4, -2), {}), ((0, 9), {})],
    "aten.tril.default": corners,
    "aten.triu.default": corners,
    "aten.native_dropout_backward.default": lambda: [
        ((x, truth(*x.shape), 1 / 0.9), {}) for x in laid_out(normal)
    ],
    "aten.constant_pad_nd.default": lambda: [
        ((normal(3, 5, 7), [2, 3]), {}), ((normal(3, 5, 7), [0, 3, 1, 0, 2, 2], 0.3), {}),
        ((normal(3, 5, 7), [-2, 3, 1, -1]), {}), ((normal(3, 7, 5).transpose(1, 2), [-1, -2]), {}),
        ((whole(4, 6), [1, 1], 5), {}), ((normal(2, 3, 4, 5), [1, 1, 1, 1]), {}),
    ],
    "aten.stack.default": lambda: [
        (([normal(3, 5), normal(3, 5)], d), {}) for d in (0, 1, 2, -1)
    ] + [(([normal(), normal(), normal()],), {}), (([whole(2), normal(2)], 1), {})],
    "aten.where.self": lambda: [
        ((truth(3, 5), normal(3, 5), normal(5)), {}), ((truth(5), normal(3, 1), normal()), {}),
    ],
    "aten.masked_fill.Scalar": lambda: [((normal(3, 5), truth(5), float("-inf")), {})],
    "aten.masked_fill.Tensor": lambda: [((normal(3, 5), truth(3, 5), normal()), {})],
    "aten.isnan.default": lambda: [((torch.tensor([1.0, float("nan")]).expand(9, 2),), {})],
    "aten.logical_not.default": lambda: [((truth(3, 5),), {}), ((whole(3, 5),), {})],
    "aten.bitwise_not.default": lambda: [((truth(3, 5),), {}), ((whole(3, 5),), {})],
    "aten._to_copy.default": lambda: [
        ((x,), {"dtype": dtype})
        for x in (normal(3, 5), whole(3, 5), truth(3, 5), normal(5, 3).t())
        for dtype in (torch.float32, torch.float64, torch.bool)
    ],
    "aten.clone.default": lambda: [
        *unary(), *unary(whole), *unary(truth),
        *unary(memory_format=torch.contiguous_format),
        ((normal(2, 3, 4, 5),), {"memory_format": torch.channels_last}),
    ],
    "prims.convert_element_type.default": lambda: [
        ((x, torch.float64), {}) for x in (normal(3, 5), whole(3, 5), truth(3, 5))
    ],
    "aten.addcmul.default": lambda: [((normal(9), normal(9), normal(9)), {"value": 0.5})],
    "aten.addcdiv.default": lambda: [((normal(9), normal(9), positive(9)), {"value": -0.5})],
    "aten.sigmoid_backward.default": lambda: [((normal(40), torch.sigmoid(normal(40))), {})],
    "aten.tanh_backward.default": lambda: [((normal(40), torch.tanh(normal(40))), {})],
    "aten.silu_backward.default": pairs,
    "aten.gelu.default": lambda: unary() + unary(approximate="tanh"),
    "aten.gelu_backward.default": lambda: [
        ((normal(999), 3 * normal(999)), {"approximate": how}) for how in ("none", "tanh")
    ],
    "aten.sum.dim_IntList": lambda: reductions() + reductions(whole),
    "aten.sum.default": lambda: [((normal(30, 40),), {}), ((truth(30),), {})],
    "aten.mean.dim": reductions,
    "aten.mean.default": lambda: [((normal(30, 40),), {})],
    "aten.var.correction": lambda: [
        ((normal(30, 40), dims), {"correction": n, "keepdim": k})
        for dims in ([0], [1], None) for n in (0, 1) for k in (False, True)
    ],
    "aten.amax.default": reductions,
    "aten.amin.default": lambda: reductions() + reductions(whole),
    "aten.any.dim": lambda: one_dim(reductions(truth)),
    "aten.all.dim": lambda: one_dim(reductions(truth)),
    "aten.any.dims": lambda: reductions(truth),
    "aten.all.dims": lambda: reductions(truth),
    "aten.any.default": lambda: [((truth(30),), {}), ((whole(3, 5),), {})],
    "aten.all.default": lambda: [((truth(30),), {}), ((normal(3, 5),), {})],
    "aten._softmax.default": partial(softmax, False),
    "aten._log_softmax.default": partial(softmax, False),
    "aten._softmax_backward_data.default": partial(softmax_backward, False),
    "aten._log_softmax_backward_data.default": partial(softmax_backward, True),
    "aten.native_layer_norm.default": layer_norm,
    "aten.native_layer_norm_backward.default": layer_norm_backward,
    "aten._native_batch_norm_legit_no_training.default": batch_norm,
    "aten.convolution.default": lambda: [
        ((pixels(2, 33, 47, 50), normal(40, 33, 1, 1), bias, *POINTWISE), {})
        for bias in (None, normal(40))
    ] + [((normal(2, 33, 47, 50), normal(40, 33, 1, 1), None, *POINTWISE), {})] + [
        ((normal(2, 6, 30), normal(6, 1, 4), bias, [1], [3], [1], False, [0], 6), {})
        for bias in (None, normal(6))
    ],
    "aten.convolution_backward.default": lambda: [
        ((normal(2, 6, 30), normal(2, 6, 29), normal(6, 1, 4), [6], [1], [2], [1], False, [0], 6,
          wanted), {})
        for wanted in ([True] * 3, [True, False, False], [False, True, True])
    ] + [((normal(2, 6, 30), normal(2, 8, 29), normal(6, 8, 4), [6], [1], [2], [1], False, [0], 1,
           [True] * 3), {})],
    "aten.mm.default": lambda: [
        ((normal(130, 256), normal(192, 256).t()), {}), ((normal(9, 8), normal(8, 7)), {}),
        ((normal(300, 130).t(), normal(300, 256)[:, ::2]), {}),
        ((normal(200, 150, dtype=torch.float64), normal(150, 160, dtype=torch.float64)), {}),
    ],
    "aten.bmm.default": lambda: [
        ((normal(16, 300, 70), normal(16, 90, 300).transpose(1, 2)[:, :70].contiguous()), {}),
        ((normal(300, 16, 64).transpose(0, 1), normal(16, 300, 64).transpose(1, 2)), {}),
        ((normal(2000, 300)[:, None, :].view(5, 400, 300), normal(5, 300, 200)), {}),
        ((normal(3, 9, 8), normal(3, 8, 7)), {}),
    ],
    "aten._scaled_dot_product_flash_attention_for_cpu.default": attention,
    ATTENTION_BACKWARD: attention_backward,
    "aten._safe_softmax.default": lambda: [
        ((normal(3, 5).masked_fill(truth(3, 1), float("-inf")), -1), {}),
        ((normal(64, 300).masked_fill(truth(64, 300), float("-inf")), 0), {}),
    ],
    "aten.addmm.default": lambda: [
        ((normal(192), normal(130, 256), normal(192, 256).t()), {}),
        ((normal(130, 1), normal(130, 256), normal(256, 192)), {}),
        ((normal(192), normal(130, 256), normal(256, 192)), {"beta": 0.5, "alpha": 2}),
        ((normal(7), normal(9, 8), normal(8, 7)), {}),
    ],
    "aten.cat.default": lambda: [
        (([normal(3, 5), normal(3, 2)], 1), {}),
        (([normal(2, 5), normal(4, 5), normal(1, 5)],), {}),
        (([normal(5, 3).t(), whole(3, 5)], -1), {}),
    ],
    "aten.slice_backward.default": lambda: [
        ((normal(3, 2), [3, 5], 1, 1, 5, 2), {}), ((normal(3, 2), [3, 5], 1, -2, 9**9, 1), {}),
    ],
    "aten.select_backward.default": lambda: [((normal(3, 5), [3, 4, 5], 1, 2), {})],
    "aten.view.default": lambda: [((normal(4, 6), [2, 2, 6]), {}), ((normal(4, 6), [-1]), {})],
    "aten._unsafe_view.default": lambda: [((normal(4, 6), [2, 12]), {})],
    "aten.permute.default": lambda: [((normal(2, 3, 4), [2, 0, 1]), {})],
    "aten.transpose.int": lambda: [((normal(2, 3, 4), -1, 0), {})],
    "aten.t.default": lambda: [((normal(2, 3),), {}), ((normal(5),), {})],
    "aten.expand.default": lambda: [((normal(3, 1), [2, 3, 4]), {}), ((normal(3), [2, -1]), {})],
    "aten.unsqueeze.default": lambda: [((normal(3, 4), d), {}) for d in (0, 1, -1)],
    "aten.squeeze.default": lambda: [((normal(1, 3, 1),), {})],
    "aten.squeeze.dim": lambda: [((normal(1, 3, 1), d), {}) for d in (0, 1, -1)],
    "aten.squeeze.dims": lambda: [((normal(1, 3, 1), [0, 2]), {})],
    "aten.slice.Tensor": lambda: [((normal(9, 5), 0, 1, 8, 3), {}), ((normal(9, 5), 1, -2), {})],
    "aten.select.int": lambda: [((normal(9, 5), 0, 3), {}), ((normal(9, 5), 1, -2), {})],
    "aten.split.Tensor": lambda: [((normal(9, 5), 4), {}), ((normal(9, 6), 2, 1), {})],
    "aten.split_with_sizes.default": lambda: [((normal(9, 5), [4, 0, 5]), {})],
}  # fmt: skip
"""Samples of each row; those that are not listed take one tensor, or two (`TWO`)."""
TWO = ("eq", "ne", "lt", "le", "gt", "ge")


def samples_of(name: str) -> Sequence[Sample]:
    if name in SAMPLES:
        return SAMPLES[name]()
    operation, overload = name.split(".")[1:]
    if operation in TWO:
        return compared() if overload == "Tensor" else number(0.25) + number(1)
    if operation.startswith(("logical_", "bitwise_")):
        return [((truth(3, 5), truth(5)), {}), ((whole(3, 5), whole(3, 5)), {})]
    return unary()


@pytest.mark.parametrize("row", [*COMPUTED.values(), *VIEWS.values()], ids=lambda row: row.name)
def test_a_row_is_eagers(row: AtenRow) -> None:
    torch.manual_seed(7)
    ours = sum(equal_to_eager(row, args, options) for args, options in samples_of(row.name))
    assert ours, "no sample was ours"


FUNCTIONS = [
    row
    for row in COMPUTED.values()
    if row.accuracy == "units" and row.record.__qualname__.startswith("in_float")
]
LARGEST = {
    ("aten.add.Tensor", "alpha"): 1, ("aten.addcmul.default", "value"): 1,
    ("aten.silu.default", ""): 2, ("aten.sigmoid.default", ""): 2,
    ("aten.gelu.default", ""): 2, ("aten.silu_backward.default", ""): 3,
    ("aten.gelu_backward.default", ""): 3, ("aten.gelu_backward.default", "tanh"): 16,
}  # fmt: skip
"""Units in the last place of the largest of many results, by option."""


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.name)
def test_functions_are_within_two_units(row: AtenRow) -> None:
    """As the page says; of each number by itself."""
    torch.manual_seed(7)
    for dtype in (torch.float32, torch.float64):
        x = 3 * normal(20_001, dtype=dtype)
        got, want = results_of(row, (x.abs() if "log" in row.name or "sqrt" in row.name else x,))
        apart = (got - want).abs() / (want.abs() * torch.finfo(dtype).eps).clamp_min(1e-300)
        assert float(apart.nan_to_num().max()) <= 2


@pytest.mark.parametrize("name, option", LARGEST)
def test_what_is_composed_of_them(name: str, option: str) -> None:
    torch.manual_seed(7)
    options = {"alpha": 0.3} if option == "alpha" else {"value": 0.5} if option == "value" else {}
    if option == "tanh":
        options = {"approximate": "tanh"}
    row = COMPUTED[name]
    count = 1 if name in ("aten.silu.default", "aten.sigmoid.default", "aten.gelu.default") else 2
    given = [3 * normal(20_001) for _ in range(3 if "addc" in name else count)]
    got, want = results_of(row, given, options)
    bound = LARGEST[name, option] * torch.finfo(want.dtype).eps * float(want.abs().max())
    assert float((got - want).abs().max()) <= bound


def stored_as(value: Any, dtype: Any) -> Any:
    """A sample with its float32 tensors and types stored as another type."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.dtype is torch.float32 else value
    if isinstance(value, list | tuple):
        return type(value)(stored_as(each, dtype) for each in value)
    if isinstance(value, dict):
        return {name: stored_as(each, dtype) for name, each in value.items()}
    return dtype if value is torch.float32 else value


WIDE = {ATTENTION_BACKWARD: (5,)}
"""Operands that eager has in float32 beside others in 16 bits, by place."""


@pytest.mark.parametrize("row", [*COMPUTED.values(), *VIEWS.values()], ids=lambda row: row.name)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_row_rounds_once_as_eager_does(row: AtenRow, dtype: str) -> None:
    """Computed in float32, stored in 16 bits."""
    torch.manual_seed(7)
    samples = []
    for args, options in samples_of(row.name):
        short, options = stored_as((args, options), getattr(torch, dtype))
        wide = WIDE.get(row.name, ())
        samples.append(
            (tuple(args[n] if n in wide else each for n, each in enumerate(short)), options)
        )
    ours = sum(equal_to_eager(row, args, options) for args, options in samples)
    assert ours or row.name in PRODUCTS or dtype == "float16", "no sample was ours"
