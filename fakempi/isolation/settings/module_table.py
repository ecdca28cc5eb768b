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
        self, table: dict[str, Any], before_change: Callable[[str], None], private_names: Callable[[], Iterable[str]]
    ) -> None:
        self.table, self.before_change, self.private_names = table, before_change, private_names

    def __getitem__(self, name: str) -> Any:
        return self.table[name]

    def __setitem__(self, name: str, module: Any) -> None:
        if self.table.get(name, self) is not module:
            self.before_change(name)
            self.table[name] = module

    def __delitem__(self, name: str) -> None:
        if name in self.table:
            self.before_change(name)
        del self.table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return repr(self.table)

    def __or__(self, other: Any) -> Any:
        return self.table | other

    def __ror__(self, other: Any) -> Any:
        return other | self.table

    def __ior__(self, other: Any) -> Any:
        for name, module in dict(other).items():
            self[name] = module
        return self

    def copy(self) -> dict[str, Any]:
        """Return a copy of the table."""
        return self.table.copy()

    def clear(self) -> None:
        """Remove the rank's modules only, since other ranks need the shared ones; `mock.patch.dict` puts them back."""
        for name in self.private_names():
            self.table.pop(name, None)


def is_for_program(state: RankState, frame: FrameType | None) -> bool:
    """Return whether code of the rank's program, or a module on its behalf, reads `sys.modules`."""
    while frame is not None and frame.f_globals.get("__name__") in PATCHING:
        frame = frame.f_back
    return frame is not None and state.owns(frame.f_globals)
