"""The algorithms of this package: a file that defines ALGORITHM is one of them by being there."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from collectives.catalogue.algorithm import Algorithm

FOLDER = Path(__file__).resolve().parent

ROOMS = ("chain", "files", "inter", "intra", "making", "split")
"""Where algorithms are."""


@cache
def ours() -> tuple[Algorithm, ...]:
    """All of them, in order of kind, operation and name."""
    names = sorted(name for room in ROOMS for name in _modules(room))
    found = (getattr(importlib.import_module(name), "ALGORITHM", None) for name in names)
    return tuple(algorithm for algorithm in found if isinstance(algorithm, Algorithm))


def _modules(room: str) -> Iterator[str]:
    found = pkgutil.walk_packages([str(FOLDER / room)], f"collectives.{room}.")
    return (module.name for module in found if not module.ispkg)


@cache
def ours_by_name() -> dict[tuple[str, str, str], Algorithm]:
    """The same by kind, operation and name."""
    return {(each.kind, each.operation, each.name): each for each in ours()}
