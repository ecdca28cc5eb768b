"""Detection of changes to Python objects that ranks share because they run in one process.

The reductions of the search assume that ranks communicate by MPI alone. If an object changes that several ranks can reach (a
global variable, a class attribute, a closure, a default argument, a module of the program, an argument), the assumption is
false, and reductions are turned off. Objects are compared at every choice that is new to the search, at the end of every
run, and in the first run of the search also before a rank waits, up to `MAX_WAITS` times. A change that is undone before
the next comparison is not noticed.

The names in `builtins`, and the sets of names in modules of the standard library except `sys`, are compared at the same
times; at the end of a run, so are environment variables and the working directory. Other contents of installed packages and
the standard library are not, except the generators of `random` and `numpy.random`. Ranks of scripts have private modules,
variables and a directory, and see only their own assignments to names of the library. The names are therefore compared at
the end of a run only: those that have changed then are shared.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Sequence
from operator import is_
from types import CodeType, ModuleType
from typing import Any

from fakempi.core.hooks import Layer, OnWait
from fakempi.mpi.diagnostics.snapshot import Opaque, names_of, snapshot

CHANGED = "objects that ranks share"
"""The reason why reductions are off, in `Exploration.method`."""

MAX_WAITS = 1000
"""Upper limit of the comparisons before waits, since each may take milliseconds."""


class Wrapper:
    """A program that calls others: `shares` are the objects that ranks can reach, where `SharedObjects` looks."""

    __slots__ = ("_call", "shares")

    def __init__(self, call: Callable[[Any], Any], shares: Sequence[Any]) -> None:
        self._call, self.shares = call, shares

    def __call__(self, comm: Any) -> Any:
        """Run the program on a rank."""
        __tracebackhide__ = True
        return self._call(comm)


class SharedObjects:
    """A snapshot of the objects that the ranks of a program can reach, taken before the first run.

    If the program is a wrapper, its attribute `shares` lists the objects that ranks can reach. If its attribute
    `has_own_library` is true, each rank sees only its own names in modules of the standard library while it runs.
    """

    def __init__(self, main: Any, args: Sequence[Any]) -> None:
        self.roots: list[Any] = [*getattr(main, "shares", [main]), *args]
        self.why = ""  # the objects that changed, or the one that cannot be compared
        self.kept: list[Any] = []
        self.main, self.args = (self.roots[0] if self.roots else None), args
        self.parts = {name: self._content([value]) for name, value in _named(self.main, args).items()}
        self.before = self._content(self.roots, True)
        self.variables, self.directory = dict(_variables()), _directory()
        self.library, self.has_own_library = LibraryNames(), getattr(main, "has_own_library", False)
        self.has_run = False

    def is_first_run(self) -> bool:
        """Whether this is the first call: the first run of the search is always in its process."""
        is_first, self.has_run = not self.has_run, True
        return is_first

    def changed(self, ended: bool = False) -> bool:
        """Whether an object has changed or cannot be compared.

        `ended`: the run is over. Only then are environment variables and the working directory not those of one script.
        """
        if self.why:
            return True
        now = self._content(self.roots, True)
        if now is not None and now == self.before:
            self.why = self.library.changed() if ended or not self.has_own_library else ""
            if ended and _variables() != self.variables:
                self.why = "environment variables"
            elif ended and _directory() != self.directory:
                self.why = "the working directory"
            return bool(self.why)
        if not self.why:
            now_named = _named(self.main, self.args)
            changed = [name for name, value in now_named.items() if self._content([value]) != self.parts.get(name)]
            self.why = ", ".join(changed[:3]) or "an object that ranks can reach"
        return True

    def _content(self, roots: Sequence[Any], whole: bool = False) -> Any:
        try:
            return snapshot(roots, self.kept)
        except Opaque as error:
            if whole:
                self.why = str(error)
            return None


class LibraryNames:
    """The names in `builtins` and in modules of the standard library.

    Modules rebind their names and change their objects for themselves, so only names that are added or deleted count there.
    `sys` is not compared: ranks of scripts have private values of some of its names.
    """

    def __init__(self) -> None:
        self.builtins = _values(vars(builtins))
        # At the last comparison, which found no change:
        self.last_names, self.last_values = [*vars(builtins)], [*vars(builtins).values()]
        self.modules: dict[str, tuple[dict[str, Any], frozenset[str]]] = {}  # the namespace of each, and its names
        self.namespaces: list[dict[str, Any]] = []  # of these modules
        self.sizes: list[int] = []  # their numbers of names
        self.imported = 0
        self._add_modules()

    def _add_modules(self) -> None:
        self.imported = len(sys.modules)
        for name, module in list(sys.modules.items()):
            is_known = name in self.modules or name in ("builtins", "sys", "__main__")
            if not is_known and name.partition(".")[0] in sys.stdlib_module_names and type(module) is ModuleType:
                self.modules[name] = vars(module), frozenset(vars(module))
        self._note_sizes()

    def _note_sizes(self) -> None:
        self.namespaces = [namespace for namespace, _ in self.modules.values()]
        self.sizes = [len(names) for _, names in self.modules.values()]

    def changed(self) -> str:
        """Return a name that has changed; empty if there is none. Modules that are new are compared from now on."""
        now = vars(builtins)
        if [*now] != self.last_names or not all(map(is_, now.values(), self.last_values)):
            if changed := self._changed_builtin():
                return changed
            self.last_names, self.last_values = [*now], [*now.values()]
        if [*map(len, self.namespaces)] != self.sizes:
            for module, (namespace, names) in self.modules.items():
                if len(namespace) != len(names):
                    added_or_deleted = {name for name in namespace.keys() ^ names if _counts(name, namespace.get(name))}
                    if added_or_deleted:
                        return f"{module}.{min(added_or_deleted)}"
                    self.modules[module] = namespace, frozenset(namespace)
            self._note_sizes()
        if len(sys.modules) != self.imported:
            self._add_modules()
        return ""

    def _changed_builtin(self) -> str:
        values = _values(vars(builtins))
        if values.keys() != self.builtins.keys() or any(values[name] is not self.builtins[name] for name in values):
            different = {name for name in {*values, *self.builtins} if values.get(name) is not self.builtins.get(name)}
            return f"builtins.{min(different, default='')}"
        return ""


def _values(namespace: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of `builtins`, without those that fakempi and interactive sessions set."""
    return {name: value for name, value in namespace.items() if name not in ("__import__", "_")}


