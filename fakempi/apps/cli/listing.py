"""`fakempi list`: the catalogue of algorithms with their claims."""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence

from rich.text import Text

from collectives import CATALOGUE, Algorithm
from collectives.entries import default_kind
from collectives.loading import is_path, load, origin
from fakempi.apps.cli.console import console
from fakempi.core.options import unknown_name
from fakempi.errors import LAYOUT_CHARACTERS, printable
from fakempi.view.catalogue import Entry, cards, overview

LEGEND = (
    "p ranks, m bytes, n segments; a message of k bytes takes t_s + k t_w, reducing k bytes takes k c; "
    "one send and one receive at a time; \"computed from the schedule\": there is no formula; the end of each transfer is "
    "computed, one round after the other. fakempi list OPERATION shows all details."
)


def typed_name(algorithm: Algorithm) -> str:
    """Return an algorithm's operation as users type it: allgather, inter:allgather, split."""
    is_default = algorithm.kind == default_kind(algorithm.operation)
    return algorithm.operation if is_default else f"{algorithm.kind}:{algorithm.operation}"


def catalogue() -> Sequence[Algorithm]:
    """Return all algorithms; print a warning for each package whose algorithm cannot be loaded."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        algorithms = tuple(CATALOGUE)
    for warning in caught:
        sys.stderr.write(f"fakempi: {printable(str(warning.message), keep=LAYOUT_CHARACTERS)}\n")
    return algorithms


def operation_of(text: str) -> tuple[str, str]:
    """Return the kind and the operation of a typed name; raises an error with the closest names if it is unknown."""
    keys = {typed_name(algorithm): (algorithm.kind, algorithm.operation) for algorithm in catalogue()}
    if text not in keys:
        raise unknown_name("operation", text, sorted(keys, key=lambda name: (":" in name, name)), "fakempi list")
    return keys[text]


def list_algorithms(options: Namespace) -> int:
    """Print all algorithms, those of one operation, or the one that a file defines; returns the exit code."""
    out, operation = console(), options.operation
    if operation is None:
        ordered = sorted(catalogue(), key=lambda entry: (entry.kind != "intra", entry.operation, entry.name))
        out.print(overview([_entry(algorithm) for algorithm in ordered], width=out.width))
        out.print()
        out.print(Text(LEGEND, "dim"))
        return 0
    if is_path(operation):
        algorithms = [load(operation)]
    else:
        key = operation_of(operation)
        algorithms = [algorithm for algorithm in catalogue() if (algorithm.kind, algorithm.operation) == key]
    out.print(cards([_entry(algorithm, ours="fakempi") for algorithm in algorithms]))
    return 0


def _entry(algorithm: Algorithm, ours: str = "") -> Entry:
    defaults = algorithm.parameters.items()  # algorithms and functions by their names
    parameters = ", ".join(f"{name}={getattr(value, 'name', getattr(value, '__name__', value))}" for name, value in defaults)
    return Entry(typed_name(algorithm), algorithm.name, algorithm.card, parameters, origin(algorithm) or ours)
