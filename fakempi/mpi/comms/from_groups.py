"""Communicators from groups, without a parent communicator: calls with the same groups and the same tag match."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TypeVar

from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import ERR_ARG, ERR_GROUP, ERR_RANK
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.rendezvous import GroupRendezvous, join_rendezvous
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.group import Group, members_of
from fakempi.mpi.failures.kill import check_groups

C = TypeVar("C", bound=Comm)


class JoinedMembers:
    """The members of one group after those of another."""

    __slots__ = ("sides",)

    def __init__(self, sides: list[Members]) -> None:
        self.sides = sides

    def __len__(self) -> int:
        return sum(map(len, self.sides))

    def __iter__(self) -> Iterator[int]:
        return chain(*self.sides)


def group_rendezvous(call_name: str, stringtag: object, *groups: Group) -> Context:
    """Return the context of one or two groups, after a rendezvous of all members; this rank is in the first group."""
    if not isinstance(stringtag, str):
        raise mpi_error(ERR_ARG, f"stringtag is {stringtag!r}, not a string.", MPITypeError)
    process = running_process()
    members = [members_of(group) for group in groups]
    if process.number not in members[0]:
        raise mpi_error(ERR_GROUP, "this rank is not in the group.")
    if len(members) == 2 and (common := members[0].intersection(members[1])):
        overlap = f"{process.universe.names.text(common, 6)} {'is' if len(common) == 1 else 'are'} in both"
        raise mpi_error(ERR_GROUP, f"the two groups overlap: {overlap}.")
    check_groups(process.universe, *members)
    sides = sorted(members, key=lambda side: side[0])
    own_rank: int = members[0].index(process.number)  # type: ignore[assignment]  # this process is a member
    slot = own_rank if sides[0] is members[0] else own_rank + len(sides[0])
    arrival = join_rendezvous(
        process.universe.state(GroupRendezvous).table, (call_name, *sides, stringtag), call_name, JoinedMembers(sides),
        lambda values: Context(process.universe, *sides), slot, None, process.loop.now,
    )  # fmt: skip
    with wait_region(process, call_name.lower()):
        wait_one(process.loop, arrival)
    if arrival.error is not None:
        raise arrival.error
    context: Context = arrival.result
    return context


def check_leader(side: str, leader: int, group: Group) -> None:
    """Raise an error unless a leader is in its group."""
    members: Members = members_of(group)
    leader = integer(f"{side}_leader", leader)
    if not 0 <= leader < len(members):
        raise mpi_error(ERR_RANK, f"{side} leader {leader} is not in 0..{len(members) - 1}.", MPIError)


def set_properties(comm: C, info: Info, errhandler: Errhandler | None) -> C:
    """Set the initial info and error handler of a new communicator; return it."""
    if info is not INFO_NULL and info is not None:
        comm.Set_info(info)
    if errhandler is not None:
        comm.Set_errhandler(errhandler)
    return comm
