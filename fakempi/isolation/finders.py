"""The list `sys.meta_path` while scripts run: it determines the order of finders, and which ranks use which finder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex

from fakempi.isolation.patches import RunningState

if TYPE_CHECKING:
    from typing_extensions import Self


class Finders(list[Any]):
    """A list of finders that always starts with the emulator's finder.

    Iteration yields the finders for the running rank. If the rank has added finders of a class, it uses only these of that
    class: pytest, for example, adds a finder on each rank, which knows only the tests of that rank. A rank that has added
    none of a class uses those of all ranks: a shared package, for example, adds its finder on one rank only. Finders of a
    class that the program defines belong to the rank that has added them.

    A rank that replaces the list (`sys.meta_path = [...]`), or removes a finder that it has not added, has a list of its own
    from then on. `follow` gives each rank its own value of `sys.meta_path`.
    """

    def __init__(self, others: list[Any], first: Any, running_state: RunningState, follow: Callable[[], object]) -> None:
        super().__init__(others)
        self.first, self.running_state, self.follow = first, running_state, follow
        self.of_all: Finders = self  # the list of ranks that have not replaced theirs
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

    def replaced(self, finders: Iterable[Any]) -> Any:
        """Return the list for a rank that assigns these finders to `sys.meta_path`."""
        if self.running_state() is None or isinstance(finders, Finders):
            return finders
        new = Finders([], self.first, self.running_state, self.follow)
        new.of_all, new.owners, new.kinds = self.of_all, dict(self.owners), set(self.kinds)
        for finder in finders:
            if finder is not self.first:
                if not any(finder is known for known in super().__iter__()):
                    new._record(finder)
                super(Finders, new).append(finder)
        return new

    def _replace(self, finders: list[Any]) -> None:
        """Replace the list of the running rank; outside ranks, its contents."""
        if self.running_state() is None:
            super().__setitem__(slice(None), finders)
        else:
            self.follow()
            vars(sys)["meta_path"] = self.replaced(finders)

    def _others(self) -> list[Any]:
        return [finder for finder in self if finder is not self.first]

    def __setitem__(self, index: Any, value: Any) -> None:
        finders = self._others()
        finders[index] = value
        self._replace(finders)

    def __delitem__(self, index: Any) -> None:
        finders = self._others()
        del finders[index]
        self._replace(finders)

    def __add__(self, other: list[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: list[Any]) -> list[Any]:
        return [*other, *self]

    def __iadd__(self, other: Iterable[Any]) -> Self:
        self.extend(other)
        return self

    def extend(self, finders: Iterable[Any]) -> None:
        """Append finders."""
        for finder in finders:
            self.append(finder)

    def clear(self) -> None:
        """Remove all finders of the running rank but the emulator's."""
        self._replace([])

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Remove one of the finders for the running rank, and return it."""
        finder = self._others()[index]
        self.remove(finder)
        return finder

    def remove(self, finder: Any) -> None:
        """Remove a finder: for the running rank only, unless the rank has added it."""
        if self.running_state() is None or self.owners.get(id(finder)) is self.running_state():
            super().remove(finder)
            return
        finders = self._others()
        finders.remove(finder)
        self._replace(finders)

    def insert(self, index: SupportsIndex, finder: Any) -> None:
        """Insert a finder, and record that the running rank added it."""
        self._record(finder)
        super().insert(index, finder)
        if self._is_for_all(finder):
            self.of_all.insert(index, finder)

    def append(self, finder: Any) -> None:
        """Append a finder, and record that the running rank added it."""
        self._record(finder)
        super().append(finder)
        if self._is_for_all(finder):
            self.of_all.append(finder)

    def _record(self, finder: Any) -> None:
        state = self.running_state()
        if state is not None:
            self.owners[id(finder)] = state
            self.kinds.add((type(finder), state))

    def _is_for_all(self, finder: Any) -> bool:
        """Return whether a shared package, which only this rank imports, adds a finder to a list of this rank."""
        return self.of_all is not self and not self.belongs_to_program(finder)

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
