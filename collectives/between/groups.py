"""Two groups, A and B: whose part is whose, and schedules side by side.

The two sides of an intercommunicator are alike: no rank can tell by itself whether it is in A or in B, and two groups
of one size with blocks of one size cannot find out by messages either (whatever one does, the other does at the same
time). So an algorithm takes one of three ways: it is symmetric where the groups are alike; or its roles follow from
what both sides know (`comes_first`: the larger group is A, of two equal ones that with the larger blocks); or it asks
the caller, who knows what he made, by `first=True` in one group and `first=False` in the other, as Intercomm.Merge
asks for `high`. On paper (`Case`) A and B are given, and `first` says whether A comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import Any, TypeAlias

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.composite import first_misfit
from collectives.catalogue.schedule import Round, Schedule
from collectives.tools.protocol import Comm, Intercomm, Request

UNDECIDED = (
    "the groups are alike, {p} ranks each with as much to send: say first=True in one and first=False in the other"
)


class Part(Enum):
    """What the ranks of the root's group say in place of a root: MPI's ROOT and PROC_NULL, whose numbers differ."""

    ROOT = "root"
    PROC_NULL = "no part"


def comes_first(own: tuple[int, int], other: tuple[int, int], first: bool | None = None) -> bool | None:
    """Whether the own group takes A's part, given (ranks, elements to send) of both; None if that is open.

    >>> comes_first((6, 10), (2, 10)), comes_first((2, 10), (6, 10)), comes_first((2, 30), (2, 10))
    (True, False, True)
    >>> comes_first((2, 10), (2, 10)), comes_first((2, 10), (6, 10), first=True)
    (None, True)
    """
    if first is not None:
        return first
    return None if own == other else own > other


def check_local(inter: Intercomm, local: Comm) -> None:
    """Refuse a `local` that cannot be the own group of `inter`; as far as can be seen without a message."""
    place, own = (local.Get_rank(), local.Get_size()), (inter.Get_rank(), inter.Get_size())
    if place != own:
        raise ValueError(
            f"local must be the intercommunicator's own group, where this is rank {own[0]} of {own[1]}, "
            f"but in local it is rank {place[0]} of {place[1]}"
        )


def check_call(
    algorithm: Algorithm, inter: Intercomm, local: Comm, parameters: Mapping[str, Any], commutative: bool = True
) -> tuple[int, int]:
    """Refuse what is no own group and what the algorithm refuses; the sizes of the own group and of the other."""
    check_local(inter, local)
    own, other = inter.Get_size(), inter.Get_remote_size()
    algorithm.check(Case(own, q=other, commutative=commutative, parameters=parameters))
    return own, other


def a_comes_first(case: Case) -> bool | None:
    """The same on paper."""
    a, b = case.groups
    own, other = ((g.p, g.layout.size(0, g.p)) for g in (a, b))
    return comes_first(own, other, case.parameters.get("first"))


def placed(plan: Schedule | None, ranks: Sequence[int]) -> Iterator[Round]:
    """A group's schedule with the processes' own numbers: rank i of the group is process ranks[i]."""
    for transfers in plan or ():
        yield [t._replace(source=ranks[t.source], dest=ranks[t.dest]) for t in transfers]


Placed: TypeAlias = tuple[Algorithm, Case, Sequence[int]]
"""A part of an algorithm that one group, or a subset of one, runs by itself: and who they are on paper."""


def beside(parts: Sequence[Placed]) -> Schedule | None:
    """The schedules of parts that disjoint processes run at once, or the same ones after each other."""
    plans = [(algorithm.plan(case), ranks) for algorithm, case, ranks in parts]
    if any(plan is None for plan, _ in plans):
        return None
    return chain.from_iterable(placed(plan, ranks) for plan, ranks in plans)


def in_a_row(*plans: Schedule | None) -> Schedule | None:
    """One schedule after the other, if all are known."""
    known = [plan for plan in plans if plan is not None]
    return chain.from_iterable(known) if len(known) == len(plans) else None


def misfit(parts: Sequence[Placed]) -> str | None:
    """Why the parts cannot serve their cases."""
    return first_misfit([(algorithm, case) for algorithm, case, _ in parts])


def sent_in(parts: Sequence[Placed], rank: int) -> int | None:
    """Bytes that a process sends in its parts."""
    found = [algorithm.sent(case, ranks.index(rank)) for algorithm, case, ranks in parts if rank in ranks]
    known = [nbytes for nbytes in found if nbytes is not None]
    return sum(known) if len(known) == len(found) else None


def scratch_in(parts: Sequence[Placed], rank: int) -> int:
    """Scratch memory that a process uses in its parts."""
    return sum(algorithm.scratch(case, ranks.index(rank)) for algorithm, case, ranks in parts if rank in ranks)


def setting(case: Case, defaults: Mapping[str, Any], name: str) -> Any:
    """The case's value of a parameter, or the default: `Algorithm.parameter` for texts that several algorithms share."""
    return case.parameters.get(name, defaults[name])


def numbers(case: Case) -> tuple[range, range]:
    """The processes of A and of B on paper."""
    return range(case.p), range(case.p, case.ranks)


def place(case: Case, rank: int) -> tuple[bool, int]:
    """Whether a process on paper is in A, and its rank there."""
    return (True, rank) if rank < case.p else (False, rank - case.p)


class Subset:
    """Some ranks of a communicator as a communicator of their own: the same messages with other numbers."""

    def __init__(self, comm: Comm, ranks: Sequence[int], rank: int) -> None:
        self._comm = comm
        self._ranks = ranks
        self._rank = rank

    def Get_rank(self) -> int:
        return self._rank

    def Get_size(self) -> int:
        return len(self._ranks)

    def Send(self, buf: Any, dest: int, tag: int, /) -> object:
        return self._comm.Send(buf, self._ranks[dest], tag)

    def Recv(self, buf: Any, source: int, tag: int, /) -> object:
        return self._comm.Recv(buf, self._ranks[source], tag)

    def Ssend(self, buf: Any, dest: int, tag: int, /) -> object:
        return self._comm.Ssend(buf, self._ranks[dest], tag)

    def Isend(self, buf: Any, dest: int, tag: int, /) -> Request:
        return self._comm.Isend(buf, self._ranks[dest], tag)

    def Issend(self, buf: Any, dest: int, tag: int, /) -> Request:
        return self._comm.Issend(buf, self._ranks[dest], tag)

    def Irecv(self, buf: Any, source: int, tag: int, /) -> Request:
        return self._comm.Irecv(buf, self._ranks[source], tag)

    def Sendrecv(self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int, recvtag: int, /) -> object:
        return self._comm.Sendrecv(sendbuf, self._ranks[dest], sendtag, recvbuf, self._ranks[source], recvtag)
