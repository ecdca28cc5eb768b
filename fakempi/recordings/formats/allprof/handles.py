"""The communicators of liballprof's traces, which contain handles, ranks and sizes, but no members.

A call that creates a communicator is written with the address of the variable that receives the handle, not with the handle.
So the members are found from the calls: a color and a key for each rank (Comm_split), or the members of the parent
(Comm_dup). A handle that occurs for the first time belongs to the earliest creation before it whose result has the rank and
the size that are written next to the handle. Other creations (Comm_create, Cart_create) are resolved if the ranks that are
written next to the handles make up exactly one communicator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class HandleUse(NamedTuple):
    """The first use of a handle: how many creations were before, and the rank and size that are written next to it."""

    handle: str
    before: int
    rank: int
    size: int


@dataclass
class Creation:
    """A call that creates a communicator; `index` is that of the result, -1 if there is none on this rank."""

    parent: str
    kind: str
    color: int = 0
    key: int = 0
    index: int | None = None
    place: tuple[int, int] = (0, 0)  # rank and size in the result
    used: bool = False


@dataclass
class RankHandles:
    """The statements of the file of one rank about communicators, in the order of its lines."""

    rank: int
    creations: list[Creation] = field(default_factory=list)
    uses: list[HandleUse] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)
    """Handle -> index of the communicator."""


class HandleResolution:
    """Finds the members of all communicators; `add` adds one to the recording and returns its index."""

    def __init__(self, ranks: Sequence[RankHandles], add: Callable[[Sequence[int]], int]) -> None:
        self.ranks, self.add = ranks, add
        self.members: dict[int, list[int]] = {0: list(range(len(ranks)))}
        self.made: dict[int, int] = {}  # communicator -> the number of its creations that are resolved

    def run(self) -> None:
        """Fill in `found` of each rank, as far as the traces determine it."""
        for each in self.ranks:
            self._bind_world_and_self(each)
        while self._create() | self._bind():
            pass

    def _bind_world_and_self(self, each: RankHandles) -> None:
        for use in each.uses:
            if (use.rank, use.size) == (each.rank, len(self.ranks)) and 0 not in each.found.values():
                each.found[use.handle] = 0
            elif use.size == 1 and not any(one for one in each.creations[: use.before]):
                each.found[use.handle] = self._new([each.rank])

    def _new(self, members: list[int]) -> int:
        index = self.add(members)
        self.members[index] = members
        return index

    def _create(self) -> bool:
        """Resolve creations that all members of a known parent have reached; returns whether there was one."""
        calls: dict[int, dict[int, list[Creation]]] = {}
        for each in self.ranks:
            for creation in each.creations:
                parent = each.found.get(creation.parent)
                if creation.index is None and parent is not None:
                    calls.setdefault(parent, {}).setdefault(each.rank, []).append(creation)
        progress = False
        for parent, by_rank in calls.items():
            members = self.members[parent]
            for ordinal in range(min(len(by_rank.get(rank, ())) for rank in members)):
                group = [by_rank[rank][ordinal] for rank in members]
                if not self._resolve(members, group):
                    break
                progress = True
        return progress

    def _resolve(self, members: list[int], calls: list[Creation]) -> bool:
        kinds = {call.kind for call in calls}
        if kinds == {"MPI_Comm_dup"}:
            self._result(calls, members, list(range(len(members))))
        elif kinds == {"MPI_Comm_split"}:
            colors: dict[int, list[int]] = {}
            for place, call in enumerate(calls):
                call.index = -1
                if call.color >= 0:  # MPI_UNDEFINED is negative in every MPI
                    colors.setdefault(call.color, []).append(place)
            for places in colors.values():
                places.sort(key=lambda place: (calls[place].key, place))
                self._result(calls, members, places)
        else:
            return self._resolve_by_uses(members, calls)
        return True

    def _result(self, calls: list[Creation], members: list[int], places: list[int]) -> None:
        """Create a communicator of these places in the parent, in this order."""
        index = self._new([members[place] for place in places])
        for rank, place in enumerate(places):
            calls[place].index, calls[place].place = index, (rank, len(places))

    def _resolve_by_uses(self, members: list[int], calls: list[Creation]) -> bool:
        """A creation with unknown members: the next unknown handles of all ranks, if they make up one communicator."""
        found: dict[int, tuple[int, HandleUse]] = {}
        for place, (rank, call) in enumerate(zip(members, calls, strict=True)):
            each = self.ranks[rank]
            number = next(i for i, one in enumerate(each.creations) if one is call)
            uses = [use for use in each.uses if use.handle not in each.found and use.before > number]
            if uses and uses[0].rank not in found:
                found[uses[0].rank] = place, uses[0]
            call.index = -1
        sizes = {use.size for _, use in found.values()}
        if sizes == {len(found)} and set(found) == set(range(len(found))):
            self._result(calls, members, [found[rank][0] for rank in range(len(found))])
        return True

    def _bind(self) -> bool:
        """Give handles to resolved creations; returns whether there was one."""
        progress = False
        for each in self.ranks:
            for use in each.uses:
                if use.handle in each.found:
                    continue
                for creation in each.creations[: use.before]:
                    if creation.index is None:
                        break  # it might be the result of this one
                    if creation.index >= 0 and not creation.used and creation.place == (use.rank, use.size):
                        each.found[use.handle], creation.used = creation.index, True
                        progress = True
                        break
        return progress
