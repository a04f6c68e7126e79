"""The array API tool reads what pytest prints."""

from __future__ import annotations

from tools import array_api

OUTPUT = """
FAILED array_api_tests/test_linalg.py::test_eig - AssertionError: eigenvalues...
FAILED array_api_tests/test_special_cases.py::test_unary[expm1(real(x_i) is NaN) -> NaN + 0j]
2 failed, 1357 passed, 5 skipped, 44 warnings in 9.56s
"""


def test_failures_and_counts() -> None:
    eig, expm1 = "test_linalg.py::test_eig", (
        "test_special_cases.py::test_unary[expm1(real(x_i) is NaN) -> NaN + 0j]"
    )  # fmt: skip
    assert array_api.failures(OUTPUT) == [eig, expm1]
    assert array_api.summary(OUTPUT.strip()) == "2 failed, 1357 passed, 5 skipped"
    assert array_api.reason(eig)
    assert not array_api.reason(expm1)
    page = array_api.table({"ours": "x"}, {"NumPy": [eig], "ours": [eig, expm1]})
    assert f"| `{eig}` | fails | fails |" in page
    assert f"| `{expm1}` |  | fails |" in page
