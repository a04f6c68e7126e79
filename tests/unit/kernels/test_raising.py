"""Which loops are array statements, and what those are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.ir.dtypes import INT8, INT64, UINT8
from fusewright.ir.expr import cast, const, index, op, param
from fusewright.ir.loops.statements import For
from fusewright.kernels import raising
from fusewright.kernels.places import Access, Form, Known, decided, form_of, keeps_order
from fusewright.kernels.recipe import Recipe

P, Q = index(0), index(1)
BOX = {0: (0, 10), 1: (2, 3)}
KNOWN = Known({0: 10}, {}, BOX)


def number(value: int) -> Any:
    return const(value, INT64)


FORMS = {
    "constant": (number(3), Form(3)),
    "sum": (op("add", op("multiply", P, number(2)), number(-1)), Form(-1, ((0, 2),))),
    "two loops": (op("subtract", P, Q), Form(0, ((0, 1), (1, -1)))),
    "an extent": (op("subtract", param(0, INT64), P), Form(10, ((0, -1),))),
    "from the end": (
        op("where", op("less", op("subtract", P, number(20)), number(0)), P, Q),
        Form(0, ((0, 1),)),
    ),
    "a quotient": (op("floor_divide", param(0, INT64), number(3)), Form(3)),
    "narrow": (cast(cast(P, INT8), INT64), Form(0, ((0, 1),))),
    "it wraps": (cast(op("subtract", P, number(5)), UINT8), None),
    "a product of loops": (op("multiply", P, Q), None),
    "a quotient of a loop": (op("floor_divide", P, number(2)), None),
    "by zero": (op("floor_divide", number(1), number(0)), None),
    "not decided": (op("where", op("less", P, number(5)), P, Q), None),
    "too large": (op("multiply", P, number(1 << 61)), None),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    expr, wanted = FORMS[name]
    assert form_of(expr, KNOWN) == wanted


def test_conditions() -> None:
    assert decided(op("less", P, number(10)), KNOWN) is True
    assert decided(op("less", P, number(9)), KNOWN) is None
    assert decided(op("equal", Q, number(1)), KNOWN) is False
    assert decided(op("not_equal", Q, number(3)), KNOWN) is None
    both = op("logical_and", op("less", P, number(9)), op("less", Q, number(2)))
    assert decided(both, KNOWN) is False
    assert decided(op("logical_not", both), KNOWN) is True


def access(*indices: Form, writes: bool = True) -> Access:
    return Access(0, indices, (0, 1), writes, ("", 0, 0, 0))


def test_order() -> None:
    i, j, later = Form(0, ((0, 1),)), Form(0, ((1, 1),)), Form(1, ((0, 1),))
    assert keeps_order(access(i, j), access(i, j), BOX, ())
    assert not keeps_order(access(i, j), access(later, j), BOX, ())
    assert keeps_order(access(i, j), access(later, j), BOX, (0,))
    assert not keeps_order(access(i, Form(0)), access(i, Form(0)), BOX, ())
    assert keeps_order(access(i.scaled(2), j), access(later.scaled(2).plus(Form(1)), i), BOX, ())
    assert keeps_order(access(i, j), access(i.plus(Form(10)), j), BOX, ())
    assert not keeps_order(access(i, j), access(i.plus(Form(9)), j), BOX, ())


@fw.kernel
def shift(x: Any, y: Any) -> None:
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] + x[i]


def recipe_of(kernel: Any) -> Any:
    ((found,),) = kernel.specialisations.values()
    (recipe,) = found.recipes.values()
    return recipe


def test_what_is_declared_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    proved = raising.raise_kernel

    def declared(kernel: Any, *rest: Any) -> Recipe:
        (loop,) = kernel.body
        assert isinstance(loop, For)
        return proved(replace(kernel, body=(replace(loop, declared=True),)), *rest)

    x, y = fw.asarray(np.ones(4)), fw.asarray(np.ones(4))
    shift(x, y)
    assert not isinstance(recipe_of(shift), Recipe)
    shift.specialisations.clear()
    monkeypatch.setattr(raising, "raise_kernel", declared)
    shift(x, y)
    assert isinstance(recipe_of(shift), Recipe)
    shift.specialisations.clear()


def test_the_same_statement_is_recorded() -> None:
    @fw.kernel
    def average(a, b):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.5 * (a[i - 1] + a[i + 1])

    a, b, c = (fw.asarray(np.arange(6.0)) for _ in range(3))
    a = a * 2  # pending: views of it are recorded, where those of memory are memory
    average(a, b)
    c[1:-1] = 0.5 * (a[:-2] + a[2:])
    assert shown(b._node) == shown(c._node)


def shown(node: Any) -> Any:
    """A value with all it is computed from; literals may stand in either form."""
    return (node.kind, node.op, node.shape, node.attr, tuple(map(shown, node.args)))


REFUSED = {
    "a carried value": ("for i in range(9):\n        s = s + x[i]\n        y[i] = s", "`s` goes"),
    "one place": ("for i in range(9):\n        y[0] = x[i]", "several iterations"),
    "the last one": ("for i in range(9):\n        y[i + 1] = y[i]", "iterations meet"),
    "a table": ("for i in range(9):\n        y[int(x[i])] = 1", "computed from values"),
    "outside": ("for i in range(11):\n        y[i] = x[i]", "outside the array"),
    "while": ("i = 0\n    while i < 9:\n        y[i] = 1\n        i += 1", "length is not known"),
    "a diagonal": ("for i, j in fw.ndrange(3, 3):\n        y[i + j] = 1", "follows several"),
    "break": ("for i in range(9):\n        y[i] = 1\n        if x[i] > 5: break", "early"),
    "bounds": ("for i in range(int(x[0])):\n        y[i] = 1", "bounds are not numbers"),
    "scratch": ("t = fw.local(3, float)\n    t[0] = x[1]\n    y[0] = t[0]", "local array"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_reasons(name: str, tmp_path: Any) -> None:
    body, why = REFUSED[name]
    path = tmp_path / "refused.py"
    path.write_text(f"import fusewright as fw\n\n@fw.kernel\ndef k(x, y, s):\n    {body}\n")
    names: dict[str, Any] = {"__name__": "refused"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    kernel = names["k"]
    x, y = np.arange(1.0, 11.0), np.zeros(12)
    kernel(fw.asarray(x), fw.asarray(y)[:10], 0.0)
    (record,) = kernel.explain().lazy
    assert why in record.why
    assert record.because[0] == str(path)
