"""Communicators of groups alone, without one around them: who calls with the same groups and the same tag, meets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_GROUP, ERR_RANK
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import Info
from fakempi.mpi.base.meeting import meet
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.comms.group import Group, members_of
from fakempi.mpi.failures.death import check_groups


class Together:
    """The members of one group after those of another."""

    __slots__ = ("sides",)

    def __init__(self, sides: list[Members]) -> None:
        self.sides = sides

    def __len__(self) -> int:
        return sum(map(len, self.sides))

    def __iter__(self) -> Iterator[int]:
        return chain(*self.sides)


def meet_as_groups(plan: str, stringtag: Any, *groups: Group) -> Context:
    """The context of a group, or of two, of which this rank is in the first: all of them meet."""
    if not isinstance(stringtag, str):
        raise complaint(ERR_ARG, f"stringtag is {stringtag!r}, not a string.", MPITypeError)
    process = running_process()
    members = [members_of(group) for group in groups]
    if process.number not in members[0]:
        raise complaint(ERR_GROUP, "this rank is not in the group.")
    if len(members) == 2 and (common := members[0].intersection(members[1])):
        raise complaint(ERR_GROUP, f"the two groups overlap: {process.universe.names.words(common, 6)} in both.")
    check_groups(process.universe, *members)
    sides = sorted(members, key=lambda one: one[0])
    mine: Any = members[0].index(process.number)
    place = mine if sides[0] is members[0] else mine + len(sides[0])
    arrival = meet(
        process.universe.meetings, (plan, *sides, stringtag), plan, Together(sides),
        lambda values: Context(process.universe, *sides), place, None, process.loop.now,
    )  # fmt: skip
    wait_one(process.loop, arrival)
    if arrival.error is not None:
        raise arrival.error
    context: Context = arrival.result
    return context


def check_leader(what: str, leader: int, group: Group) -> None:
    """Complain unless a leader is one of its group."""
    members: Members = members_of(group)
    if not 0 <= leader < len(members):
        raise complaint(ERR_RANK, f"{what} leader {leader} is not in 0..{len(members) - 1}.", MPIError)


def furnish(comm: Any, info: Info, errhandler: Errhandler | None) -> Any:
    """A new communicator, with what it was to have from the beginning."""
    if info:
        comm.Set_info(info)
    if errhandler is not None:
        comm.Set_errhandler(errhandler)
    return comm
