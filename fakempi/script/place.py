"""What a rank has of its own while it runs a script: modules, arguments, streams, random numbers, what to do at exit."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from operator import itemgetter
from types import ModuleType
from typing import Any

SEATS = ("argv", "path", "stdin", "stdout", "stderr", "excepthook")
"""Attributes of `sys` of which every rank has its own value, and `logging.root`: what a rank sets there, it finds again."""

_sys, _logging, _modules = vars(sys), vars(logging), sys.modules  # dictionaries: it is done at every switch
_seats = itemgetter(*SEATS)


class Place:
    """A rank's own things, put away while others run.

    Attributes
    ----------
    values, root : of the seats, and the root of its loggers; valid while others run
    own : the names of its own modules, loaded or being loaded
    modules : those modules; valid while others run
    exits : functions to call at its end, in order of registration
    lines : for each stream, what was written since the last end of line
    generators : its generators of random numbers, by kind
    threads : those that it has started
    """

    __slots__ = ("exits", "generators", "label", "lines", "modules", "number", "own", "root", "threads", "values")

    def __init__(self, number: int, label: str, values: tuple[Any, ...]) -> None:
        self.number, self.label, self.values = number, label, values
        self.root: Any = None
        self.own: set[str] = set()
        self.modules: dict[str, ModuleType] = {}
        self.exits: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self.lines: dict[int, list[str]] = {}
        self.generators: dict[str, Any] = {}
        self.threads: list[threading.Thread] = []

    def put_away(self) -> None:
        """Take all that is its own out of the interpreter."""
        self.values = _seats(_sys)
        self.root = _logging["root"]
        take, kept = _modules.pop, self.modules
        for name in self.own:
            module = take(name, None)
            if module is not None:
                kept[name] = module
            else:
                kept.pop(name, None)

    def lay_out(self) -> None:
        """Put all that is its own into the interpreter."""
        here = _sys
        (
            here["argv"], here["path"], here["stdin"], here["stdout"], here["stderr"], here["excepthook"],
        ) = self.values  # fmt: skip
        _logging["root"] = self.root
        _modules.update(self.modules)

    def owns(self, namespace: dict[str, Any]) -> bool:
        """Whether a module of its own has these globals."""
        return namespace.get("__name__") in self.own
