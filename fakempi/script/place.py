"""What a rank has of its own while it runs a script: modules, arguments, streams, random numbers, what to do at exit.

Exchanging these for the next rank's is done at every switch, and takes a twentieth of a message in a ring. So nothing is
looked at that can be known otherwise: what a rank sets in `sys` is noted when it does so (`Noticing`), what most ranks leave
as it was is not put back, and modules are compared all at once.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from operator import itemgetter
from types import ModuleType
from typing import Any, ClassVar

SEATS = ("argv", "path", "stdin", "stdout", "stderr", "excepthook")
"""Attributes of `sys` of which every rank has its own value: what a rank sets there, it finds again."""

_sys, _logging, _modules = vars(sys), vars(logging), sys.modules  # dictionaries: it is done at every switch


class Place:
    """A rank's own things.

    Attributes
    ----------
    argv, path, stdin, stdout, stderr, excepthook : what it has in `sys`
    usual : whether the last three of these are what all ranks start with
    root : of its loggers
    own : the names of its own modules, loaded or being loaded
    modules : those modules; valid while others run
    exits : functions to call at its end, in order of registration
    lines : for each stream, what was written since the last end of line
    generators : its generators of random numbers, by kind
    threads : those that it has started
    """

    __slots__ = (
        *SEATS, "counted", "exits", "generators", "getter", "held", "label", "lines", "main", "modules", "names", "number",
        "own", "root", "threads", "usual",
    )  # fmt: skip

    argv: Any
    path: Any
    stdin: Any
    stdout: Any
    stderr: Any
    excepthook: Any

    def __init__(self, number: int, label: str, values: tuple[Any, ...]) -> None:
        self.number, self.label = number, label
        for name, value in zip(SEATS, values or map(_sys.get, SEATS), strict=True):
            setattr(self, name, value)
        self.usual = bool(values)
        self.root: Any = _logging["root"]
        self.own: set[str] = set()
        self.modules: dict[str, ModuleType] = {}
        self.exits: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self.lines: dict[int, list[str]] = {}
        self.generators: dict[str, Any] = {}
        self.threads: list[threading.Thread] = []
        self.main: Any = None  # its `__main__`, if that is all that it has loaded
        self.names: tuple[str, ...] | None = None  # of its modules when they were last put away,
        self.counted = -1  # how many of its own it had then, or -1 if some were not loaded
        self.getter: Any = None  # what takes them out of a dictionary,
        self.held: Any = None  # and what it found there

    def owns(self, namespace: dict[str, Any]) -> bool:
        """Whether a module of its own has these globals."""
        return namespace.get("__name__") in self.own

    def count(self) -> None:
        """Look which of its own modules are loaded, while they are in the interpreter."""
        self.modules = {name: _modules[name] for name in self.own if name in _modules}
        self.names = _known.setdefault(frozenset(self.modules), tuple(self.modules))
        # The first once more, since of a single name it would not make a tuple.
        self.getter = itemgetter(*self.names, self.names[0]) if self.names else lambda modules: ()
        self.held = self.getter(_modules)
        self.counted = len(self.own) if len(self.own) == len(self.names) else -1
        self.main = self.modules["__main__"] if self.names == ("__main__",) else None


_known: dict[frozenset[str], tuple[str, ...]] = {}
"""One tuple of names for all ranks that have loaded the same modules."""


def exchange(at: Place, to: Place) -> None:
    """Take one rank's things out of the interpreter and put the other's into it."""
    _sys["argv"], _sys["path"], _sys["stdin"] = to.argv, to.path, to.stdin
    if not (at.usual and to.usual):
        _sys["stdout"], _sys["stderr"], _sys["excepthook"] = to.stdout, to.stderr, to.excepthook
    _logging["root"] = to.root
    main = to.main
    if main is not None and len(at.own) == 1 and _modules.get("__main__", at) is at.main:
        _modules["__main__"] = main  # what `_exchange_modules` does for most scripts, in a tenth of the time
    else:
        _exchange_modules(at, to)


def _exchange_modules(at: Place, to: Place) -> None:
    try:
        if at.counted != len(at.own) or at.getter(_modules) != at.held:
            at.count()
    except KeyError:  # one is gone
        at.count()
    if to.names is not at.names:
        for name in at.modules:
            if name not in to.modules:
                del _modules[name]
    _modules.update(to.modules)


class Noticing(ModuleType):
    """The class of the module `sys` while scripts run: what is set there is also a seat of whoever has the baton."""

    seated: ClassVar[Callable[[], Place]]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in SEATS:
            place = Noticing.seated()
            setattr(place, name, value)
            place.usual = False

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # for those who pickle modules, and know them by their exact class
