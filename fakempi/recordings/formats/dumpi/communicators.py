"""Groups and communicators in DUMPI traces.

A record has the numbers of the communicators and groups that a call creates, but no members. The members of a group are
computed from the calls that made it. The members of a communicator follow from the calls of all ranks: Comm_split has the
color and the key of each rank. All ranks of a communicator create others on it in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse
from math import prod
from typing import Any

from fakempi.recordings.formats.dumpi.records import Record

NULL, WORLD, SELF = 1, 2, 3
"""Numbers of communicators."""

DEEPEST = 1000
"""Groups that were made from groups more often than this are unknown."""

CREATE = {"Comm_dup": 1, "Comm_create": 2, "Comm_split": 3, "Cart_create": 5, "Cart_sub": 3, "Graph_create": 6}
"""The field with the number of the new communicator."""

OTHERS = {"Intercomm_create": 5, "Intercomm_merge": 2, "Comm_accept": 4, "Comm_connect": 4, "Comm_spawn": 3, "Comm_join": 1}
"""The same for communicators whose members are not found."""

PARENT = {"Comm_dup": 0, "Comm_create": 0, "Comm_split": 0, "Cart_create": 0, "Cart_sub": 1, "Graph_create": 1}
"""The field with the communicator that all callers are members of."""


class UnknownMembersError(Exception):
    """The members of a group or a communicator are not in the trace."""


class TracedGroup:
    """A group: how it was made; its members are computed when all communicators that it depends on are known."""

    def __init__(self, compute: Callable[[], list[int]], depth: int) -> None:
        self._compute, self.depth = compute, depth
        self._members: list[int] | None = None

    def members(self) -> list[int]:
        """Return the members as ranks of the world."""
        if self._members is None:
            if self.depth > DEEPEST:
                raise UnknownMembersError
            self._members = self._compute()
        return self._members


@dataclass
class Slot:
    """A communicator of one rank: its index in the recording, None while unknown, -1 if there is none."""

    index: int | None = None
    dims: tuple[int, ...] = ()


@dataclass
class Made:
    """A call that creates a communicator."""

    parent: Slot
    kind: str
    values: list[Any]
    group: TracedGroup | None
    new: Slot


@dataclass
class RankComms:
    """The communicators of one rank, in the order of the calls that create them."""

    rank: int
    made: list[Made] = field(default_factory=list)
    slots: dict[int, Slot] = field(default_factory=dict)
    """Number -> communicator, at a place in the trace: numbers may be used again."""

    groups: dict[int, TracedGroup] = field(default_factory=dict)


class CommResolution:
    """Finds the members of communicators; `add` adds one to the recording and returns its index."""

    def __init__(self, ranks: int, add: Callable[[Sequence[int]], int]) -> None:
        self.add = add
        self.members: dict[int, list[int]] = {0: list(range(ranks))}
        self.ranks = [RankComms(rank) for rank in range(ranks)]
        for each in self.ranks:
            each.slots = {WORLD: Slot(0), SELF: Slot()}

    def scan(self, each: RankComms, record: Record) -> None:
        """Note what a record says about groups and communicators."""
        name, values = record.name, record.values
        if name in CREATE:
            parent = each.slots.get(values[PARENT[name]])
            new, number = Slot(), values[CREATE[name]]
            if number == NULL:
                new.index = -1
            else:
                each.slots[number] = new
            if parent is not None:
                group = each.groups.get(values[1]) if name == "Comm_create" else None
                if name == "Cart_create":
                    new.dims = values[2]
                elif name == "Cart_sub":
                    new.dims = tuple(size for size, keep in zip(parent.dims, values[2], strict=False) if keep)
                each.made.append(Made(parent, name, values, group, new))
        elif name in OTHERS:
            each.slots[values[OTHERS[name]]] = Slot(-1)
        elif name == "Comm_group" or name.startswith("Group_"):
            self._scan_group(each, name, values)

    def _scan_group(self, each: RankComms, name: str, values: list[Any]) -> None:
        groups = each.groups
        if name == "Comm_group":
            slot = each.slots.get(values[0])
            groups[values[1]] = TracedGroup(lambda: self.of_slot(slot), 0)
            return
        one = groups.get(values[0], _NO_GROUP)
        if name in COMBINE:
            two = groups.get(values[1], _NO_GROUP)
            combine = COMBINE[name]
            depth = max(one.depth, two.depth) + 1
            groups[values[2]] = TracedGroup(lambda: combine(one.members(), two.members()), depth)
        elif name in ("Group_incl", "Group_excl", "Group_range_incl", "Group_range_excl"):
            chosen, keep = values[2], name.endswith("incl")
            ranges = name.startswith("Group_range")
            groups[values[3]] = TracedGroup(lambda: _selected(one.members(), chosen, keep, ranges), one.depth + 1)

    def of_slot(self, slot: Slot | None) -> list[int]:
        """Return the members of a communicator."""
        if slot is None or slot.index is None or slot.index < 0:
            raise UnknownMembersError
        return self.members[slot.index]

    def run(self) -> None:
        """Find the members of all communicators, as far as the traces determine them."""
        pending = [list(reversed(each.made)) for each in self.ranks]
        for each in self.ranks:
            own = each.slots[SELF]
            own.index = self._new([each.rank])
        ready = True
        while ready:
            ready = False
            for rank, made in enumerate(pending):
                if made and made[-1].parent.index is not None:
                    ready |= self._create(rank, pending)

    def _new(self, members: list[int]) -> int:
        index = self.add(members)
        self.members[index] = members
        return index

    def _create(self, rank: int, pending: list[list[Made]]) -> bool:
        """Resolve the next call of a rank, if the next calls of all members of the parent are on it; whether it did."""
        parent = pending[rank][-1].parent.index
        if parent == -1 or parent is None:
            lost = pending[rank].pop()
            lost.new.index = -1
            return True
        members = self.members[parent]
        if any(not pending[each] or pending[each][-1].parent.index != parent for each in members):
            return False
        calls = [pending[each].pop() for each in members]
        try:
            groups = _groups(members, calls)
        except UnknownMembersError:
            groups = []
        for group in groups:
            index = self._new(group)
            places = {each: place for place, each in enumerate(members)}
            for each in group:
                calls[places[each]].new.index = index
        for call in calls:
            if call.new.index is None:
                call.new.index = -1
        return True


def _groups(members: list[int], calls: list[Made]) -> list[list[int]]:
    """Return the members of the communicators that the calls of all members of the parent create."""
    kinds = {call.kind for call in calls}
    if len(kinds) > 1:
        raise UnknownMembersError
    [kind] = kinds
    with_result = [each for each, call in zip(members, calls, strict=True) if call.new.index != -1]
    if kind == "Comm_dup":
        return [members]
    if kind == "Comm_split":
        return _by_color(members, [(call.values[1], call.values[2]) for call in calls], with_result)
    if kind == "Cart_sub":
        colors = [(_rest(place, call), place) for place, call in enumerate(calls)]
        return _by_color(members, colors, with_result)
    if kind == "Cart_create":
        return [members[: prod(calls[0].new.dims)]] if prod(calls[0].new.dims) <= len(members) else []
    if kind == "Graph_create":
        return [members[: max(calls[0].values[2], 0)]]
    found = {}
    for call in calls:
        if call.new.index != -1 and call.group is not None:
            group = call.group.members()
            found[tuple(group)] = group
    return [group for group in found.values() if set(group) <= set(with_result)]


def _by_color(members: list[int], colors: Sequence[tuple[Any, int]], with_result: list[int]) -> list[list[int]]:
    """Return the ranks with each color in the order of their keys; those without a result had MPI_UNDEFINED."""
    taking = set(with_result)
    found: dict[Any, list[tuple[int, int, int]]] = {}
    for place, (each, (color, key)) in enumerate(zip(members, colors, strict=True)):
        if each in taking:
            found.setdefault(color, []).append((key, place, each))
    return [[each for _, _, each in sorted(group)] for group in found.values()]


def _rest(place: int, call: Made) -> tuple[int, ...]:
    """Return the coordinates of a place in the grid that Cart_sub does not keep."""
    dims, coordinates = call.parent.dims, []
    for size in reversed(dims):
        if size < 1:
            raise UnknownMembersError
        coordinates.append(place % size)
        place //= size
    keeps = call.values[2]
    if len(keeps) != len(dims):
        raise UnknownMembersError
    return tuple(at for at, keep in zip(reversed(coordinates), keeps, strict=True) if not keep)


COMBINE: dict[str, Callable[[list[int], list[int]], list[int]]] = {
    "Group_union": lambda one, two: list(dict.fromkeys([*one, *two])),
    "Group_intersection": lambda one, two: list(filter(set(two).__contains__, one)),
    "Group_difference": lambda one, two: list(filterfalse(set(two).__contains__, one)),
}


def _selected(members: list[int], chosen: Sequence[Any], keep: bool, ranges: bool) -> list[int]:
    """Return the chosen members, or the others; ranges are (first, last, step)."""
    places: list[int] = []
    for each in chosen:
        if not ranges:
            places.append(each)
            continue
        if len(each) != 3 or not each[2]:
            raise UnknownMembersError
        first, last, step = each
        span = range(first, last + (1 if step > 0 else -1), step)
        if len(span) > len(members):
            raise UnknownMembersError
        places += span
    if len(places) > len(members) or any(not 0 <= place < len(members) for place in places):
        raise UnknownMembersError
    if keep:
        return [members[place] for place in places]
    out = set(places)
    return [each for place, each in enumerate(members) if place not in out]


def _unknown() -> list[int]:
    raise UnknownMembersError


_NO_GROUP = TracedGroup(_unknown, 0)
