"""The operations of torch's that are ours, one row each; all others run as torch's own.

`accuracy` says how a result may differ from eager's: `bits` not at all (but for the sign of a zero
and what a NaN holds), `units` in the last bits, since both sides approximate a function, `order`
since a sum is added up in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from fusewright.bridges.torch import (
    activations,
    attention,
    attention_gradients,
    convolutions,
    filling,
    folds,
    losses,
    matrices,
    moves,
    windows,
)
from fusewright.bridges.torch import elementwise as each

Accuracy = Literal["bits", "units", "order"]
BACKWARD = "aten.convolution_backward.default"
ATTENTION = "aten._scaled_dot_product_flash_attention_for_cpu.default"
ATTENTION_BACKWARD = "aten._scaled_dot_product_flash_attention_for_cpu_backward.default"


class AtenRow(NamedTuple):
    """An operation, how it is recorded, and how near it is to eager's result."""

    name: str
    record: Callable[..., Any]
    accuracy: Accuracy = "bits"


COMPUTED: dict[str, AtenRow] = {
    row.name: row
    for row in (
        AtenRow("aten.add.Tensor", each.scaled("add")),
        AtenRow("aten.add.Scalar", each.scaled("add")),
        AtenRow("aten.sub.Tensor", each.scaled("subtract")),
        AtenRow("aten.sub.Scalar", each.scaled("subtract")),
        AtenRow("aten.rsub.Scalar", each.reversed_difference),
        AtenRow("aten.mul.Tensor", each.scaling("multiply")),
        AtenRow("aten.mul.Scalar", each.scaling("multiply")),
        AtenRow("aten.div.Tensor", each.divide),
        AtenRow("aten.div.Scalar", each.divide),
        AtenRow("aten.true_divide.Tensor", each.divide),
        AtenRow("aten.neg.default", each.same("negative")),
        AtenRow("aten.abs.default", each.same("absolute")),
        AtenRow("aten.reciprocal.default", each.reciprocal),
        AtenRow("aten.sqrt.default", each.in_float("sqrt"), "units"),
        AtenRow("aten.rsqrt.default", each.reciprocal_root, "units"),
        AtenRow("aten.square.default", each.same("square")),
        AtenRow("aten.floor.default", each.in_float("floor")),
        AtenRow("aten.ceil.default", each.in_float("ceil")),
        AtenRow("aten.trunc.default", each.in_float("trunc")),
        AtenRow("aten.round.default", each.in_float("rint")),
        AtenRow("aten.exp.default", each.in_float("exp"), "units"),
        AtenRow("aten.exp2.default", each.in_float("exp2"), "units"),
        AtenRow("aten.expm1.default", each.in_float("expm1"), "units"),
        AtenRow("aten.log.default", each.in_float("log"), "units"),
        AtenRow("aten.log2.default", each.in_float("log2"), "units"),
        AtenRow("aten.log10.default", each.in_float("log10"), "units"),
        AtenRow("aten.log1p.default", each.in_float("log1p"), "units"),
        AtenRow("aten.sin.default", each.in_float("sin"), "units"),
        AtenRow("aten.cos.default", each.in_float("cos"), "units"),
        AtenRow("aten.tan.default", each.in_float("tan"), "units"),
        AtenRow("aten.atan.default", each.in_float("arctan"), "units"),
        AtenRow("aten.sinh.default", each.in_float("sinh"), "units"),
        AtenRow("aten.cosh.default", each.in_float("cosh"), "units"),
        AtenRow("aten.tanh.default", each.in_float("tanh"), "units"),
        AtenRow("aten.erf.default", each.in_float("erf"), "units"),
        AtenRow("aten.pow.Tensor_Scalar", each.power, "units"),
        AtenRow("aten.pow.Tensor_Tensor", each.power_of_arrays, "units"),
        AtenRow("aten.maximum.default", each.same("maximum")),
        AtenRow("aten.minimum.default", each.same("minimum")),
        AtenRow("aten.clamp.default", each.clamp),
        AtenRow("aten.clamp.Tensor", each.clamp),
        AtenRow("aten.clamp_min.default", each.clamp),
        AtenRow("aten.clamp_max.default", each.clamp_high),
        AtenRow("aten.hardtanh.default", activations.hardtanh),
        AtenRow("aten.relu.default", each.relu),
        AtenRow("aten.threshold_backward.default", each.threshold_backward),
        AtenRow("aten.leaky_relu.default", activations.leaky_relu),
        AtenRow("aten.leaky_relu_backward.default", activations.leaky_relu_backward),
        AtenRow("aten.hardtanh_backward.default", activations.hardtanh_backward),
        AtenRow("aten.hardsigmoid.default", activations.hardsigmoid, "units"),
        AtenRow("aten.hardsigmoid_backward.default", activations.hardsigmoid_backward),
        AtenRow("aten.hardswish.default", activations.hardswish, "units"),
        AtenRow("aten.hardswish_backward.default", activations.hardswish_backward, "units"),
        AtenRow("aten.elu.default", activations.elu, "units"),
        AtenRow("aten.elu_backward.default", activations.elu_backward, "units"),
        AtenRow("aten.softplus.default", activations.softplus, "units"),
        AtenRow("aten.softplus_backward.default", activations.softplus_backward, "units"),
        AtenRow("aten.mish.default", activations.mish, "units"),
        AtenRow("aten.mish_backward.default", activations.mish_backward, "units"),
        AtenRow("aten.where.self", each.where),
        AtenRow("aten.masked_fill.Scalar", each.masked_fill),
        AtenRow("aten.masked_fill.Tensor", each.masked_fill),
        AtenRow("aten.eq.Tensor", each.comparison("equal")),
        AtenRow("aten.eq.Scalar", each.comparison("equal")),
        AtenRow("aten.ne.Tensor", each.comparison("not_equal")),
        AtenRow("aten.ne.Scalar", each.comparison("not_equal")),
        AtenRow("aten.lt.Tensor", each.comparison("less")),
        AtenRow("aten.lt.Scalar", each.comparison("less")),
        AtenRow("aten.le.Tensor", each.comparison("less_equal")),
        AtenRow("aten.le.Scalar", each.comparison("less_equal")),
        AtenRow("aten.gt.Tensor", each.comparison("greater")),
        AtenRow("aten.gt.Scalar", each.comparison("greater")),
        AtenRow("aten.ge.Tensor", each.comparison("greater_equal")),
        AtenRow("aten.ge.Scalar", each.comparison("greater_equal")),
        AtenRow("aten.isnan.default", each.logical("isnan")),
        AtenRow("aten.logical_and.default", each.logical("logical_and")),
        AtenRow("aten.logical_or.default", each.logical("logical_or")),
        AtenRow("aten.logical_xor.default", each.logical("logical_xor")),
        AtenRow("aten.logical_not.default", each.logical("logical_not")),
        AtenRow("aten.bitwise_and.Tensor", each.same("bitwise_and")),
        AtenRow("aten.bitwise_or.Tensor", each.same("bitwise_or")),
        AtenRow("aten.bitwise_xor.Tensor", each.same("bitwise_xor")),
        AtenRow("aten.bitwise_not.default", each.invert),
        AtenRow("aten._to_copy.default", each.convert),
        AtenRow("aten.clone.default", each.clone),
        AtenRow("prims.convert_element_type.default", each.convert),
        AtenRow("aten.addcmul.default", each.addcmul, "units"),
        AtenRow("aten.addcdiv.default", each.addcdiv, "units"),
        AtenRow("aten.sigmoid.default", each.sigmoid, "units"),
        AtenRow("aten.sigmoid_backward.default", each.sigmoid_backward, "units"),
        AtenRow("aten.tanh_backward.default", each.tanh_backward, "units"),
        AtenRow("aten.silu.default", each.silu, "units"),
        AtenRow("aten.silu_backward.default", each.silu_backward, "units"),
        AtenRow("aten.gelu.default", each.gelu, "units"),
        AtenRow("aten.gelu_backward.default", each.gelu_backward, "units"),
        AtenRow("aten.sum.dim_IntList", folds.total, "order"),
        AtenRow("aten.sum.default", folds.total, "order"),
        AtenRow("aten.mean.dim", folds.mean, "order"),
        AtenRow("aten.mean.default", folds.mean, "order"),
        AtenRow("aten.var.correction", folds.variance, "order"),
        AtenRow("aten.amax.default", folds.extreme("max")),
        AtenRow("aten.amin.default", folds.extreme("min")),
        AtenRow("aten.any.dim", folds.question("any")),
        AtenRow("aten.any.dims", folds.question("any")),
        AtenRow("aten.any.default", folds.question("any")),
        AtenRow("aten.all.dim", folds.question("all")),
        AtenRow("aten.all.dims", folds.question("all")),
        AtenRow("aten.all.default", folds.question("all")),
        AtenRow("aten._softmax.default", folds.softmax, "order"),
        AtenRow("aten._safe_softmax.default", attention.safe_softmax, "order"),
        AtenRow("aten._log_softmax.default", folds.log_softmax, "order"),
        AtenRow("aten._softmax_backward_data.default", folds.softmax_backward, "order"),
        AtenRow("aten._log_softmax_backward_data.default", folds.log_softmax_backward, "order"),
        AtenRow("aten.native_layer_norm.default", folds.layer_norm, "order"),
        AtenRow("aten.native_layer_norm_backward.default", folds.layer_norm_backward, "order"),
        AtenRow(
            "aten._native_batch_norm_legit_no_training.default",
            folds.batch_norm_inference,
            "units",
        ),
        AtenRow("aten.convolution.default", convolutions.convolution, "order"),
        AtenRow(BACKWARD, windows.convolution_backward, "order"),
        AtenRow("aten.mm.default", matrices.product, "order"),
        AtenRow("aten.addmm.default", matrices.shifted_product, "order"),
        AtenRow("aten.bmm.default", matrices.product, "order"),
        AtenRow(ATTENTION, attention.attention, "order"),
        AtenRow(ATTENTION_BACKWARD, attention_gradients.attention_backward, "order"),
        AtenRow("aten.linalg_vector_norm.default", folds.length, "order"),
        AtenRow("aten.mse_loss.default", losses.squares, "order"),
        AtenRow("aten.mse_loss_backward.default", losses.squares_backward, "units"),
        AtenRow("aten.smooth_l1_loss.default", losses.bent(True), "order"),
        AtenRow("aten.huber_loss.default", losses.bent(False), "order"),
        AtenRow("aten.binary_cross_entropy.default", losses.cross_entropy, "order"),
        AtenRow(
            "aten.binary_cross_entropy_backward.default", losses.cross_entropy_backward, "units"
        ),
        AtenRow("aten.ones_like.default", filling.filled(1)),
        AtenRow("aten.zeros_like.default", filling.filled(0)),
        AtenRow("aten.full_like.default", filling.given(1)),
        AtenRow("aten.new_ones.default", filling.filled(1)),
        AtenRow("aten.new_zeros.default", filling.filled(0)),
        AtenRow("aten.new_full.default", filling.given(2)),
        AtenRow("aten.ones.default", filling.filled(1)),
        AtenRow("aten.zeros.default", filling.filled(0)),
        AtenRow("aten.full.default", filling.given(1)),
        AtenRow("aten.scalar_tensor.default", filling.given(0)),
        AtenRow("aten.arange.default", filling.counted),
        AtenRow("aten.arange.start", filling.counted),
        AtenRow("aten.arange.start_step", filling.counted),
        AtenRow("aten.tril.default", filling.corner(True)),
        AtenRow("aten.triu.default", filling.corner(False)),
        AtenRow("aten.native_dropout_backward.default", each.dropout_backward),
        AtenRow("aten.constant_pad_nd.default", moves.padded),
        AtenRow("aten.stack.default", moves.stack),
        AtenRow("aten.cat.default", moves.join),
        AtenRow("aten.slice_backward.default", moves.slice_backward),
        AtenRow("aten.select_backward.default", moves.select_backward),
    )
}
"""What is computed."""

