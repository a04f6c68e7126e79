"""What a process may use, read from fake system files of the kinds that exist."""

import pytest

from fusewright.runtime import limits

GIB = 1 << 30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Write a fake /proc/self/cgroup, /proc/meminfo and cgroup tree."""

    def write(lines, files):
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        fake = {
            "/proc/self/cgroup": lines,
            "/proc/meminfo": "MemTotal:  33554432 kB\nMemAvailable: 16777216 kB\nSwapFree: 0 kB\n",
        }
        real = limits.read_file
        monkeypatch.setattr(limits, "read_file", lambda p: fake.get(str(p)) or real(p))
        monkeypatch.setattr(limits, "CGROUPS", tmp_path / "cgroup")

    clear()
    yield write
    clear()


def clear():
    for function in (limits.own_cgroups, limits.cpu_quota, limits.quarter_of_memory):
        function.cache_clear()


def test_no_limits(system):
    system("0::/\n", {"memory.stat": ""})
    assert limits.total_memory() == 32 * GIB
    assert limits.available_memory() == 16 * GIB
    assert limits.quarter_of_memory() == 8 * GIB
    assert limits.cpu_quota() > 1000


def test_cgroup_of_version_two_and_its_parents(system):
    system(
        "0::/team/job\n",
        {
            "team/memory.max": str(2 * GIB),
            "team/memory.current": str(GIB),
            "team/memory.stat": f"anon 5\ninactive_file {GIB // 2}\n",
            "team/job/memory.max": "max",
            "team/job/cpu.max": "250000 100000",
            "team/cpu.max": "max 100000",
        },
    )
    assert limits.total_memory() == 2 * GIB
    assert limits.available_memory() == 3 * GIB // 2
    assert limits.cpu_quota() == 3


def test_cgroup_of_version_one(system):
    system(
        "5:cpu,cpuacct:/box\n3:memory:/box\n0::/\n",
        {
            "memory/box/memory.limit_in_bytes": str(GIB),
            "memory/box/memory.usage_in_bytes": str(GIB // 4),
            "memory/memory.limit_in_bytes": "9223372036854771712",
            "cpu/box/cpu.cfs_quota_us": "100000",
            "cpu/box/cpu.cfs_period_us": "100000",
            "cpu/cpu.cfs_quota_us": "-1",
            "cpu/cpu.cfs_period_us": "100000",
        },
    )
    assert limits.available_memory() == 3 * GIB // 4
    assert limits.cpu_quota() == 1
    assert limits.cpu_count() == 1


def test_container_that_sees_only_its_own_root(system):
    system("0::/docker/abc\n", {"memory.max": str(GIB), "memory.current": "0"})
    assert limits.total_memory() == GIB


def test_this_machine():
    assert 0 < limits.available_memory() <= limits.total_memory() + (1 << 40)
    assert 0 < limits.resident_memory() < limits.total_memory()
    assert limits.cpu_count() >= 1
