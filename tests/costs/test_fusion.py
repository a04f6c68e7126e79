"""How many kernels a program is, what they move, and what a switch, a held value or a dead one
costs.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.costs.counted import PROGRAMS, WHOLE, arrays, chain, evaluated, kernels

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.ir import graph
from fusewright.runtime import buffers, profile


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_one_kernel_moves_inputs_and_outputs_once(name: str) -> None:
    program = PROGRAMS[name]
    ran = kernels(program.run, arrays())
    assert len(ran) == 1
    assert ran[0].bytes_read == program.read
    assert ran[0].bytes_written == program.written


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_unfused_every_step_is_a_kernel(name: str) -> None:
    program = PROGRAMS[name]
    with fw.options(fuse=False):
        ran = kernels(program.run, arrays())
    assert len(ran) >= program.steps
    if program.steps > 3:
        moved = sum(kernel.bytes_read + kernel.bytes_written for kernel in ran)
        assert moved > 1.5 * (program.read + program.written)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_one_allocation_for_each_result(name: str) -> None:
    program = PROGRAMS[name]
    inputs = arrays()
    results = evaluated(program.run, inputs)
    before = buffers.statistics().allocations
    again = evaluated(program.run, inputs)
    # a reduction of all units needs a block of partial results besides
    spare = 1 if name in ("E.sum", "column sums") else 0
    assert buffers.statistics().allocations - before <= len(results) + spare
    del again


PEAK = """
import numpy as np, fusewright as fw, fusewright.numpy as fnp
from fusewright.runtime import buffers
from tests.costs.counted import chain
inputs = [fw.asarray(np.ones(2_000_000)) for _ in range(2)]
fw.evaluate(*inputs)
held = buffers.statistics().in_use
result = fw.evaluate(chain(fnp, *inputs))
print(buffers.statistics().peak - held)
"""


def test_dead_temporaries_are_never_allocated() -> None:
    done = subprocess.run([sys.executable, "-c", PEAK], check=True, capture_output=True, text=True)
    assert 16e6 <= int(done.stdout) <= 1.06 * 16e6  # the block is rounded up to huge pages


def test_recording_runs_and_allocates_nothing() -> None:
    a, b, *_ = arrays()
    before = buffers.statistics().allocations
    with profile.listen() as record:
        held = [a * k + b for k in range(20)]
    assert not record.kernels
    assert buffers.statistics().allocations == before
    assert all(value._node.kind != graph.LEAF for value in held)


def test_a_held_value_is_not_stored_until_it_is_wanted_again() -> None:
    a, b, *_ = arrays()
    held = a * 2 + b
    first = kernels(lambda np, *_: held + 1, [])
    assert [k.bytes_written for k in first] == [WHOLE]
    assert held._node.kind != graph.LEAF
    second = kernels(lambda np, *_: held * 3, [])
    assert sum(k.bytes_written for k in second) == 2 * WHOLE
    assert held._node.kind == graph.LEAF
    third = kernels(lambda np, *_: held - 3, [])
    assert sum(k.bytes_read for k in third) == WHOLE


def test_asking_for_what_is_computed_costs_nothing() -> None:
    inputs = arrays()
    result = evaluated(chain, inputs)
    with profile.listen() as record:
        fw.evaluate(*result)
    assert not record.kernels


def test_values_asked_for_together_share_a_pass() -> None:
    a, b, *_ = arrays()
    ran = kernels(lambda np, *_: (a + b, (a + b) * 2, fnp.exp(a)), [])
    assert len(ran) == 1
    assert ran[0].bytes_read == 2 * WHOLE


def test_large_work_uses_the_threads_it_may() -> None:
    inputs = arrays(2000, 500)
    for threads in (1, 2):
        for name in ("E", "E.sum", "softmax", "heat step"):
            with fw.options(threads=threads):
                used = [kernel.threads for kernel in kernels(PROGRAMS[name].run, inputs)]
            assert used == [threads], name


def test_small_work_stays_on_the_calling_thread() -> None:
    with fw.options(threads=2):
        assert [k.threads for k in kernels(chain, arrays(3, 4))] == [1]
