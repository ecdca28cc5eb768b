"""Detection of changes to Python objects that ranks share because they run in one process.

The reductions of the search assume that ranks communicate by MPI alone. If an object changes that several ranks can reach (a
global variable, a class attribute, a closure, a default argument, a module of the program, an argument), the assumption is
false, and reductions are turned off. Objects are compared at every choice and at the end of every run, which is enough:
between two choices only determined events happen, in an order that depends on the choices alone.

At the end of a run, environment variables and the working directory are compared, too. Installed packages are not, except
the generators of `random` and `numpy.random`. Ranks of scripts share nothing else, since each rank has private modules,
variables and a directory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import CodeType
from typing import Any

from fakempi.mpi.diagnostics.snapshot import Opaque, names_of, snapshot

CHANGED = "objects that ranks share"
"""The reason why reductions are off, in `Exploration.method`."""


class SharedObjects:
    """A snapshot of the objects that the ranks of a program can reach, taken before the first run.

    If the program is a wrapper, its attribute `shares` lists the objects that ranks can reach.
    """

    def __init__(self, main: Any, args: Sequence[Any]) -> None:
        self.roots: list[Any] = [*getattr(main, "shares", [main]), *args]
        self.why = ""  # the objects that changed, or the one that cannot be compared
        self.kept: list[Any] = []
        self.main, self.args = (self.roots[0] if self.roots else None), args
        self.parts = {name: self._content([value]) for name, value in _named(self.main, args).items()}
        self.before = self._content(self.roots, True)
        self.variables, self.directory = dict(_variables()), _directory()

    def changed(self, ended: bool = False) -> bool:
        """Whether an object has changed or cannot be compared.

        `ended`: the run is over. Only then are environment variables and the working directory not those of one script.
        """
        if self.why:
            return True
        now = self._content(self.roots, True)
        if now is not None and now == self.before:
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
