"""Compiled modules of a child. Modules that call an MPI library are rejected, since it cannot reach the ranks of the run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader
from mmap import ACCESS_READ, mmap
from typing import Any


def reject_mpi_libraries(shared: Sequence[str]) -> None:
    """Make the import of a compiled module that calls an MPI library fail, unless its package is in `shared`."""
    original = ExtensionFileLoader.create_module

    def create_module(self: Any, spec: Any) -> Any:
        package = spec.name.partition(".")[0]
        if package not in shared and package != "numpy" and package not in sys.stdlib_module_names and _calls_mpi(self.path):
            raise ImportError(
                f"{spec.name} is compiled for an MPI library, which cannot communicate with the ranks of this run. "
                f"If the module works without MPI, load it with the option --share {package}",
                name=spec.name, path=self.path,
            )  # fmt: skip
        return original(self, spec)

    ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]  # every loader of this process


def _calls_mpi(path: str) -> bool:
    try:
        with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return content.find(b"MPI_Comm_rank") >= 0
    except (OSError, ValueError):
        return False
