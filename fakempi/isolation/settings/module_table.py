"""`sys.modules` for programs: a module that a rank puts there itself belongs to this rank, as in a separate process.

Python has one table of modules. Its entries of private modules are exchanged when another rank runs, so an entry that a
program sets or deletes only has to become private. To notice this, programs receive a `ModuleTable` for `sys.modules`, which
passes everything on to the table; all other code receives the table itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from types import FrameType
from typing import Any

from fakempi.isolation.rank_state import RankState

PATCHING = ("unittest.mock", "pkgutil", "_pytest.monkeypatch")
"""Modules that find `sys.modules` by its name on behalf of their caller."""


class ModuleTable(MutableMapping[str, Any], dict[str, Any]):  # type: ignore[misc, metaclass]  # one of them is abstract
    """A view of the table; `before_change` is called with a name before its entry changes."""

    def __init__(
        self, table: dict[str, Any], before_change: Callable[[str], None], private_names: Callable[[], Iterable[str]],
        is_hidden: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self.table, self.before_change, self.private_names = table, before_change, private_names
        self.is_hidden = is_hidden

    def _visible(self) -> dict[str, Any]:
        """Return the table, without mpi4py if the rank has not imported it."""
        if not self.is_hidden("mpi4py"):
            return self.table
        return {name: module for name, module in self.table.items() if not self.is_hidden(name)}

    def __getitem__(self, name: str) -> Any:
        if self.is_hidden(name):
            raise KeyError(name)
        return self.table[name]

    def __setitem__(self, name: str, module: Any) -> None:
        if self.table.get(name, self) is not module:
            self.before_change(name)
            self.table[name] = module

    def __delitem__(self, name: str) -> None:
        if name in self:
            self.before_change(name)
        del self._visible()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._visible())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._visible())

    def __len__(self) -> int:
        return len(self._visible())

    def __repr__(self) -> str:
        return repr(self._visible())

    def __or__(self, other: Any) -> Any:
        return self._visible() | other

    def __ror__(self, other: Any) -> Any:
        return other | self._visible()

    def __ior__(self, other: Any) -> Any:
        for name, module in dict(other).items():
            self[name] = module
        return self

    def copy(self) -> dict[str, Any]:
        """Return a copy of the table."""
        return self._visible().copy()

    def clear(self) -> None:
        """Remove the rank's modules only, since other ranks need the shared ones; `mock.patch.dict` puts them back."""
        for name in self.private_names():
            self.table.pop(name, None)


def is_for_program(state: RankState, frame: FrameType | None) -> bool:
    """Return whether code of the rank's program, or a module on its behalf, reads `sys.modules`."""
    while frame is not None and frame.f_globals.get("__name__") in PATCHING:
        frame = frame.f_back
    return frame is not None and state.owns(frame.f_globals)
