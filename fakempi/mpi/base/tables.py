"""Tables of objects that programs know by numbers: attribute keys, error codes, handles.

Each run has its own tables: nothing in them outlives the run, and a program gets the same numbers in every run. The tables
of a run start as copies of those of the code that has started the run, so that keys and codes that a module creates when it
is imported are valid in all runs. If a rank imports a module that stays loaded after the run, the module's keys and codes
are kept, under the same numbers.
"""

from __future__ import annotations

import sys
from types import FrameType, ModuleType
from typing import Any, TypeVar

from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.process import RunState, Universe

T = TypeVar("T", bound="NumberTable")

_outside: dict[type[NumberTable], Any] = {}  # the tables of code outside runs


class NumberTable(RunState):
    """A table of numbered objects. A subclass has the first number and the objects, and copies those of another table."""

    before_first: int  # the number before the first one

    def __init__(self, universe: Universe | None) -> None:
        self.last = self.before_first
        self._imported: list[tuple[ModuleType, int]] = []
        self._parent: Any = None
        if universe is not None:
            self._parent = _of(universe.outer, type(self))
            self.copy(self._parent)
            universe.at_end.append(self._end)

    def copy(self, parent: Any) -> None:
        """Fill the new table with the objects of another one."""
        raise NotImplementedError

    def is_used(self, number: int) -> bool:
        """Return whether an object has the number."""
        raise NotImplementedError

    def keep(self, run: Any, number: int) -> None:
        """Take an object from the table of a run that ends, unless the number is used."""

    def new_number(self) -> int:
        """Return a number that no object has had in this run."""
        self.last += 1
        while self.is_used(self.last):
            self.last += 1
        if self._parent is not None and (module := _module_that_is_imported()) is not None:
            self._imported.append((module, self.last))
        return self.last

    def _end(self) -> None:
        for module, number in self._imported:
            if sys.modules.get(module.__name__) is module:
                self._parent.keep(self, number)
        self._imported, self._parent = [], None


def table(kind: type[T]) -> T:
    """Return the table of the run that calls, or the one of code outside runs."""
    process = current_process()
    return _of(None if process is None else process.universe, kind)


def _of(universe: Universe | None, kind: type[T]) -> T:
    if universe is not None:
        return universe.state(kind)
    known: T = _outside.get(kind) or _outside.setdefault(kind, kind(None))
    return known


def _module_that_is_imported() -> ModuleType | None:
    """Return the module whose import calls this function, if any."""
    frame: FrameType | None = frame_at(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            module = sys.modules.get(frame.f_globals.get("__name__", ""))
            if getattr(module, "__dict__", None) is frame.f_globals and _is_initializing(module):
                return module
        frame = frame.f_back
    return None


def _is_initializing(module: Any) -> bool:
    return bool(getattr(module.__spec__, "_initializing", False))
