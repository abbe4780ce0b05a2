"""Compiles the kernel when a wheel is built, or when the sources are installed in place.

The library has no Python in it, so one file serves all versions. Without a compiler the wheel is made without it, and
the kernel in numpy is used: slower, and with the same formulas.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

HERE = Path(__file__).parent
SUFFIX = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi", "-fPIC", "-shared"]


class KernelHook(BuildHookInterface):
    """Adds the compiled kernel to a wheel, whose tag then names the platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a failure is said, and is no error."""
        if self.target_name != "wheel":
            return
        library = HERE.parent / f"kernel.{SUFFIX}"
        command = [os.environ.get("CC", "cc"), *FLAGS, "-o", str(library), str(HERE / "kernel.c"), "-lm"]
        library.unlink(missing_ok=True)
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            self.app.display_warning(f"occamkit is built without its compiled kernel: {said.strip()}")
            return
        build_data["artifacts"].append(f"/occamkit/kernel/{library.name}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{next(platform_tags())}"
