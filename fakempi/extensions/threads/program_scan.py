"""Determine whether a program can use threads, locks, event loops or greenlets, by a search of its modules before it runs.

In pure Python, no hook is called when a rank acquires a lock: there is no audit event for it, and an audit hook would slow
down every event of the process by 0.4 microseconds permanently. But a program that uses a lock has a name for the module
that created it. The namespaces of the program are therefore searched: that of the function that ranks call, those of the
modules that define its functions and classes, and so on. Python's own modules and installed packages are not searched,
except packages that name mpi4py or fakempi.

A module counts if a value of its namespace is one of the modules in `THREADS`, or was made or defined there; if a class
derives from such a class or from `logging.Handler`; if a `functools.cached_property` has a lock (until Python 3.11); or if
the code of a function has such a name, which includes imports in functions. A false positive only makes the run slower.
"""

from __future__ import annotations

import sys
from _thread import _local
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ref

from fakempi.mpi.base.call_site import cached_by_code

THREADS = frozenset({"threading", "_thread", "queue", "_queue", "concurrent", "multiprocessing", "asyncio", "joblib"})
"""Top-level names of modules by which a program uses threads, locks or event loops."""

GREENLETS = frozenset({"greenlet", "gevent", "eventlet"})
"""Top-level names of packages by which a program uses greenlets."""

OURS = ("fakempi", "collectives", "mpi4py")


class ProgramFacts:
    """The result of a search: names of `THREADS` and `GREENLETS`, and `threading.local` objects."""

    __slots__ = ("locals", "names", "reaches")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.locals: list[ref[Any]] = []
        self.reaches: set[str] = set()  # modules that values come from

    def add(self, value: Any) -> None:
        """Add a value of a namespace, a closure or an argument."""
        if isinstance(value, ModuleType):
            self._add_module(value.__name__)
        elif isinstance(value, FunctionType):
            self._add_module(value.__module__)
            self.add_code(value.__code__)
        elif isinstance(value, type):
            for base in value.__mro__:
                self._add_module(base.__module__)
                if base.__module__ == "logging" and base.__name__ == "Handler":
                    self.names.add("threading")
            if top_of(value.__module__) not in sys.stdlib_module_names or value.__module__ == "__main__":
                self._add_members(value)
        else:
            self._add_module(value.__module__ if isinstance(value, BuiltinFunctionType) else type(value).__module__)
            if isinstance(value, _local) and top_of(type(value).__module__) not in OURS:
                self.locals.append(ref(value))

    def add_code(self, code: CodeType) -> None:
        """Add the names in the code of a function or a module."""
        self.names.update(top for name in code.co_names if (top := top_of(name)) in THREADS or top in GREENLETS)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.add_code(constant)

    def merge(self, more: ProgramFacts) -> None:
        """Add another result."""
        self.names |= more.names
        self.reaches |= more.reaches
        self.locals += more.locals

    def _add_members(self, kind: type) -> None:
        for member in list(vars(kind).values()):
            function = getattr(member, "__func__", member) if isinstance(member, (staticmethod, classmethod)) else member
            if isinstance(function, property):
                function = function.fget
            if isinstance(function, cached_property):
                if hasattr(function, "lock"):
                    self.names.add("threading")
                function = function.func
            if isinstance(function, FunctionType):
                self.add_code(function.__code__)

    def _add_module(self, name: Any) -> None:
        if isinstance(name, str):
            top = top_of(name)
            if top in THREADS or top in GREENLETS:
                self.names.add(top)
            elif ".futures" in name:
                self.names.add("concurrent")  # mpi4py.futures
            else:
                self.reaches.add(name)


def top_of(name: str) -> str:
    """Return the top-level package of a module."""
    return name.partition(".")[0]


def belongs_to_program(names: dict[str, Any]) -> bool:
    """Return whether a module with these globals is part of the program: not Python's own, not installed, not fakempi."""
    top, file = top_of(str(names.get("__name__"))), names.get("__file__")
    if top in sys.stdlib_module_names or top in OURS:
        return top == "__main__"
    return file is None or not any(part in str(file) for part in ("site-packages", "dist-packages"))


