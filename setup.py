"""What `pyproject.toml` cannot say: operations are compiled ahead, beside the native core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from setuptools import setup
from setuptools.command.build_ext import build_ext


class BuildAhead(build_ext):
    """The native core, then what it runs new work with (`fusewright.operations`)."""

    def run(self) -> None:
        super().run()
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


setup(cmdclass={"build_ext": BuildAhead})
