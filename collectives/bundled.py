"""The algorithms of this package: every module below PACKAGES that defines ALGORITHM."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from collectives.catalogue.algorithm import Algorithm

DIRECTORY = Path(__file__).resolve().parent

PACKAGES = ("chain", "comm_creation", "files", "inter", "intra", "split")
"""The packages that contain algorithms."""


@cache
def bundled() -> tuple[Algorithm, ...]:
    """Return the algorithms of this package, sorted by kind, operation and name."""
    names = sorted(name for package in PACKAGES for name in _modules(package))
    algorithms = (getattr(importlib.import_module(name), "ALGORITHM", None) for name in names)
    return tuple(algorithm for algorithm in algorithms if isinstance(algorithm, Algorithm))


def _modules(package: str) -> Iterator[str]:
    modules = pkgutil.walk_packages([str(DIRECTORY / package)], f"collectives.{package}.")
    return (module.name for module in modules if not module.ispkg)


@cache
def bundled_algorithm(kind: str, operation: str, name: str) -> Algorithm | None:
    """Return the algorithm of this package with this name, or None; if a module has its name, only that is imported."""
    if (DIRECTORY / kind / operation / f"{name}.py").is_file():
        found = getattr(importlib.import_module(f"collectives.{kind}.{operation}.{name}"), "ALGORITHM", None)
        if isinstance(found, Algorithm) and (found.kind, found.operation, found.name) == (kind, operation, name):
            return found
    return _by_name().get((kind, operation, name))


@cache
def _by_name() -> dict[tuple[str, str, str], Algorithm]:
    return {(algorithm.kind, algorithm.operation, algorithm.name): algorithm for algorithm in bundled()}
