"""`fakempi list`: the catalogue, with what each algorithm claims."""

from __future__ import annotations

from rich.text import Text

from collectives import CATALOGUE, Algorithm
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
    own = algorithm.kind in ("intra", algorithm.operation)
    return algorithm.operation if own else f"{algorithm.kind}:{algorithm.operation}"


def operation_of(text: str) -> tuple[str, str]:
    """Kind and operation; complains if there is none of that name, and says what there is."""
    known = list(dict.fromkeys(typed_name(algorithm) for algorithm in CATALOGUE))
    if text not in known:
        raise unknown("operation", text, sorted(known, key=lambda name: (":" in name, name)))
    return next((each.kind, each.operation) for each in CATALOGUE if typed_name(each) == text)


def list_algorithms(operation: str | None) -> int:
    """Print all, those of one operation, or the one of a file."""
    out = console()
    if operation is None:
        ordered = sorted(CATALOGUE, key=lambda each: (each.kind != "intra", each.operation, each.name))
        out.print(overview([_entry(algorithm) for algorithm in ordered], width=out.width))
        out.print()
        out.print(Text(LEGEND, "dim"))
        return 0
    if is_path(operation):
        out.print(cards([_entry(load(operation))]))
        return 0
    key = operation_of(operation)
    out.print(cards([_entry(algorithm) for algorithm in CATALOGUE if (algorithm.kind, algorithm.operation) == key]))
    return 0


def _entry(algorithm: Algorithm) -> Entry:
    parameters = ", ".join(f"{name}={_shown(value)}" for name, value in algorithm.parameters.items())
    return Entry(typed_name(algorithm), algorithm.name, algorithm.card, parameters, origin(algorithm) or "fakempi")


def _shown(default: object) -> object:
    """An algorithm or a function by its name, everything else as it is."""
    return getattr(default, "name", getattr(default, "__name__", default))
