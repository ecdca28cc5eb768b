"""Numbers of communicators, with a description that their members agree on without messages."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from fakempi.extensions.recorder.lines import CallLog

WORLD, SELF = 0, 1


class CommNumbers:
    """Numbers of the communicators of a rank by their handles."""

    def __init__(self, log: CallLog, world: Hashable) -> None:
        self._log = log
        self._numbers: dict[Hashable, int] = {world: WORLD}
        self._next = SELF + 1

    def number(self, comm: Any) -> int:
        """Return the number of a communicator; one that was not recorded when it was made gets a number now."""
        found = self._numbers.get(self.handle(comm))
        return self.add(comm, None) if found is None else found

    def add(self, comm: Any, parent: int | None) -> int:
        """Number a new communicator, and return the number; `parent` is None if not all ranks of one have made the call."""
        handle = self.handle(comm)
        return SELF if self._numbers.get(handle) == SELF else self._define(handle, self.identity(comm, parent))

    def _define(self, handle: Hashable, identity: str) -> int:
        """Give a communicator the next number."""
        number = self._numbers[handle] = self._next
        self._next += 1
        self._log.define(f"comm {number} {identity}")
        return number

    @abstractmethod
    def handle(self, comm: Any) -> Hashable:
        """Return what identifies a communicator on this rank."""

    @abstractmethod
    def identity(self, comm: Any, parent: int | None) -> str:
        """Return the words of parent, ordinal number and members, which are equal on all members."""

    def count(self, parent: int) -> None:  # needed only where ordinals are counted
        """Count a communicator that other ranks of the parent have got, and this rank has not."""

    def forget(self, handle: Hashable) -> None:
        """Forget a communicator that was freed: MPI uses handles again."""
        self._numbers.pop(handle, None)


class CountedComms(CommNumbers):
    """The communicators of a real MPI, whose ordinal numbers are counted.

    A communicator is identified by its parent, by its members, and by its ordinal number: how many communicators the parent
    has made before. All ranks of a parent create communicators on it in the same order. Create_group and Create_intercomm
    are calls of some ranks of the parent only: there, the ordinal counts the communicators with the same members.
    """

    def __init__(self, mpi: Any, log: CallLog) -> None:
        self._mpi, self._made = mpi, Counter[Hashable]()
        super().__init__(log, self.handle(mpi.COMM_WORLD))
        self._numbers[self.handle(mpi.COMM_SELF)] = SELF
        self._world = mpi.COMM_WORLD.Get_group()

    def handle(self, comm: Any) -> int:
        """Return the handle of a communicator as an integer."""
        return int(self._mpi._handleof(comm))

    def identity(self, comm: Any, parent: int | None) -> str:
        """Return the parent, how many communicators it has made before, and the members."""
        local = self._ranks(comm.Get_group())
        remote = self._ranks(comm.Get_remote_group()) if comm.Is_inter() else []
        key: Hashable = parent if parent is not None else (frozenset(local), frozenset(remote))
        if parent is None and remote:
            key = frozenset((frozenset(local), frozenset(remote)))  # the other group counts the same ones
        ordinal = self._made[key]
        self._made[key] += 1
        return f"{'-' if parent is None else parent} {ordinal} {groups(local, remote)}"

    def count(self, parent: int) -> None:
        """Count a communicator that other ranks of the parent have got, and this rank has not."""
        self._made[parent] += 1

    def _ranks(self, group: Any) -> list[int]:
        """Return the ranks of a group in the world; -1 for a process of another world."""
        found = self._mpi.Group.Translate_ranks(group, list(range(group.Get_size())), self._world)
        group.Free()
        return [-1 if rank == self._mpi.UNDEFINED else rank for rank in found]


def groups(local: Sequence[int], remote: Sequence[int]) -> str:
    """Return the words of the members of a communicator."""
    return ranges(local) + (f" {ranges(remote)}" if remote else "")


def ranges(ranks: Sequence[int]) -> str:
    """Return numbers as ranges `first-last:step`, separated by commas.

    >>> ranges([0, 1, 2, 3, 8, 6, 4, 9])
    '0-3,8-4:-2,9'
    """
    parts, position = [], 0
    while position < len(ranks):
        step = ranks[position + 1] - ranks[position] if position + 1 < len(ranks) else 0
        end = position + 1
        while step and end < len(ranks) and ranks[end] - ranks[end - 1] == step:
            end += 1
        if end - position > 2 and min(ranks[position], ranks[end - 1]) >= 0:
            parts.append(f"{ranks[position]}-{ranks[end - 1]}" + (f":{step}" if step != 1 else ""))
        else:
            end = position + 1
            parts.append(str(ranks[position]))
        position = end
    return ",".join(parts)
