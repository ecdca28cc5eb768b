"""What a rank has of its own while it runs a script: modules, arguments, streams, random numbers, what to do at exit.

Exchanging these for the next rank's is done at every switch, and takes about a tenth of a message in a ring. So nothing is
done that is not needed by most: `sys.argv` and `sys.path` are looked up when somebody asks for them (`Sys`), what a rank
sets in `sys` is noted when it does so, and of most scripts nothing is exchanged but `__main__` and the root of loggers.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from importlib import import_module
from operator import itemgetter
from types import ModuleType
from typing import Any, ClassVar

SEATS = ("argv", "path", "stdin", "stdout", "stderr", "excepthook")
"""Attributes of `sys` of which every rank has its own value: what a rank sets there, it finds again."""

LOOKED_UP, LAID_OUT = SEATS[:2], SEATS[2:]
"""Those that are found when they are asked for, and those that have to be there, since C looks for them."""

_sys, _logging, _modules = vars(sys), vars(logging), sys.modules  # dictionaries: it is done at every switch


class Place:
    """A rank's own things.

    Attributes
    ----------
    argv, path, stdin, stdout, stderr, excepthook : what it has in `sys`
    usual : whether the last four of these are what most ranks start with
    main : its `__main__`, if that is all that has to be exchanged, with `root`, for that of another such rank
    root : of its loggers
    own : the names of its own modules, loaded or being loaded
    modules : those modules; valid while others run
    exits : functions to call at its end, in order of registration
    lines : for each stream, what was written since the last end of line
    generators : its generators of random numbers, by kind
    codes : where its exit code is entered, by its number
    """

    __slots__ = (
        *SEATS, "codes", "counted", "exits", "generators", "getter", "held", "label", "lines", "main", "modules", "names",
        "number", "own", "root", "usual",
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
        self.own: set[str] = _Own(self)
        self.modules: dict[str, ModuleType] = {}
        self.exits: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = []
        self.lines: dict[int, list[str]] = {}
        self.generators: dict[str, Any] = {}
        self.codes: dict[int, int] = {}
        self.main: Any = None
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
        self.main = self.modules["__main__"] if self.usual and self.names == ("__main__",) else None


class _Own(set[str]):
    """The names of a rank's own modules: with one more, there is more to exchange."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place

    def add(self, name: str) -> None:
        """One is about to be loaded."""
        self.place.main = None
        super().add(name)


_known: dict[frozenset[str], tuple[str, ...]] = {}
"""One tuple of names for all ranks that have loaded the same modules."""


def exchange(at: Place, to: Place) -> None:
    """Take one rank's things out of the interpreter and put the other's into it."""
    if not (at.usual and to.usual):
        for name in LAID_OUT:
            _sys[name] = getattr(to, name)
    _logging["root"] = to.root
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


def _looked_up(name: str) -> property:
    """An attribute of `sys` that is the running rank's."""

    def get(self: Sys) -> Any:
        return getattr(Sys.seated(), name)

    def set(self: Sys, value: Any) -> None:
        setattr(Sys.seated(), name, value)

    def delete(self: Sys) -> None:
        delattr(Sys.seated(), name)

    return property(get, set, delete)


class _ClassOfModules(type):
    """What `type(sys)` stands for where others than we say it: importlib calls it for every module that it loads."""

    def __call__(cls, *args: Any, **named: Any) -> ModuleType:
        return ModuleType(*args, **named)  # one of ours would have its `path` in `sys`

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, ModuleType)


class Sys(ModuleType, metaclass=_ClassOfModules):
    """The class of the module `sys` while scripts run: what is set there is set for whoever has the baton."""

    seated: ClassVar[Callable[[], Place]]
    argv, path = _looked_up("argv"), _looked_up("path")

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in LAID_OUT:
            place = Sys.seated()
            setattr(place, name, value)
            place.usual, place.main = False, None

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # for those who pickle modules, and know them by their exact class


def share_sys(seated: Callable[[], Place]) -> None:
    """Let `sys` have what belongs to whoever is seated."""
    Sys.seated = staticmethod(seated)
    sys.__class__ = Sys
    for name in LOOKED_UP:
        _sys.pop(name, None)  # or whoever looks into the dictionary would find nobody's


def unshare_sys(outside: Place) -> None:
    """Let `sys` be as it was, as far as that was done; `outside` has what was there."""
    sys.__class__ = ModuleType
    for name in LOOKED_UP:
        if name not in _sys and hasattr(outside, name):
            _sys[name] = getattr(outside, name)
