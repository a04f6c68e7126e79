"""The public names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from tests.unit.programs_of import array

import fusewright as fw


def test_every_public_name_is_there() -> None:
    assert all(getattr(fw, name) is not None for name in fw.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        fw.nonsense  # noqa: B018


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_drop_in_comes_with_its_name() -> None:
    code = "import fusewright as fw; print(float(fw.numpy.ones(3).sum()), fw.numpy.__name__)"
    assert fresh(code).split() == ["3.0", "fusewright.numpy"]


def test_evaluate_returns_what_it_is_given() -> None:
    a, b = array(3) + 1, array(4) + 2
    assert fw.evaluate(a) is a and not a._node.args
    assert fw.evaluate(b, "text", None) == (b, "text", None)
    assert fw.evaluate() == ()


@dataclass
class Pair:
    """A state, as programs keep one."""

    first: Any
    second: Any


@pytest.mark.parametrize(
    "held",
    [
        lambda a, b: (a, b),
        lambda a, b: [a, [b]],
        lambda a, b: {"a": a, "b": (b, 1.0)},
        lambda a, b: Pair(a, Pair("text", b)),
        lambda a, b: Pair(a, SimpleNamespace(b=b)).first,
    ],
)
def test_evaluate_and_explain_look_into_containers(held: Callable[[Any, Any], Any]) -> None:
    a, b = array(300) + 1, array(400) * 2
    value = held(a, b)
    inside = 1 if value is a else 2
    assert sum(len(flush.steps) for flush in fw.explain(value).flushes) == inside
    assert fw.evaluate(value) is value
    assert not a._node.args and bool(b._node.args) == (inside == 1)


def test_a_list_that_holds_itself_is_looked_at_once() -> None:
    held: list[Any] = [array(3) + 1]
    held.append(held)
    assert fw.evaluate(held) is held and not held[0]._node.args


def test_several_values_are_computed_together() -> None:
    a = array(100)
    low, high = (a * 2).min(), (a * 2).max()
    assert len(fw.explain(low, high).kernels) == 1


def test_info_describes_the_machine_and_the_settings() -> None:
    with fw.options(threads=1):
        info = fw.info()
    assert info["options"]["threads"] == 1 and info["numpy"] == numpy.__version__
    assert info["processors"] >= 1 and "bits" in info["vectors"]


def test_the_cache_is_counted_and_cleared(tmp_path: object) -> None:
    with fw.options(cache_dir=str(tmp_path)):
        fw.cache_clear()
        assert fw.cache_info().in_memory == fw.cache_info().on_disk == 0
        fw.evaluate(array(7) / 3)
        info = fw.cache_info()
        assert info.in_memory == 1 and info.on_disk >= 1 and info.nbytes > 0
        assert info.folder == str(tmp_path) and not info.unusable
        fw.cache_clear(disk=True)
        assert fw.cache_info().in_memory == fw.cache_info().on_disk == 0


@pytest.mark.parametrize(
    ("setting", "meant"),
    [
        ("parallel", "run on threads by themselves"),
        ("fastmath", "reassociate=True"),
        ("boundscheck", "check=True"),
        ("fuze", "did you mean fuse?"),
        ("nothing_like_it", "there are integers and fuse"),
    ],
)
def test_settings_of_other_decorators_are_refused_with_what_there_is(
    setting: str, meant: str
) -> None:
    decorate: Any = fw.kernel
    with pytest.raises(fw.FusewrightError, match="has no setting") as refused:
        decorate(**{setting: True})
    assert meant in refused.value.help


@pytest.mark.parametrize("wrong", [3, "f", None])
def test_jit_takes_a_function(wrong: Any) -> None:
    with pytest.raises(fw.FusewrightError, match=r"fw\.jit takes a function, not"):
        fw.jit(wrong)
