"""What a rank has of its own while it runs a script: modules, arguments, streams, random numbers, what to do at exit."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

SEATS: tuple[tuple[Any, str], ...] = (
    (sys, "argv"),
    (sys, "path"),
    (sys, "stdin"),
    (sys, "stdout"),
    (sys, "stderr"),
    (sys, "excepthook"),
    (logging, "root"),
    (logging.Logger, "root"),
    (logging.Logger, "manager"),
)
"""Attributes of the whole interpreter of which every rank has its own value. Whatever a rank sets there, it finds again."""


class Place:
    """A rank's own things, put away while others run.

    Attributes
    ----------
    values : of the seats, in their order; valid while others run
    own : the names of its own modules, loaded or being loaded
    modules : those modules; valid while others run
    exits : functions to call at its end, in order of registration
    lines : for each stream, what was written since the last end of line
    generators : its generators of random numbers, by kind
    """

    __slots__ = ("exits", "generators", "label", "lines", "modules", "number", "own", "values")

    def __init__(self, number: int, label: str, values: list[Any]) -> None:
        self.number, self.label, self.values = number, label, values
        self.own: set[str] = set()
        self.modules: dict[str, ModuleType] = {}
        self.exits: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self.lines: dict[int, list[str]] = {}
        self.generators: dict[str, Any] = {}

    def put_away(self) -> None:
        """Take all that is its own out of the interpreter."""
        self.values = [getattr(owner, name) for owner, name in SEATS]
        modules = sys.modules
        self.modules = {name: modules.pop(name) for name in self.own if name in modules}

    def lay_out(self) -> None:
        """Put all that is its own into the interpreter."""
        for (owner, name), value in zip(SEATS, self.values, strict=True):
            setattr(owner, name, value)
        sys.modules.update(self.modules)

    def owns(self, namespace: dict[str, Any]) -> bool:
        """Whether a module of its own has these globals."""
        return namespace.get("__name__") in self.own


def fresh_values(argv: list[str], path: list[str], streams: tuple[Any, Any, Any]) -> list[Any]:
    """The seats of a process that has just started."""
    root = logging.RootLogger(logging.WARNING)
    manager = logging.Manager(root)
    return [list(argv), list(path), *streams, sys.__excepthook__, root, root, manager]
