"""`fakempi list`: the catalogue, with what each algorithm claims."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from rich.text import Text

from collectives import CATALOGUE, Algorithm
from collectives.entries import home
from collectives.loading import is_path, load, origin
from fakempi.cli.console import console
from fakempi.options import unknown
from fakempi.view.catalogue import Entry, cards, overview

LEGEND = (
    "p ranks, m bytes, n segments; a message of k bytes takes t_s + k t_w, combining k bytes k c; "
    "one send and one receive at a time. fakempi list OPERATION shows the whole cards."
)


def typed_name(algorithm: Algorithm) -> str:
    """An operation as one types it: allgather, inter:allgather, split."""
    own = algorithm.kind == home(algorithm.operation)
    return algorithm.operation if own else f"{algorithm.kind}:{algorithm.operation}"


def catalogue() -> Sequence[Algorithm]:
    """All algorithms; packages that offer one in vain get a line each."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RuntimeWarning)
        found = tuple(CATALOGUE)
    for each in told:
        sys.stderr.write(f"fakempi: {each.message}\n")
    return found


def operation_of(text: str) -> tuple[str, str]:
    """Kind and operation; complains if there is none of that name, and says what there is."""
    keys = {typed_name(algorithm): (algorithm.kind, algorithm.operation) for algorithm in catalogue()}
    if text not in keys:
        raise unknown("operation", text, sorted(keys, key=lambda name: (":" in name, name)))
    return keys[text]


def list_algorithms(operation: str | None) -> int:
    """Print all, those of one operation, or the one of a file."""
    out = console()
    if operation is None:
        ordered = sorted(catalogue(), key=lambda each: (each.kind != "intra", each.operation, each.name))
        out.print(overview([_entry(algorithm) for algorithm in ordered], width=out.width))
        out.print()
        out.print(Text(LEGEND, "dim"))
        return 0
    if is_path(operation):
        found = [load(operation)]
    else:
        key = operation_of(operation)
        found = [algorithm for algorithm in catalogue() if (algorithm.kind, algorithm.operation) == key]
    out.print(cards([_entry(algorithm, ours="fakempi") for algorithm in found]))
    return 0


def _entry(algorithm: Algorithm, ours: str = "") -> Entry:
    parameters = ", ".join(f"{name}={_shown(value)}" for name, value in algorithm.parameters.items())
    return Entry(typed_name(algorithm), algorithm.name, algorithm.card, parameters, origin(algorithm) or ours)


def _shown(default: object) -> object:
    """An algorithm or a function by its name, everything else as it is."""
    return getattr(default, "name", getattr(default, "__name__", default))
