"""Operations whose values NumPy computes to the bits of compiled code."""

EXACT = frozenset(
    (
        "add", "subtract", "multiply", "divide", "negative", "positive", "absolute", "square",
        "sqrt", "maximum", "minimum", "floor", "ceil", "trunc", "rint", "equal", "not_equal",
        "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
        "logical_xor",
        "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "isnan", "isinf",
        "isfinite", "signbit", "copysign", "where", "cast",
    )
)  # fmt: skip
"""Element-wise operations that NumPy computes to the bits of compiled code."""

LINEAR = frozenset(("add", "subtract", "negative", "positive"))
"""Those of them that are exact for complex numbers, part by part."""
