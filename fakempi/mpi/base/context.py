"""A context: what the handles of one communicator share, one object for all ranks.

An intracommunicator has one side, an intercommunicator two. A side is a group and its mailboxes. Messages of different
contexts never meet.
"""

from __future__ import annotations

from typing import Any

from fakempi.mpi.base.agreement import Starts
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.process import Universe
from fakempi.wire.matching import Mailbox


class Side:
    """A group of processes and a mailbox for each, made when the first message goes there."""

    __slots__ = ("__weakref__", "alone", "boxes", "calls", "choices", "context", "members", "original", "recipes")

    def __init__(self, context: Context, members: Members) -> None:
        self.context = context
        self.members = members
        self.boxes: list[Mailbox | None] = [None] * len(members)
        context.universe.sides.add(self)
        self.calls: dict[int, int] = {}  # by rank: how many meetings it has come to
        self.choices: dict[tuple[Any, ...], Any] = {}  # of algorithms, by what the choice hangs on
        self.recipes: dict[tuple[Any, ...], Any] = {}  # of calls that were made before, by what they hang on
        self.original: Side | None = None  # whose twin this is
        self.alone: Side | None = None  # of a side of two: a hidden one of the same ranks that send to each other

    def box(self, rank: int) -> Mailbox:
        """The mailbox of a rank."""
        box = self.boxes[rank]
        if box is None:
            number = self.members[rank]
            universe = self.context.universe
            box = self.boxes[rank] = universe.mailbox(number, universe.wire.into[number], self)
        return box


class Context:
    """The shared part of a communicator: its number, its sides, and the meetings under way on it."""

    __slots__ = ("__weakref__", "_everybody", "freed", "meetings", "number", "sides", "trouble", "twin", "universe")

    def __init__(self, universe: Universe, *groups: Members) -> None:
        universe.contexts += 1
        self.universe = universe
        self.number = universe.contexts
        self.sides = [Side(self, members) for members in groups]
        self.meetings: dict[Any, Any] = {}
        self._everybody: Any = None
        self.trouble: Any = None  # members that have died, or that it was revoked
        self.twin: Context | None = None  # the hidden one for collectives, once there is one
        self.freed: dict[int, str] | None = None  # by place: where those have freed it who have, unless all have

    def __del__(self) -> None:
        """Nobody has it any more: what was left behind in it is kept, for whoever looks for it at the end."""
        if not self.universe.loop.ending and self.sides[0].original is None and self.has_loose_ends():
            self.universe.remains.append(self)

    def has_loose_ends(self) -> bool:
        """Whether something in it has begun and not ended: a message, a collective call, or to free it."""
        for one in self.meetings.values():
            if one.differ(self) if isinstance(one, Starts) else not isinstance(one, dict):
                return True
        boxes = (box for side in self.sides for box in side.boxes if box is not None)
        return bool(self.freed) or not all(box.is_empty() for box in boxes)

    def free(self, place: int, site: str) -> None:
        """A process frees it."""
        if self.freed is None:
            self.freed = {}
        self.freed[place] = site
        if len(self.freed) == len(self.everybody()):
            self.freed = None

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

    def hidden_twin(self) -> Context:
        """The one that collective calls work on; of two groups, each has one of its own besides (`Side.alone`)."""
        if self.twin is None:
            self.twin = self.new_twin()
            self.twin.trouble = self.trouble
            for side, twin in zip(self.sides, self.twin.sides, strict=True):
                twin.original = side
                if self.is_inter:
                    side.alone = Context(self.universe, side.members).sides[0]
                    side.alone.original = side
        return self.twin

    def place(self, side: Side, rank: int) -> int:
        """The number of a rank among all, side after side."""
        return rank if side is self.sides[0] else rank + len(self.sides[0].members)
