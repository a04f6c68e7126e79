"""What `pyproject.toml` cannot say: operations are compiled ahead, beside the native core; README's
links are made for a page that stands outside of the repository.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tempfile
import tomllib

from setuptools import setup
from setuptools.command.build_ext import build_ext


class BuildAhead(build_ext):
    """The native core, then what it runs new work with (`fusewright.operations`)."""

    def run(self) -> None:
        super().run()
        if not self.inplace:
            self._note_generator()
        if not all(os.path.exists(path) for path in self.get_outputs()):
            return  # no compiler: Python does the core's work, and compiles what it needs
        root = "src" if self.inplace else self.build_lib
        path = os.path.join(root, "fusewright", "targets", "cpu", "ahead.bin")
        with tempfile.TemporaryDirectory() as cache:
            settings = {
                "PYTHONPATH": os.pathsep.join((os.path.abspath(root), *sys.path)),
                "FUSEWRIGHT_CACHE_DIR": cache,
                "PYTHONDONTWRITEBYTECODE": "1",  # the folder becomes the package
            }
            command = [sys.executable, "-m", "fusewright.operations", os.path.abspath(path)]
            done = subprocess.run(command, env=os.environ | settings, check=False)
        if done.returncode:
            self.warn("operations are not compiled ahead, but when a program meets them")

    def _note_generator(self) -> None:
        """The versions of what generates code go into the package, since it takes long to find."""
        package = os.path.join("src", "fusewright")
        name = os.path.join("targets", "cpu", "generator")
        generator = runpy.run_path(os.path.join(package, f"{name}.py"))
        path = os.path.join(self.build_lib, "fusewright", f"{name}.digest")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(generator["versions"](package))


LINK = re.compile(r"\[([^][]*)\]\((?!https?:|#)([^)\s]+)\)")
"""A link to a file of the repository: its text, and where it leads."""


def description(readme: str, project: dict[str, object]) -> str:
    """README for a package index, where links to files of the repository would lead nowhere: they
    lead into the `Repository` that `[project.urls]` names, and are plain text where it names none.
    """
    urls = project.get("urls")
    home = urls.get("Repository") if isinstance(urls, dict) else None
    link = rf"[\1]({home.rstrip('/')}/blob/HEAD/\2)" if isinstance(home, str) else r"\1"
    return LINK.sub(link, readme)


def _description() -> str:
    with open("pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    with open("README.md", encoding="utf-8") as file:
        return description(file.read(), project)


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": BuildAhead},
        long_description=_description(),
        long_description_content_type="text/markdown",
    )
