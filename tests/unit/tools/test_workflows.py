"""The workflow files: valid, every job bounded, and about the Pythons and commands that exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [
    found[1]
    for line in PROJECT["project"]["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
]


def workflow(path: Path) -> dict[Any, Any]:
    read: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in workflow(path)["jobs"].values() for step in job["steps"]]


def test_there_are_two() -> None:
    assert [path.stem for path in WORKFLOWS] == ["tests", "wheels"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_shape(path: Path) -> None:
    read = workflow(path)
    assert read["name"] == path.stem
    assert read[True]  # YAML reads the key `on` as the truth value
    assert read["permissions"] == {"contents": "read"}
    for job in read["jobs"].values():
        assert job["runs-on"]
        assert 0 < job["timeout-minutes"] <= 60
        assert set(job.get("needs", ())) <= set(read["jobs"])
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])
    for step in steps(path):
        if "uses" in step:  # a version is named: what runs is what was chosen
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_is_run_exists(path: Path) -> None:
    for step in steps(path):
        for word in shlex.split(step.get("run", "")):
            if word.startswith((".ci/", "tests/", "tools/")):
                assert (ROOT / word).exists(), word


def test_every_python_that_is_promised() -> None:
    (tests,) = (workflow(path) for path in WORKFLOWS if path.stem == "tests")
    assert tests["jobs"]["most"]["strategy"]["matrix"]["python"] == PYTHONS
    wheels = PROJECT["tool"]["cibuildwheel"]
    assert wheels["build"].split() == [f"cp{each.replace('.', '')}-*" for each in PYTHONS]
    project = re.findall(r"\{project\}/(\S+)", wheels["test-command"])
    assert project and all((ROOT / each).exists() for each in project)
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
