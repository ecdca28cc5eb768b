"""All recorded calls: `maker_of` returns how a method of a class is wrapped."""

from __future__ import annotations

from collections.abc import Mapping

from fakempi.extensions.recorder import collective, completion, messages, others
from fakempi.extensions.recorder.wrapper import Maker

COMM, REQUEST, MESSAGE, WINDOW, FILE = "Comm", "Request", "Message", "Win", "File"

CALLS: Mapping[str, Mapping[str, Maker]] = {
    COMM: {**messages.OF_COMM, **collective.OF_COMM, **completion.PROBES, **others.OF_COMM},
    REQUEST: completion.OF_REQUEST,
    MESSAGE: {**messages.OF_MESSAGE, **completion.PROBES_OF_MESSAGE},
}
"""Class -> method -> maker of the wrapper. Subclasses have the same methods, and further ones."""


def maker_of(kind: str, name: str) -> Maker | None:
    """Return the maker of the wrapper of a method; None if the method is not recorded. `kind` is one of the words above."""
    if kind in (WINDOW, FILE):
        return others.of_window_or_file(kind, name)
    return CALLS[kind].get(name)
