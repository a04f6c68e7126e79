"""What this process may use: CPUs and memory, as affinity, cgroups and the machine allow."""

from __future__ import annotations

import os
from functools import cache

from fusewright.base.options import MAX_THREADS, current

CGROUPS = "/sys/fs/cgroup"
_UNLIMITED = 1 << 60
"""cgroup v1 writes a number near 2^63 for "no limit"."""


def cpu_count() -> int:
    """CPUs this process may run on: its affinity, and its cgroup's quota rounded up."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(allowed or 1, cpu_quota()))


@cache
def cpu_quota() -> int:
    """CPUs that the control groups grant, a great number where they set no limit."""
    quotas = [_quota(folder) for folder in own_cgroups("cpu")]
    return min([q for q in quotas if q], default=_UNLIMITED)


def _quota(folder: str) -> int:
    """CPUs granted by one cgroup, rounded up; 0 where it sets no limit."""
    words = _words(folder, "cpu.max")
    if not words:
        words = _words(folder, "cpu.cfs_quota_us") + _words(folder, "cpu.cfs_period_us")
    if len(words) != 2 or words[0] == "max" or int(words[0]) <= 0:
        return 0
    return -(-int(words[0]) // int(words[1]))


def thread_count() -> int:
    """Threads for a large kernel: the option, else OMP_NUM_THREADS, else the CPUs this process may
    use.
    """
    return current().threads or default_threads()


@cache
def default_threads() -> int:
    """The count where no option says one, as of the first time it is asked for."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdigit() and int(first) > 0:
        return min(int(first), MAX_THREADS)
    return min(cpu_count(), MAX_THREADS)


def total_memory() -> int:
    """Bytes of RAM, or the cgroup's limit where that is less."""
    limits = [limit for limit, _ in _cgroup_memory()]
    return min([_meminfo().get("MemTotal", _UNLIMITED), *limits])


@cache
def quarter_of_memory() -> int:
    """The default bound on memory that is kept for reuse."""
    return total_memory() // 4


def available_memory() -> int:
    """Bytes this process can still write to without being killed: free RAM and swap, within the
    cgroup's limit.
    """
    info = _meminfo()
    free = info.get("MemAvailable", _UNLIMITED) + info.get("SwapFree", 0)
    return min([free, *(limit - used for limit, used in _cgroup_memory())])


def resident_memory() -> int:
    """Bytes of this process in RAM."""
    words = _words("/proc/self/statm")
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") if len(words) > 1 else 0


def _meminfo() -> dict[str, int]:
    """The lines of /proc/meminfo, in bytes."""
    found = {}
    for line in read_file("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words:
            found[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return found


def _cgroup_memory() -> list[tuple[int, int]]:
    """(limit, bytes in use that cannot be reclaimed) of every cgroup above this process that sets a
    limit.
    """
    found = []
    for folder in own_cgroups("memory"):
        limit = _words(folder, "memory.max") or _words(folder, "memory.limit_in_bytes")
        if not limit or limit[0] == "max" or int(limit[0]) >= _UNLIMITED:
            continue
        used = _words(folder, "memory.current") or _words(folder, "memory.usage_in_bytes")
        statistics = _words(folder, "memory.stat")
        pairs = dict(zip(statistics[::2], statistics[1::2], strict=False))
        reclaimable = int(pairs.get("total_inactive_file", pairs.get("inactive_file", 0)))
        found.append((int(limit[0]), max(int(used[0]) - reclaimable, 0) if used else 0))
    return found


@cache
def own_cgroups(controller: str) -> tuple[str, ...]:
    """The folders of this process's cgroup and those above it (version 2, or the controller's own
    hierarchy of 1).
    """
    for line in sorted(read_file("/proc/self/cgroup").splitlines(), reverse=True):
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = os.path.join(CGROUPS, controller if controllers else "")
        if not os.path.isdir(root):
            continue
        # In a container the path may be the host's, which is not visible: the root is then the
        # container's own.
        return tuple(filter(os.path.isdir, _upwards(root, path)))
    return ()


def _upwards(root: str, path: str) -> list[str]:
    """The folder `path` below `root` and those above it.

    >>> _upwards("/c", "/team/job")
    ['/c/team/job', '/c/team', '/c']
    """
    parts = [part for part in path.split("/") if part]
    return [os.path.join(root, *parts[:count]) for count in range(len(parts), -1, -1)]


def _words(*path: str) -> list[str]:
    return read_file(os.path.join(*path)).split()


def read_file(path: str) -> str:
    """What a file of the system says; nothing where there is none."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""  # Not this kind of system: no limit is known from here.
