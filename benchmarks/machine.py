"""On what a benchmark was run: processor, versions, and whether the machine did other things meanwhile."""

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
    """Its name, such as Neoverse-N1, which Python has not everywhere."""
    if shutil.which("lscpu"):
        told = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
        if named := re.search(r"^Model name: *(\S.*)$", told, re.MULTILINE):
            return named[1]
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """Facts: cores, processor, system, and versions of all that is measured and is there."""
    versions = {"fakempi": fakempi.__version__, "Python": platform.python_version()}
    for name, package in PACKAGES.items():
        with suppress(PackageNotFoundError):
            versions[name] = version(package)
    if in_smpi.installed():
        versions["SimGrid"] = in_smpi.version()
    return {"cores": os.cpu_count() or 1, "processor": processor(), "system": platform.system(), "versions": versions}


def sentence(facts: dict[str, Any]) -> str:
    """The same in words."""
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    return f"{facts['cores']} cores of {facts['processor']}, {facts['system']}; {versions}"


def busy(when: str, others: float, cores: int) -> list[str]:
    """A warning if others made a load of more than a quarter of the cores."""
    words = (
        f"The machine was busy {when}: others made a load of {others:.1f} on {cores} cores. Times are too long then, and "
        f"ratios less sure: run it again when nothing else runs."
    )
    return [words] if others > cores / 4 else []