def _counts(name: str, value: Any) -> bool:
    """Whether a new name in a module is a change: not an imported submodule, or the record of shown warnings."""
    return type(value) is not ModuleType and not (name.startswith("__") and name.endswith("__"))


class ComparedAtWaits(OnWait):
    """Compares shared objects before ranks wait, and calls `on_change` when they have changed."""

    layer = Layer.CHECKS

    def __init__(self, shared: SharedObjects, on_change: Callable[[], None]) -> None:
        self.shared, self.on_change, self.left = shared, on_change, MAX_WAITS

    def wait(self, proceed: Callable[[], None]) -> None:
        """Compare, and wait."""
        if self.left:
            self.left -= 1
            if self.shared.changed():
                self.left = 0
                self.on_change()
        proceed()


def _variables() -> dict[Any, Any]:
    """Return the environment variables, encoded, which takes a tenth of the time."""
    data: dict[Any, Any] = os.environ._data  # type: ignore[attr-defined]  # private in os, absent from typeshed
    return data


def _directory() -> str:
    """Return the working directory; empty if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _named(main: Any, args: Sequence[Any]) -> dict[str, Any]:
    """Return the objects that a function can reach directly, by name."""
    function = getattr(main, "__func__", main)
    code = getattr(function, "__code__", None)
    objects: dict[str, Any] = {f"argument {i}": value for i, value in enumerate(args, 1)}
    if not isinstance(code, CodeType):
        return objects
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        objects[name] = cell
    objects.update({name: function.__globals__[name] for name in names_of(code) if name in function.__globals__})
    return objects
