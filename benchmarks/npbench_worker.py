"""Calls one program of NPBench when told to: run by `npbench.py`, under NumPy or Fusewright.

    python npbench_worker.py DESCRIPTION SOURCES SIZE

A line `call` on standard input calls it once and answers `done SECONDS`; `turn` rests, calls it
once and then for `TURN` seconds, and answers with the seconds of each of those calls; `save PATH`
keeps what a call returned and wrote.
"""

import gc
import importlib
import json
import sys
import time
from pathlib import Path

import numpy as np

REST = 0.05
"""Seconds: OpenBLAS's threads spin for some 30 ms after a product."""
TURN = 0.1
LONG = 0.5
"""A call of this many seconds needs no other before it."""


def prepared(description, sources, size):
    """What makes the arguments of a call, and the function to call."""
    sys.path.insert(0, str(sources / "npbench/benchmarks" / description["relative_path"]))
    name, values = description["module_name"], dict(description["parameters"][size])
    if init := description.get("init"):
        initialise = getattr(importlib.import_module(name), init["func_name"])
        made = initialise(*(values[each] for each in init["input_args"]))
        made = made if len(init["output_args"]) > 1 else (made,)
        values |= zip(init["output_args"], made, strict=True)
    given = [values[each] for each in description["input_args"]]
    function = getattr(importlib.import_module(name + "_numpy"), description["func_name"])
    return lambda: [value.copy() if np.ndim(value) else value for value in given], function


def finish(value, given):
    """Wait until all of it is computed; a no-op for NumPy's own arrays."""
    if fusewright := sys.modules.get("fusewright"):
        parts = (*(value if isinstance(value, tuple) else (value,)), *given)
        arrays = [part for part in parts if isinstance(part, fusewright.numpy.ndarray)]
        fusewright.evaluate(*arrays) if arrays else None


def called(arguments, function, path=""):
    """Seconds of a call with arguments made anew; its values are kept where there is a path."""
    given = arguments()
    finish(None, given)
    gc.collect(0)
    began = time.perf_counter()
    value = function(*given)
    finish(value, given)
    seconds = time.perf_counter() - began
    if path:
        parts = value if isinstance(value, tuple) else (value,)
        np.savez(path, *(part for part in (*parts, *given) if part is not None))
    return seconds


def turn(arguments, function):
    """Seconds of the calls of one turn."""
    time.sleep(REST)
    first, taken = called(arguments, function), []
    if first > LONG:
        return [first]
    while sum(taken) < TURN:
        taken.append(called(arguments, function))
    return taken


def main():
    np.random.seed(0)
    description = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["benchmark"]
    program = prepared(description, Path(sys.argv[2]), sys.argv[3])
    for line in sys.stdin:
        word, _, path = line.strip().partition(" ")
        seconds = turn(*program) if word == "turn" else [called(*program, path)]
        print("done", *seconds, flush=True)


if __name__ == "__main__":
    main()
