"""What operations under `torch.compile` take, as torch's own and as ours: measured, one thread, on
an Intel Xeon with AVX-512 (`benchmarks/torch_operations.py`, `benchmarks/torch_layers.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ElementTime(NamedTuple):
    """Nanoseconds of one element of float32, with all operands in the second-level cache: as an
    operation of torch's, and as one of ours among others, which reads and writes nothing for it.
    """

    torch: float
    ours: float


SIMPLE = ElementTime(0.12, 0.0)
"""Additions, comparisons, copies: whatever is not in the table."""
ELEMENTS: Mapping[str, ElementTime] = {
    "aten.exp.default": ElementTime(0.19, 0.16),
    "aten.tanh.default": ElementTime(0.32, 0.61),
    "aten.sigmoid.default": ElementTime(0.44, 0.25),
    "aten.silu.default": ElementTime(0.45, 0.26),
    "aten.gelu.default": ElementTime(0.46, 0.43),
    "aten.log.default": ElementTime(0.26, 0.22),
    "aten.sin.default": ElementTime(0.46, 0.31),
    "aten.cos.default": ElementTime(0.47, 0.31),
    "aten.erf.default": ElementTime(0.64, 0.37),
    "aten.rsqrt.default": ElementTime(0.46, 0.35),
    "aten.sqrt.default": ElementTime(0.15, 0.14),
    "aten.softplus.default": ElementTime(1.75, 1.20),
    "aten.elu.default": ElementTime(0.15, 0.25),
    "aten.mish.default": ElementTime(4.51, 2.32),
    "aten.hardswish.default": ElementTime(0.21, 0.11),
    "aten.hardsigmoid.default": ElementTime(0.21, 0.11),
    "aten.log1p.default": ElementTime(0.75, 0.51),
    "aten.expm1.default": ElementTime(1.21, 0.18),
    "aten.div.Tensor": ElementTime(0.21, 0.08),
    "aten.silu_backward.default": ElementTime(2.00, 0.33),
    "aten.gelu_backward.default": ElementTime(0.99, 0.72),
    "aten.sum.dim_IntList": ElementTime(0.06, 0.03),
    "aten.mean.dim": ElementTime(0.10, 0.03),
    "aten.amax.default": ElementTime(0.09, 0.03),
    "aten._softmax.default": ElementTime(0.58, 0.46),
    "aten._safe_softmax.default": ElementTime(0.58, 0.46),
    "aten._log_softmax.default": ElementTime(0.52, 0.42),
    "aten._softmax_backward_data.default": ElementTime(0.10, 0.12),
    "aten._log_softmax_backward_data.default": ElementTime(0.32, 0.20),
    "aten.native_layer_norm.default": ElementTime(0.74, 0.10),
    "aten.native_layer_norm_backward.default": ElementTime(0.19, 0.11),
    "aten._native_batch_norm_legit_no_training.default": ElementTime(0.28, 0.26),
    "aten.cat.default": ElementTime(0.20, 0.14),
}
"""Where the measured values lie near those of `SIMPLE`, they are left out."""
VARIANTS: Mapping[tuple[str, str], ElementTime] = {
    ("aten.gelu.default", "tanh"): ElementTime(3.26, 0.85),
    ("aten.gelu_backward.default", "tanh"): ElementTime(2.22, 1.00),
}
"""The same with another value of the keyword `approximate`."""
SHORT_SIMPLE = ElementTime(0.23, 0.0)
"""The same of bfloat16, measured on the same machine; float16 lies within a quarter of it."""
SHORT_ELEMENTS: Mapping[str, ElementTime] = {
    "aten.exp.default": ElementTime(0.35, 0.21),
    "aten.tanh.default": ElementTime(1.52, 0.63),
    "aten.sigmoid.default": ElementTime(0.46, 0.31),
    "aten.silu.default": ElementTime(0.67, 0.44),
    "aten.gelu.default": ElementTime(0.43, 0.53),
    "aten.log.default": ElementTime(0.74, 0.34),
    "aten.sin.default": ElementTime(0.93, 0.41),
    "aten.cos.default": ElementTime(0.69, 0.35),
    "aten.erf.default": ElementTime(0.57, 0.44),
    "aten.rsqrt.default": ElementTime(0.41, 0.27),
    "aten.softplus.default": ElementTime(2.05, 1.44),
    "aten.elu.default": ElementTime(0.14, 0.33),
    "aten.mish.default": ElementTime(4.68, 2.12),
    "aten.log1p.default": ElementTime(0.77, 0.52),
    "aten.expm1.default": ElementTime(1.12, 0.24),
    "aten.silu_backward.default": ElementTime(0.61, 0.42),
    "aten.gelu_backward.default": ElementTime(1.23, 1.02),
    "aten.hardtanh.default": ElementTime(0.29, 0.09),
    "aten.hardswish.default": ElementTime(0.25, 0.16),
    "aten.hardsigmoid.default": ElementTime(0.31, 0.15),
    "aten.clamp.default": ElementTime(0.22, 0.07),
    "aten.div.Tensor": ElementTime(0.23, 0.06),
    "aten.neg.default": ElementTime(0.04, 0.00),
    "aten.clone.default": ElementTime(0.05, 0.00),
    "aten.sigmoid_backward.default": ElementTime(0.14, 0.01),
    "aten.tanh_backward.default": ElementTime(0.14, 0.01),
    "aten.sum.dim_IntList": ElementTime(0.08, 0.00),
    "aten.mean.dim": ElementTime(0.20, 0.00),
    "aten.amax.default": ElementTime(0.40, 0.00),
    "aten._softmax.default": ElementTime(0.74, 0.63),
    "aten._safe_softmax.default": ElementTime(0.74, 0.63),
    "aten._log_softmax.default": ElementTime(0.52, 0.63),
    "aten._softmax_backward_data.default": ElementTime(0.16, 0.11),
    "aten._log_softmax_backward_data.default": ElementTime(0.59, 0.49),
    "aten.native_layer_norm.default": ElementTime(0.64, 0.19),
    "aten.native_layer_norm_backward.default": ElementTime(0.56, 0.23),
    "aten._native_batch_norm_legit_no_training.default": ElementTime(0.32, 0.37),
    "aten.cat.default": ElementTime(0.05, 0.04),
    "aten.where.self": ElementTime(1.05, 0.0),
    "aten.masked_fill.Scalar": ElementTime(1.24, 0.0),
    **{
        f"aten.{name}.{kind}": ElementTime(1.24, 0.0)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
        for kind in ("Tensor", "Scalar")
    },
}
SHORT_VARIANTS: Mapping[tuple[str, str], ElementTime] = {
    ("aten.gelu.default", "tanh"): ElementTime(1.84, 0.89),
    ("aten.gelu_backward.default", "tanh"): ElementTime(1.91, 1.13),
}
POWER = ElementTime(4.01, 1.87)
"""A power whose exponent is no small integer."""
TURNED = ElementTime(0.74, 1.08)
"""A copy whose last dim is not the source's."""
CHANNEL = ElementTime(13.0, 33.0)
"""Nanoseconds of a channel of an image in batch normalisation: a root and a quotient, and a short
loop (576 channels of 4 x 4, twice).
"""

