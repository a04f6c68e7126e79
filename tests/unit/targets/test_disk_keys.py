"""The names of compiled code on disk: another one for whatever may change the code."""

from __future__ import annotations

import os
from pathlib import Path

from fusewright.targets.cpu import disk_keys


def package(root: Path) -> Path:
    """A copy of the repository's layout."""
    folder = root / "fusewright"
    for name in ("plan/fuse.py", "cli/main.py", "_core/_native.so", "plan/__pycache__/fuse.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_every_source_file_of_a_copy_counts(tmp_path: Path) -> None:
    folder = package(tmp_path)
    assert disk_keys._installed(str(folder)) == []
    before = disk_keys._stamps(str(folder))
    assert sorted(os.path.basename(path) for path, *_ in before) == ["_native.so", "fuse.py"]
    (folder / "cli" / "main.py").write_text("nothing that code depends on")
    assert disk_keys._stamps(str(folder)) == before
    (folder / "plan" / "fuse.py").write_text("a change")
    assert disk_keys._stamps(str(folder)) != before


def test_an_installation_is_known_by_its_record(tmp_path: Path) -> None:
    folder = package(tmp_path)
    record = tmp_path / "fusewright-0.1.0.dist-info" / "RECORD"
    (tmp_path / "fusewright_extras-1.dist-info").mkdir()
    record.parent.mkdir()
    assert disk_keys._installed(str(folder)) == []
    record.write_text("plan/fuse.py,sha256=1,12")
    first = disk_keys._installed(str(folder))
    assert [path for path, *_ in first] == [str(record)]
    os.utime(record, ns=(1, 1))
    assert disk_keys._installed(str(folder)) != first


def test_keys_differ_with_the_structure() -> None:
    keys = {disk_keys.disk_key(key) for key in (("a", 1), ("a", 2), ("a", 1, True))}
    assert len(keys) == 3 and all(key.isalnum() and len(key) == 64 for key in keys)
