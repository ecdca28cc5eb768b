"""A context: what the handles of one communicator share, one object for all ranks.

An intracommunicator has one side, an intercommunicator two. A side is a group and its mailboxes. Messages of different
contexts never meet.
"""

from __future__ import annotations

from typing import Any

from fakempi.mpi.members import Members
from fakempi.mpi.process import Universe
from fakempi.wire.matching import Mailbox


class Side:
    """A group of processes and a mailbox for each, made when the first message goes there."""

    __slots__ = ("__weakref__", "boxes", "calls", "context", "members")

    def __init__(self, context: Context, members: Members) -> None:
        self.context = context
        self.members = members
        self.boxes: list[Mailbox | None] = [None] * len(members)
        context.universe.sides.add(self)
        self.calls: dict[int, int] = {}  # by rank: how many meetings it has come to

    def box(self, rank: int) -> Mailbox:
        """The mailbox of a rank."""
        box = self.boxes[rank]
        if box is None:
            number = self.members[rank]
            box = self.boxes[rank] = Mailbox(number, self.context.universe.wire.into[number], self)
        return box


class Context:
    """The shared part of a communicator: its number, its sides, and the meetings under way on it."""

    __slots__ = ("__weakref__", "_everybody", "meetings", "number", "original", "sides", "twin", "universe")

    def __init__(self, universe: Universe, *groups: Members) -> None:
        universe.contexts += 1
        self.universe = universe
        self.number = universe.contexts
        self.sides = [Side(self, members) for members in groups]
        self.meetings: dict[Any, Any] = {}
        self._everybody: Any = None
        self.twin: Context | None = None  # the hidden one for collectives, once there is one
        self.original: Context | None = None  # whose twin this is

    @property
    def is_inter(self) -> bool:
        """Whether it joins two groups."""
        return len(self.sides) == 2

    def everybody(self) -> Any:
        """The numbers of all processes, side after side."""
        if self._everybody is None:
            groups = [side.members for side in self.sides]
            self._everybody = groups[0] if len(groups) == 1 else [number for group in groups for number in group]
        return self._everybody

    def new_twin(self) -> Context:
        """Another context of the same groups."""
        return Context(self.universe, *(side.members for side in self.sides))