def facts_of(name: str) -> ProgramFacts | None:
    """Return the result for one module; None if it is not searched."""
    names = getattr(sys.modules.get(name), "__dict__", None)
    return None if names is None or not (belongs_to_program(names) or _calls_mpi(top_of(name))) else _search(names)


def _search(names: dict[str, Any]) -> ProgramFacts:
    facts = ProgramFacts()
    for value in list(names.values()):
        facts.add(value)
    return facts


_naming: dict[str, bool] = {}
"""Name of a module of an installed package -> whether the module names mpi4py or fakempi."""

_calling: dict[str, tuple[int, bool]] = {}
"""Name of an installed package -> the number of loaded modules at the time of the search, and whether one of the modules of
the package names mpi4py or fakempi."""


def _calls_mpi(top: str) -> bool:
    if top in sys.stdlib_module_names or top in OURS or top == "numpy":
        return False
    known = _calling.get(top)
    if known is None or known[0] != len(sys.modules):
        for name, module in list(sys.modules.items()):
            if top_of(name) == top and name not in _naming:
                values = list(getattr(module, "__dict__", {}).values())
                _naming[name] = any(isinstance(value, ModuleType) and top_of(value.__name__) in OURS for value in values)
        calls = any(named for name, named in _naming.items() if top_of(name) == top)
        known = _calling[top] = len(sys.modules), calls
    return known[1]


_within_reach: dict[str, tuple[int, list[tuple[dict[str, Any], int]], ProgramFacts]] = {}
"""Name of a module -> the number of loaded modules at the time of the search, the namespaces that were searched with their
sizes at that time, and the result."""


def _reachable(start: str) -> ProgramFacts:
    """Return the result for a module and for those that it reaches."""
    known = _within_reach.get(start)
    if known is not None and known[0] == len(sys.modules) and all(len(names) == size for names, size in known[1]):
        return known[2]
    result, searched = ProgramFacts(), []
    result.reaches.add(start)
    seen: set[str] = set()
    while unvisited := result.reaches - seen:
        seen |= unvisited
        for name in unvisited:
            facts = facts_of(name)
            if facts is not None:
                names = vars(sys.modules[name])
                searched.append((names, len(names)))
                result.merge(facts)
    if all(names.get("__file__") for names, _ in searched):  # in a notebook, functions are redefined under their old names
        _within_reach[start] = len(sys.modules), searched, result
    return result


def scan(main: Any, args: Iterable[Any]) -> ProgramFacts:
    """Return the result for a program: the function that ranks call, its arguments, and all modules that they reach."""
    if type(main) is not FunctionType or args or main.__closure__:
        return _scan(main, args)
    if main.__globals__ is not getattr(sys.modules.get(main.__module__), "__dict__", None):
        return _scan(main, args)
    known, reachable = _known(main.__code__), _reachable(main.__module__)
    if known.get(main.__module__, (None,))[0] is not reachable:
        known[main.__module__] = reachable, _scan(main, args)
    return known[main.__module__][1]


@cached_by_code
def _known(code: CodeType) -> dict[str, tuple[ProgramFacts, ProgramFacts]]:
    """Return a dictionary for the results of functions with this code: module -> what the module reaches, and the result."""
    return {}


def _scan(main: Any, args: Iterable[Any]) -> ProgramFacts:
    result = ProgramFacts()
    for value in _parts(main, args):
        result.add(value)
        if isinstance(value, FunctionType):
            names = value.__globals__
            if names is not getattr(sys.modules.get(value.__module__), "__dict__", None) and belongs_to_program(names):
                result.merge(_search(names))
    for name in list(result.reaches):
        result.merge(_reachable(name))
    return result


def _parts(main: Any, args: Iterable[Any]) -> Iterator[Any]:
    """The functions and objects that a call of `main` begins with: closures, bound objects and arguments."""
    unvisited, seen = [main, *args], set()
    while unvisited:
        value = unvisited.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, partial):
            unvisited += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, MethodType):
            unvisited += [value.__func__, value.__self__]
        elif isinstance(value, (tuple, list)):
            unvisited += value[:100]
        elif isinstance(value, dict):
            unvisited += list(value.values())[:100]
        else:
            yield value
            cells = getattr(value, "__closure__", None) or () if isinstance(value, FunctionType) else ()
            unvisited += [cell.cell_contents for cell in cells if _is_filled(cell)]


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # it is assigned later
        return False
