"""The catalogue of all algorithms, bundled and from installed packages, and the search in it: CATALOGUE, find, fitting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from collectives.bundled import bundled, bundled_algorithm
from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.catalogue.declaration import KIND_OF_OPERATION
from collectives.loading import installed


class Catalogue(Sequence[Algorithm]):
    """All algorithms: the bundled ones, then those of installed packages.

    The algorithms are imported at the first access, so `from collectives import CATALOGUE` is fast.
    """

    @overload
    def __getitem__(self, index: int) -> Algorithm: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Algorithm]: ...

    def __getitem__(self, index: int | slice) -> Algorithm | Sequence[Algorithm]:
        return (*bundled(), *installed())[index]

    def __iter__(self) -> Iterator[Algorithm]:
        yield from bundled()
        yield from installed()

    def __len__(self) -> int:
        return len(bundled()) + len(installed())


CATALOGUE = Catalogue()


def default_kind(operation: str) -> str:
    """Return the kind of an operation if none is specified."""
    return KIND_OF_OPERATION.get(operation, "intra")


def named(kind: str, operation: str, name: str) -> Algorithm | None:
    """Return the algorithm of that name, or None. Finding a bundled algorithm does not import installed packages."""
    algorithm = bundled_algorithm(kind, operation, name)
    if algorithm is not None:
        return algorithm
    return next((a for a in installed() if (a.kind, a.operation, a.name) == (kind, operation, name)), None)


def find(operation: str, name: str, kind: str | None = None, case: Case | None = None) -> Algorithm:
    """Return the algorithm of that name; with a case, check that it fits.

    Parameters
    ----------
    operation, name
        For example "allgather" and "ring".
    kind
        "intra", "inter" (between two groups), "chain", "comm_creation", "files" or "split". By default the only kind of
        the operation, or "intra": `find("split", "bitonic")` finds a split.
    case
        A case that the algorithm must support; not checked by default.

    Returns
    -------
    Algorithm
        `run` is the function; the claims are methods.

    Raises
    ------
    LookupError
        If there is no such algorithm; the message lists the existing ones.
    UnsupportedCaseError
        If the algorithm does not support the case; the message has the reason and the algorithms that do.

    Examples
    --------
    >>> from collectives import Case, find
    >>> find("allgather", "ring").time(Case(p=4, m=1000), t_s=1, t_w=0)
    3
    """
    kind = kind or default_kind(operation)
    algorithm = named(kind, operation, name)
    if algorithm is None:
        names = ", ".join(a.name for a in CATALOGUE if (a.operation, a.kind) == (operation, kind))
        if names:
            raise LookupError(f"no {kind} algorithm {name!r} for {operation}; available: {names}")
        operations = sorted({a.operation for a in CATALOGUE if a.kind == kind})
        raise LookupError(f"no {kind} algorithms for {operation!r}; available operations: {', '.join(operations)}")
    if case is not None and (reason := algorithm.why_unsupported(case)):
        others = ", ".join(a.name for a in fitting(operation, case, kind)) or "none"
        raise UnsupportedCaseError(f"{operation} {name}: {reason}; algorithms that fit: {others}")
    return algorithm


def fitting(operation: str, case: Case, kind: str | None = None) -> list[Algorithm]:
    """Return the algorithms that support a case, sorted by name; bundled algorithms come first.

    Parameters
    ----------
    operation, case, kind
        As for `find`.

    Returns
    -------
    list of Algorithm
        Possibly empty.

    Examples
    --------
    >>> from collectives import Case, fitting
    >>> [algorithm.name for algorithm in fitting("allgather", Case(p=6)) if "doubling" in algorithm.name]
    []
    """
    kind = kind or default_kind(operation)
    return [a for a in CATALOGUE if (a.operation, a.kind) == (operation, kind) and a.why_unsupported(case) is None]