WINDOW_CALL = 45_000.0
"""Nanoseconds of calling torch's convolution of each channel by itself: it prepares a kernel each
time and copies images to and from its own layout.
"""
WINDOWS = 1.0
"""The same of each element of its result, for windows that its kernels for vectors take."""
REACH = 9
"""Elements that such windows reach over in one dim."""
WINDOW = ElementTime(0.65, 0.05)
"""Of each tap: of torch's kernel for all other windows, and of ours."""
WINDOW_WEIGHT = ElementTime(0.65, 0.12)
"""Of each tap and element in gradients of weights."""


class LayerTime(NamedTuple):
    """Nanoseconds of calls: of AOTAutograd's function, and of each of torch's operations in its
    graph beyond what that takes in the model's own graph, where views and gradients are taken in
    C++.
    """

    graph: float
    operation: float


INFERENCE, TRAINING = LayerTime(8_000.0, 2_600.0), LayerTime(40_000.0, 7_900.0)
"""Of training, for each of the two graphs."""
CALL, SEGMENT, INPUT = 1_500.0, 5_000.0, 300.0
"""Nanoseconds: calling one of torch's operations, a segment of ours, and each of its inputs."""
READ, WRITE = 0.05, 0.10
"""Nanoseconds of an element of a segment's inputs and results."""
FAR = 2.5
"""How much longer a pass takes over arrays that leave the second-level cache."""
HALF = 4.0
"""Multiplications of 16-bit types in torch's products, for one of float64."""
UNTUNED = 2.0
"""How much longer torch's products take than ours where its library has no AVX-512 kernels."""
UNPAIRED = 1.4
"""The same of products of bfloat16 on Intel's processors without tile registers (measured on one
with AVX512-BF16: 1.1 to 1.6).
"""
SHORT_PRODUCT = 18_000.0
"""Nanoseconds that a call of torch's product of bfloat16 takes beyond one of float32 (measured: 17
to 21 with 16 to 256 rows).
"""
UNPAIRED_ATTENTION = 1.2
"""The same of attention, forward and backward (1.1 to 1.3)."""
RECOMPUTING = 1.4
"""Products of ours in attention's backward pass, for one of torch's: two of five are computed
twice.
"""
REQUEST = 150_000.0
"""Nanoseconds of a call of a segment with products of bfloat16 before it has settled: it is a
request of its own.  (Measured: a product of 128 rows, 784 to 256, is as fast as torch's from then
on, and takes 1.3 of its time in the first calls.)
"""
PAGE = 4096
LEAST_SHARE = 0.03
"""Of eager's time: what a graph has to save, as predictions are off by so much and more."""
SHORT_SHARE = 0.08
"""The same of operations of 16-bit types, whose kernels in torch vary more: a model predicted to
gain 5 % took 1.0 to 1.2 of the time of its own graph.
"""
