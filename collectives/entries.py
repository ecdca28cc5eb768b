"""The catalogue: our algorithms and those of installed packages, and how one is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, overload

from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.loading import installed
from collectives.ours import ours, ours_by_name


class Catalogue(Sequence[Algorithm]):
    """Every algorithm there is: ours, then those of packages.

    Nothing is imported before somebody looks, so that `from collectives import CATALOGUE` costs nothing.
    """

    @overload
    def __getitem__(self, index: int) -> Algorithm: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Algorithm]: ...

    def __getitem__(self, index: int | slice) -> Algorithm | Sequence[Algorithm]:
        return (*ours(), *installed())[index]

    def __iter__(self) -> Iterator[Algorithm]:
        yield from ours()
        yield from installed()

    def __len__(self) -> int:
        return len(ours()) + len(installed())


CATALOGUE = Catalogue()


HOMES: Final = {
    "split": "split",
    **dict.fromkeys(("create_group", "create_intercomm", "merge"), "making"),
    **dict.fromkeys(("read_all", "write_all"), "files"),
}
"""The kinds of operations that are of one kind alone and not "intra"."""


def home(operation: str) -> str:
    """The kind that is meant if none is said."""
    return HOMES.get(operation, "intra")


def named(kind: str, operation: str, name: str) -> Algorithm | None:
    """The algorithm of that name. Packages are not looked at for one of ours."""
    own = ours_by_name().get((kind, operation, name))
    if own is not None:
        return own
    return next((a for a in installed() if (a.kind, a.operation, a.name) == (kind, operation, name)), None)


def find(operation: str, name: str, kind: str | None = None, case: Case | None = None) -> Algorithm:
    """Look up one algorithm; given a case, refuse it if it does not fit, and say which ones do.

    Parameters
    ----------
    operation, name
        Such as "allgather" and "ring".
    kind
        "intra", "inter" (between two groups), "chain", "making" (of communicators), "files" or "split", which is an
        operation and a kind of its own: `find("split", "bitonic")`.
    case
        What it is to serve; any unless given.

    Returns
    -------
    Algorithm
        Its `run` is the function, its claims are methods.

    Raises
    ------
    LookupError
        There is none of that name; the text says which ones there are.
    DoesNotFit
        It cannot serve the case; the text says why, and which ones can.

    Examples
    --------
    >>> from collectives import Case, find
    >>> find("allgather", "ring").time(Case(p=4, m=1000), t_s=1, t_w=0)
    3
    """
    kind = kind or home(operation)
    algorithm = named(kind, operation, name)
    if algorithm is None:
        names = ", ".join(a.name for a in CATALOGUE if (a.operation, a.kind) == (operation, kind))
        if names:
            raise LookupError(f"no {kind} algorithm {name!r} for {operation}; there are {names}")
        operations = sorted({a.operation for a in CATALOGUE if a.kind == kind})
        raise LookupError(f"no {kind} algorithms for {operation!r}; there are some for {', '.join(operations)}")
    if case is not None and (reason := algorithm.fits(case)):
        others = ", ".join(a.name for a in fitting(operation, case, kind)) or "none"
        raise DoesNotFit(f"{operation} {name}: {reason}; these fit: {others}")
    return algorithm


def fitting(operation: str, case: Case, kind: str | None = None) -> list[Algorithm]:
    """The algorithms that serve the case, in order of name; those of packages after ours.

    Parameters
    ----------
    operation, case, kind
        As `find` takes them.

    Returns
    -------
    list of Algorithm
        Perhaps none.

    Examples
    --------
    >>> from collectives import Case, fitting
    >>> [algorithm.name for algorithm in fitting("allgather", Case(p=6)) if "doubling" in algorithm.name]
    []
    """
    kind = kind or home(operation)
    return [a for a in CATALOGUE if (a.operation, a.kind) == (operation, kind) and a.fits(case) is None]
