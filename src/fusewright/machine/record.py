"""The machine as one frozen record: capacities, rates and costs, and the thresholds that follow.

The defaults are what thresholds were tuned on: two processors of a server with 1 MiB of L2 each and
32 MiB of L3.  A rate is that of one thread, in compiled loops; figures were measured by
`fusewright bench --calibrate`, or where a threshold's own comment says so.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import log2
from typing import NamedTuple

from fusewright._core import native
from fusewright.base import caches, figures
from fusewright.base.later import later

MIB = 1 << 20


class Machine(NamedTuple):
    """Capacities, rates of one thread (of operations on float64), and costs, in the units of
    `stored.UNITS`.

    `first` is the cache for data; results with `past` bytes are written past all of them (array
    statements, measured: pays above about 64 MiB); a kernel may keep `rows` bytes of row buffers.
    A `fork` is sharing work among threads and joining them, 1 to 20 us depending on how long the
    pool has slept; a `page` the first touch of 4 KiB.

    `product` is the rate in products of matrices, whose operands are packed and stay in registers;
    `half` that of multiplications of bfloat16 in such products, and `tiles` that in tile registers
    (AMX), where the processor has them (of a prototype with the same inner loop: 480 to 640).
    A `layer` of a chain of products takes so long to call; chains are fused where
    the predicted gain is `chain_gain` at least.

    An `operation` by itself takes so long in NumPy, with the call and memory for its result, an
    `element` of it, and a `dear_element` of one that NumPy's bits are not known of (an exponential,
    a sum).  `joining` is making a statement part of a group, in Python: the core takes as long as
    an `operation`.

    Looking for code on disk takes `look_up` and `look_up_node` for each node, once what looks there
    has been loaded (`load_finder`).  Compiling takes `compile_start` once in a process (the modules
    that plan and write code, LLVM's process; measured: 85 ms), `compile_structure` and
    `compile_node` for each node (measured: expressions of 10 to 200 operators 0.4 ms, time steps of
    200 to 900 0.7 to 1.5, up to 6 where shifted values are computed several times); for good, a
    `compile_line` for each line of LLVM text.  Hardware prefetchers follow about `read_streams`
    arrays; the processor combines writes to about `write_streams` lines.

    An operation of a loop takes `in_vectors` on an element, or `one_by_one`; an access to the
    `same` element in all lanes, or to `scattered` ones, is worth such a share of one to neighbours.
    A value that is dearer than `stored_value` additions is stored and read from the cache rather
    than computed twice.  A body of more than `decoded` operations leaves the cache of decoded
    instructions.  In a `block` of less work than that it shows what beginning one costs; a `strip`
    that is cut short so that each thread has some has so much; a sleeping thread takes `wake` to
    begin.

    A flush of a program's loop computes `flush_elements` at least, all operations together: in so
    many launching it takes a tenth of the time, and each further iteration adds code, and computes
    again what its neighbours read (measured, a step with four rolls of 150 x 150: 45 us in flushes
    of eight, 18 one by one).  Where an iteration has at most `flush_records` operations, memory is
    what takes time, and several iterations save passes over it (five points of 800 x 800: 160 us in
    flushes of twelve, 230 one by one), unless something in it waits for a whole array.
    """

    first: int = 48 << 10
    second: int = MIB
    third: int = 32 * MIB
    past: int = 64 * MIB
    rows: int = figures.KEPT
    first_bandwidth: float = 320.0
    second_bandwidth: float = 300.0
    third_bandwidth: float = 130.0
    memory_bandwidth: float = 60.0
    multiply_add: float = 40.0
    divide: float = 9.0
    product: float = 55.0
    half: float = 85.0
    tiles: float = 500.0
    exp: float = 2.6
    fork: float = 4_000.0
    launch: float = 180.0
    page: float = 220.0
    operation: float = 1_000.0
    element: float = figures.ELEMENT
    dear_element: float = 4.0
    joining: float = 60_000.0
    layer: float = 2_000.0
    chain_gain: float = 1.10
    look_up: float = 1e-4
    look_up_node: float = 1e-5
    load_finder: float = 10e-3
    compile_start: float = 100e-3
    compile_structure: float = 8e-3
    compile_node: float = 1e-3
    compile_line: float = 1e-4
    read_streams: int = 24
    write_streams: int = 8
    in_vectors: int = 30
    one_by_one: int = 400
    same: float = 0.9
    scattered: float = 0.15
    stored_value: int = 8
    decoded: int = 1_500
    block: float = 500.0
    strip: float = 10_000.0
    wake: float = figures.WAKE
    flush_elements: int = 200_000
    flush_records: int = 16

    @property
    def past_in_loops(self) -> int:
        """Bytes of an array that a loop writes, where that is right, from which it is written past
        the caches: half as much (measured with 32 MiB of L3: 2^22 float64 took 0.8 of the time,
        2^20 1.3 of it).
        """
        return self.past // 2

    @property
    def unlocked(self) -> int:
        """Bytes of operands and results from which other threads of Python's may run meanwhile: as
        many as come from memory in the time of a fork, as handing Python on wakes a thread, too.
        """
        return near_power(self.fork * self.memory_bandwidth)

    @property
    def left_behind(self) -> int:
        """Bytes of an array from which it has left the caches between being written by one product
        and read by the next: an eighth of the last one, which others use as well (measured on 2 of
        many processors: the hidden array of 64-256-64 float32 costs nothing at 4 MiB, a fifth of
        the time at 8).  A larger one than the default's belongs to many processors, of which each
        has no more of it (measured on 2 of those that share 260 MiB: scores of 12 to 48 MiB cost
        attention half of its time).
        """
        return min(self.third, DEFAULT.third) // 8

    @property
    def written_alone(self) -> int:
        """Arrays written in a loop made of two that share no array, where only a launch is saved:
        half of what the processor combines writes to.
        """
        return self.write_streams // 2

    @property
    def joined(self) -> int:
        """Bytes of a value from which one pass over memory less, for writing it here and reading it
        there, is worth what joining two statements or loops takes in Python.
        """
        return near_power(self.joining * self.memory_bandwidth / 2.0)

    @property
    def joined_often(self) -> int:
        """The same where the core joins what has come before: in the time of an operation, and of
        smaller values, which lie in the last cache.
        """
        return near_power(self.operation * self.third_bandwidth / 2.0)

    @property
    def quick_lines(self) -> int:
        """Lines of LLVM text above which code is generated without optimisation first: compiling it
        for good takes longer than 20 ms, which is noticed.
        """
        return round(20e-3 / self.compile_line)

    @property
    def scanned_block(self) -> float:
        """Nanoseconds of a block of a loop that adds up, at least: half as long again as a thread
        takes to wake, so that two are worth a second thread.
        """
        return 1.5 * self.wake

    @property
    def parallel(self) -> float:
        """Nanoseconds of a kernel of array statements below which it stays on the calling thread:
        two threads save half of them, and what other operations do in between finds it in another
        core's cache (measured on lattice Boltzmann programs of 12 000 and 25 600 cells: with two
        threads from 8 us on the same wall time and a quarter more processor time).
        """
        return 4.0 * self.fork

    @property
    def parallel_loop(self) -> int:
        """Picoseconds of a loop below which it does: half as much again (measured on 2 threads,
        steady loops of plain kernels: even at 6 to 11 us of work in the median, a fifth to a
        quarter less time at twice that).
        """
        return int(3000.0 * self.fork)


def near_power(figure: float) -> int:
    """The power of two next to a figure: nobody knows times and rates any better."""
    return 1 << round(log2(max(figure, 1.0)))


DEFAULT = Machine()
OF_ALL = (
    "rows", "read_streams", "write_streams", "in_vectors", "one_by_one", "same", "scattered",
    "stored_value", "decoded", "block", "strip", "wake", "flush_elements", "flush_records",
)  # fmt: skip
"""Fields that plans and flushes read.  They are the same on all machines, neither detected nor
measured, so that code on disk is found without this record.
"""


READ_BY_CORE = (
    "past", "past_in_loops", "unlocked", "parallel", "operation", "element", "dear_element",
    "look_up", "look_up_node", "load_finder",
)  # fmt: skip
"""What the native core reads of the record, but for what `targets/cpu/tiers.py` tells it."""


def with_caches(nbytes: Mapping[str, int]) -> Machine:
    """The defaults on a machine with these caches, by level; results are written past them from
    twice the last one on, between 16 and 64 MiB: a larger L3 belongs to many processors.
    """
    past = min(max(2 * nbytes.get("third", DEFAULT.third), 16 * MIB), DEFAULT.past)
    return DEFAULT._replace(past=past, **nbytes)


_current: Machine | None = None
stored = later("fusewright.machine.stored")


def current() -> Machine:
    """The record of the machine at hand; the same for the whole process."""
    if _current is not None:
        return _current
    return use(stored.found()[0])


def use(machine: Machine) -> Machine:
    """Make it the record of this process, in the native core, too."""
    global _current
    _current = machine
    caches.least_past = machine.past
    if native is not None:
        if machine.past != DEFAULT.past:
            native.take_missed()  # a request that was described before this was known
        native.set_machine(**{name: getattr(machine, name) for name in READ_BY_CORE})
    return machine


@contextmanager
def using(machine: Machine) -> Iterator[None]:
    """For tests: another record inside the block.  Code found before stays as it is."""
    outer = current()
    use(machine)
    try:
        yield
    finally:
        use(outer)
