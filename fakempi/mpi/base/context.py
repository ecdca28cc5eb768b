"""A context: the state that the handles of one communicator share, one object for all ranks.

An intracommunicator has one side, an intercommunicator two. A side is a group and its mailboxes. A message of one context
never matches a receive of another.

Each process of a communicator has a slot: its rank in an intracommunicator. In an intercommunicator the slots of the second
side follow those of the first.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from fakempi.core.network.matching import Mailbox
from fakempi.mpi.base.call_matching import OpenCalls, Starts
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.process import RunState, Universe


class Contexts(RunState):
    """All contexts of a run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.count = 0
        self.sides: WeakSet[Side] = WeakSet()  # of all contexts that are in use
        self.unfinished: list[Context] = []  # contexts without handles that have messages or calls left


class Side:
    """A group of processes, and a mailbox for each, created when the first message is sent to it."""

    __slots__ = (
        "__weakref__", "boxes", "calls", "choices", "context", "local", "members", "original", "ports", "recipes",
    )  # fmt: skip

    def __init__(self, context: Context, members: Members) -> None:
        self.context = context
        self.members = members
        self.boxes: list[Mailbox | None] = [None] * len(members)
        context.universe.state(Contexts).sides.add(self)
        self.calls = [0] * len(members)  # rank -> number of collective calls it has made
        self.choices: dict[object, Any] = {}  # chosen algorithms, by the facts that the choice depends on
        self.recipes: dict[tuple[object, ...], list[Any]] = {}  # of earlier calls, by the name and the line of the call
        self.ports: Any = None  # output and input ports of its processes, once fused calls need them
        self.original: Side | None = None  # of a side for collective calls: the side of the program's communicator
        self.local: Side | None = None  # of a side of an intercommunicator: a separate context for the same group

    @property
    def peer(self) -> Side:
        """The side that sends to this one: the other side of an intercommunicator, or the same side."""
        sides = self.context.sides
        return sides[-1 - sides.index(self)]

    def box(self, rank: int) -> Mailbox:
        """The mailbox of a rank."""
        box = self.boxes[rank]
        if box is None:
            number = self.members[rank]
            universe = self.context.universe
            box = self.boxes[rank] = universe.mailbox(number, universe.network.into[number], self)
        return box


class Context:
    """The shared part of a communicator: its number, its sides, and the collective calls in progress."""

    __slots__ = (
        "__weakref__", "_process_numbers", "collective_context", "fault_state", "freed", "number", "open_calls",
        "partitioned", "sides", "universe",
    )  # fmt: skip

    def __init__(self, universe: Universe, *groups: Members) -> None:
        contexts = universe.state(Contexts)
        contexts.count += 1
        self.universe = universe
        self.number = contexts.count
        self.sides = [Side(self, members) for members in groups]
        self.open_calls: OpenCalls = {}
        self._process_numbers: Members | list[int] | None = None
        self.fault_state: Any = None  # a FaultState once a member has died or the communicator was revoked
        self.collective_context: Context | None = None  # the context of messages inside collective calls, once there is one
        self.partitioned = False  # whether it is the context of one partitioned operation: tags are numbers of partitions
        self.freed: dict[int, str] | None = None  # slot -> where it was freed; None once every rank has freed it

    def __del__(self) -> None:
        """Keep the context for the leak checks at the end of the run, if messages or calls are left in it."""
        if not self.universe.loop.ending and self.sides[0].original is None and self.is_unfinished():
            self.universe.state(Contexts).unfinished.append(self)

    def is_unfinished(self) -> bool:
        """Whether a message was not received, or only some of the ranks have made a collective call or freed the handle."""
        for call in self.open_calls.values():
            if call.differ(self) if isinstance(call, Starts) else not isinstance(call, dict):
                return True
        boxes = (box for side in self.sides for box in side.boxes if box is not None)
        return bool(self.freed) or not all(box.is_empty() for box in boxes)

    def free(self, slot: int, place: str) -> None:
        """Record that a process frees its handle."""
        if self.freed is None:
            self.freed = {}
        self.freed[slot] = place
        if len(self.freed) == len(self.process_numbers()):
            self.freed = None

    @property
    def is_inter(self) -> bool:
        """Whether it is the context of an intercommunicator."""
        return len(self.sides) == 2

    def process_numbers(self) -> Members | list[int]:
        """The numbers of all processes, by slot."""
        if self._process_numbers is None:
            groups = [side.members for side in self.sides]
            self._process_numbers = groups[0] if len(groups) == 1 else [number for group in groups for number in group]
        return self._process_numbers

    def duplicate(self) -> Context:
        """Return another context of the same groups."""
        return Context(self.universe, *(side.members for side in self.sides))

    def get_collective_context(self) -> Context:
        """Return the context of messages inside collective calls, and create it on first use.

        On an intercommunicator this also creates a context for each of the two groups (`Side.local`).
        """
        if self.collective_context is None:
            self.collective_context = self.duplicate()
            self.collective_context.fault_state = self.fault_state
            for side, collective_side in zip(self.sides, self.collective_context.sides, strict=True):
                collective_side.original = side
                if self.is_inter:
                    side.local = Context(self.universe, side.members).sides[0]
                    side.local.original = side
        return self.collective_context

    def slot(self, side: Side, rank: int) -> int:
        """The slot of a rank of a side."""
        return rank if side is self.sides[0] else rank + len(self.sides[0].members)