VIEWS: dict[str, AtenRow] = {
    row.name: row
    for row in (
        AtenRow("aten.view.default", moves.reshape),
        AtenRow("aten._unsafe_view.default", moves.reshape),
        AtenRow("aten.permute.default", moves.permute),
        AtenRow("aten.transpose.int", moves.transpose),
        AtenRow("aten.t.default", moves.transposed),
        AtenRow("aten.expand.default", moves.expand),
        AtenRow("aten.unsqueeze.default", moves.unsqueeze),
        AtenRow("aten.squeeze.default", moves.squeeze),
        AtenRow("aten.squeeze.dim", moves.squeeze),
        AtenRow("aten.squeeze.dims", moves.squeeze),
        AtenRow("aten.slice.Tensor", moves.slices),
        AtenRow("aten.select.int", moves.select),
        AtenRow("aten.split.Tensor", moves.split),
        AtenRow("aten.split_with_sizes.default", moves.split),
        AtenRow("aten.alias.default", moves.itself),
        AtenRow("aten.detach.default", moves.itself),
    )
}
"""What moves nothing: torch's own where torch needs the result, index arithmetic where we do."""

CONVOLUTION = "aten.convolution.default"
PRODUCTS = frozenset(
    {
        "aten.mm.default",
        "aten.addmm.default",
        "aten.bmm.default",
        ATTENTION,
        ATTENTION_BACKWARD,
        CONVOLUTION,
    }
)
"""Products: whether they are ours depends on their extents."""
CONVERSIONS = frozenset({"aten._to_copy.default", "prims.convert_element_type.default"})
"""What has another element type."""
ALONE: dict[str, dict[str, Any]] = {
    "aten.mm.default": {},
    "aten.addmm.default": {},
    CONVOLUTION: {},
    BACKWARD: {},
    "aten.bmm.default": {},
    ATTENTION: {},
    ATTENTION_BACKWARD: {},
    "aten.tanh.default": {},
    "aten.silu.default": {},
    "aten.gelu.default": {"approximate": "tanh"},
    "aten.gelu_backward.default": {"approximate": "tanh"},
}
"""What is ours even where nothing stands beside it, with these options: torch's own is slower."""
