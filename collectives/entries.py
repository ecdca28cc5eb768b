"""Every algorithm there is: a file that defines ALGORITHM is in the catalogue by being there."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit


def _collect() -> tuple[Algorithm, ...]:
    modules = pkgutil.walk_packages([str(Path(__file__).parent)], "collectives.")
    names = sorted(module.name for module in modules if not module.ispkg and module.name.count(".") > 1)
    found = (getattr(importlib.import_module(name), "ALGORITHM", None) for name in names)
    return tuple(algorithm for algorithm in found if isinstance(algorithm, Algorithm))


CATALOGUE = _collect()


def home(operation: str) -> str:
    """The kind that is meant if none is said."""
    return operation if operation == "split" else "intra"


def find(operation: str, name: str, kind: str | None = None, case: Case | None = None) -> Algorithm:
    """Look up one algorithm; given a case, refuse it if it does not fit, and say which ones do.

    Kinds are "intra", "inter" (between two groups), "chain" and "split", which is an operation and a kind of its own:
    `find("split", "bitonic")`.
    """
    kind = kind or home(operation)
    candidates = [a for a in CATALOGUE if (a.operation, a.kind) == (operation, kind)]
    if not candidates:
        operations = sorted({a.operation for a in CATALOGUE if a.kind == kind})
        raise LookupError(f"no {kind} algorithms for {operation!r}; there are some for {', '.join(operations)}")
    for algorithm in candidates:
        if algorithm.name == name:
            if case is not None and (reason := algorithm.fits(case)):
                others = ", ".join(a.name for a in fitting(operation, case, kind)) or "none"
                raise DoesNotFit(f"{operation} {name}: {reason}; these fit: {others}")
            return algorithm
    names = ", ".join(a.name for a in candidates)
    raise LookupError(f"no {kind} algorithm {name!r} for {operation}; there are {names}")


def fitting(operation: str, case: Case, kind: str | None = None) -> list[Algorithm]:
    """The algorithms that serve the case, in order of name."""
    kind = kind or home(operation)
    return [a for a in CATALOGUE if (a.operation, a.kind) == (operation, kind) and a.fits(case) is None]
