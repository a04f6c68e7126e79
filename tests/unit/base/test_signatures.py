"""`parameters` says what `inspect.signature` says, of all that NumPy has."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from fusewright.base.signatures import parameters

NAMESPACES = (np, np.ndarray, np.linalg, np.fft, np.random, np.random.Generator, np.generic)


def everything():
    for namespace in NAMESPACES:
        for name in dir(namespace):
            value = getattr(namespace, name)
            if callable(value) and not isinstance(value, type):
                yield pytest.param(value, id=f"{namespace.__name__}.{name}")
    a = np.zeros(3)
    for name in ("sum", "dot", "__matmul__", "__getitem__", "astype"):
        yield pytest.param(getattr(a, name), id=f"bound.{name}")


@pytest.mark.parametrize("function", list(everything()))
def test_parameters(function):
    try:
        expected = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        with pytest.raises((TypeError, ValueError)):
            parameters(function)
        assert error
        return
    found = parameters(function)
    assert [(p.name, p.kind) for p in found] == [(p.name, p.kind) for p in expected]


def test_no_program_loads_the_tokenizer():
    script = """
        import numpy as np
        import fusewright.numpy as fnp
        import tokenize
        compiled = []
        tokenize._compile = lambda text: compiled.append(text)
        x = fnp.ones((40, 40)) * 2
        float((x @ x[0]).mean()); float(x.dot(x[0]).sum()); x.clip(0, 1).max(axis=0); fnp.sort(x)
        print(len(compiled))
    """
    lines = "\n".join(line.strip() for line in script.splitlines())
    found = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert found.stdout == "0\n", found.stderr
