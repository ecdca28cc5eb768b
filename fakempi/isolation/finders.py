"""The list `sys.meta_path` while scripts run: it determines the order of finders, and which ranks use which finder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, SupportsIndex

from fakempi.isolation.patches import RunningState


class Finders(list[Any]):
    """A list of finders that always starts with the emulator's finder.

    Iteration yields the finders for the running rank. If the rank has added finders of a class, it uses only these of that
    class: pytest, for example, adds a finder on each rank, which knows only the tests of that rank. A rank that has added
    none of a class uses those of all ranks: a shared package, for example, adds its finder on one rank only. Finders of a
    class that the program defines belong to the rank that has added them.
    """

    def __init__(self, others: list[Any], first: Any, running_state: RunningState) -> None:
        super().__init__(others)
        self.first, self.running_state = first, running_state
        self.owners: dict[int, Any] = {}  # id of a finder -> state of the rank that added it
        self.kinds: set[tuple[type, Any]] = set()  # (class of a finder, state of a rank that added one)

    def __iter__(self) -> Iterator[Any]:
        yield self.first
        state = self.running_state()
        for finder in list(super().__iter__()):
            owner = self.owners.get(id(finder))
            of_another_rank = owner is not None and owner is not state
            if not of_another_rank or not (self.belongs_to_program(finder) or (type(finder), state) in self.kinds):
                yield finder

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Remove one of the finders for the running rank, and return it."""
        finder = [each for each in self if each is not self.first][index]
        self[:] = [each for each in super().__iter__() if each is not finder]
        return finder

    def insert(self, index: SupportsIndex, finder: Any) -> None:
        """Insert a finder, and record that the running rank added it."""
        self._record(finder)
        super().insert(index, finder)

    def append(self, finder: Any) -> None:
        """Append a finder, and record that the running rank added it."""
        self._record(finder)
        super().append(finder)

    def _record(self, finder: Any) -> None:
        state = self.running_state()
        if state is not None:
            self.owners[id(finder)] = state
            self.kinds.add((type(finder), state))

    def belongs_to_program(self, finder: Any) -> bool:
        """Return whether the program of a rank has added a finder of its own class."""
        owner = self.owners.get(id(finder))
        return owner is not None and type(finder).__module__ in owner.private

    def remaining(self) -> list[Any]:
        """Return the finders that remain after the run: those that no rank added, and those of shared packages."""
        return [finder for finder in super().__iter__() if not self._is_removed(finder)]

    def _is_removed(self, finder: Any) -> bool:
        """Return whether a rank added a finder whose class is private to ranks, or of which several ranks added finders."""
        owner, kind = self.owners.get(id(finder)), type(finder)
        return owner is not None and (kind.__module__ in owner.private or sum(kind is other for other, _ in self.kinds) > 1)
