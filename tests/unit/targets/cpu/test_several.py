"""Requests with more results than the core takes at once (`tiers.as_several`)."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import begin

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import _core, driver

pytestmark = pytest.mark.skipif(_core.native is None, reason="the core's own way")
MANY = 150


@pytest.fixture(autouse=True)
def _as_users_have_it() -> Iterator[None]:
    with fw.options(small=512, interpret=True):
        begin()
        yield


def asked(elements: int) -> tuple[list[Any], list[Any]]:
    """Many results, some made of others, and what NumPy makes."""

    def made(x: Any) -> list[Any]:
        found = [x * 2.0]
        for number in range(1, MANY):
            found.append(found[number // 2] + x / number)
        found[-1][3:-5] += found[0][3:-5]
        return found

    values = np.arange(elements, dtype=float) / 7
    ours = made(fw.asarray(values))
    return ours, made(values)


def test_python_describes_none_of_few_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    monkeypatch.setattr(driver, "take", lambda nodes: taken.append(len(nodes)))
    ours, theirs = asked(16_384)
    fw.evaluate(*ours)
    assert not taken
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(np.asarray(one), other)


def test_many_elements_are_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, take = [], driver.take
    monkeypatch.setattr(driver, "take", lambda nodes: taken.append(len(nodes)) or take(nodes))
    ours, theirs = asked(60_000)
    fw.evaluate(*ours)
    assert max(taken) > 64, "more than the core takes"
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(np.asarray(one), other)


def test_a_request_without_products_does_not_load_what_computes_them() -> None:
    program = (
        "import sys; import fusewright.numpy as np\n"
        "x = np.arange(5000.0); found = [x * k for k in range(1, 100)]\n"
        "import fusewright as fw; fw.evaluate(*found)\n"
        "assert found[-1][2] == 198.0\n"
        "print('fusewright.driver' in sys.modules, "
        "'fusewright.targets.cpu.recorded_products' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.split() == ["True", "False"], ran.stderr


def test_a_chain_of_products_that_is_met_once_loads_no_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from fusewright.targets.cpu import chains

    ran = []
    monkeypatch.setattr(chains, "run", lambda *_: ran.append(1))
    rng = np.random.default_rng(0)
    x, v, w = (
        fw.asarray(rng.random(shape).astype("f4")) for shape in ((16384, 64), (64, 256), (256, 64))
    )
    values = [np.asarray(each) for each in (x, v, w)]
    for many in (0, 1):
        found = fnp.maximum(x @ v - 16, 0) @ w
        fw.evaluate(found)
        assert len(ran) == many
        expected = np.maximum(values[0] @ values[1] - 16, 0) @ values[2]
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-3)
