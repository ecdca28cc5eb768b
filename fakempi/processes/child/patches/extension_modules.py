"""Compiled modules of a child. Modules that call an MPI library are rejected, since it cannot reach the ranks of the run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader
from typing import Any


def reject_mpi_libraries(shared: Sequence[str]) -> None:
    """Make the import of a compiled module that calls an MPI library fail, unless its package is in `shared`."""
    from fakempi.isolation.packages.mpi_libraries import (
        reject_mpi_library,  # not at the top: `child.process` replaces the package first
    )

    original = ExtensionFileLoader.create_module

    def create_module(self: Any, spec: Any) -> Any:
        package = spec.name.partition(".")[0]
        if package not in shared and package != "numpy" and package not in sys.stdlib_module_names:
            reject_mpi_library(spec.name, self.path)
        return original(self, spec)

    ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]  # every loader of this process
