"""`sys.meta_path` while scripts run: who is asked for a module, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, SupportsIndex

from fakempi.script.patches import Who


class Finders(list[Any]):
    """A list whose first is ours, whatever a rank puts before it.

    pytest puts a finder of its own there on each rank, which knows that rank's tests. Where ranks have added several of a
    kind, each sees its own. One that a single rank has added, for a shared package that it imported, serves all.
    """

    def __init__(self, others: list[Any], first: Any, who: Who) -> None:
        super().__init__(others)
        self.first, self.who = first, who
        self.owners: dict[int, Any] = {}  # by identity
        self.kinds: set[tuple[type, Any]] = set()

    def __iter__(self) -> Iterator[Any]:
        yield self.first
        place = self.who()
        for finder in list(super().__iter__()):
            owner = self.owners.get(id(finder))
            if owner is None or owner is place or (type(finder), place) not in self.kinds:
                yield finder

    def insert(self, index: SupportsIndex, finder: Any) -> None:
        """Add one, of the running rank."""
        self._enter(finder)
        super().insert(index, finder)

    def append(self, finder: Any) -> None:
        """Likewise."""
        self._enter(finder)
        super().append(finder)

    def _enter(self, finder: Any) -> None:
        place = self.who()
        if place is not None:
            self.owners[id(finder)] = place
            self.kinds.add((type(finder), place))

    def left(self) -> list[Any]:
        """What is to stay when the run is over: not what ranks have added, but for those of a package that stays, too."""
        return [finder for finder in super().__iter__() if not self._ends_with_its_rank(finder)]

    def _ends_with_its_rank(self, finder: Any) -> bool:
        owner, kind = self.owners.get(id(finder)), type(finder)
        return owner is not None and (kind.__module__ in owner.own or sum(kind is one for one, _ in self.kinds) > 1)
