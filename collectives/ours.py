"""The algorithms of this package: a file that defines ALGORITHM is one of them by being there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from collectives.catalogue.algorithm import Algorithm

FOLDER = Path(__file__).resolve().parent


@cache
def ours() -> tuple[Algorithm, ...]:
    """All of them, in order of kind, operation and name."""
    modules = pkgutil.walk_packages([str(FOLDER)], "collectives.")
    names = sorted(module.name for module in modules if not module.ispkg and module.name.count(".") > 1)
    found = (getattr(importlib.import_module(name), "ALGORITHM", None) for name in names)
    return tuple(algorithm for algorithm in found if isinstance(algorithm, Algorithm))


@cache
def ours_by_name() -> dict[tuple[str, str, str], Algorithm]:
    """The same by kind, operation and name."""
    return {(each.kind, each.operation, each.name): each for each in ours()}
