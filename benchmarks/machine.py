"""The machine that a benchmark runs on: processor, versions, and the load caused by other processes."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import in_smpi

import fakempi

PACKAGES = {"greenlet": "greenlet", "numpy": "numpy", "SimPy": "simpy"}


def processor() -> str:
    """Name of the processor, such as Neoverse-N1. Python's platform module does not know it on every system."""
    if shutil.which("lscpu"):
        listed = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        if named := re.search(r"^Model name: *(\S.*)$", listed, re.MULTILINE):
            return named[1]
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """Cores, processor, system, and the versions of the measured packages that are installed."""
    versions = {"fakempi": fakempi.__version__, "Python": platform.python_version()}
    for name, package in PACKAGES.items():
        with suppress(PackageNotFoundError):
            versions[name] = version(package)
    if in_smpi.installed():
        versions["SimGrid"] = in_smpi.version()
    return {"cores": os.cpu_count() or 1, "processor": processor(), "system": platform.system(), "versions": versions}


def sentence(facts: dict[str, Any]) -> str:
    """The facts of `machine` as text."""
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    return f"{facts['cores']} cores of {facts['processor']}, {facts['system']}; {versions}"


def load_warning(when: str, others: float, cores: int) -> list[str]:
    """A warning if other processes cause a load average of more than a quarter of the cores."""
    words = (
        f"Other processes caused a load average of {others:.1f} on {cores} cores {when}, so times are too long and ratios "
        f"less accurate than on an idle machine."
    )
    return [words] if others > cores / 4 else []
