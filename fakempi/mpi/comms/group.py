"""Groups: ordered sets of processes, their algebra, and the translation of ranks between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Protocol

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_GROUP, ERR_RANK, ERR_SESSION
from fakempi.mpi.base.constants import IDENT, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.identity import Handled, Identity
from fakempi.mpi.base.members import EMPTY, Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error, range_error
from fakempi.mpi.base.resource_tracker import track, untrack

if TYPE_CHECKING:
    from typing_extensions import Self


class HasProcessSets(Protocol):
    """The method of a `Session` that this package calls; the class is in a higher package."""

    def Create_group(self, pset_name: str) -> Group:
        """Return the group of a process set."""


class Group(Handled["Group"]):
    """An ordered set of processes; the position of a process is its rank."""

    __slots__ = ("__weakref__", "_identity", "_me", "_members")

    _members: Members | None  # None: the null group
    _me: int | None  # the number of the process this object belongs to, None outside a run
    _identity: object | None

    def __new__(cls, group: Group | None = None) -> Self:
        if group is not None and not isinstance(group, Group):
            raise mpi_error(ERR_GROUP, f"cannot create a Group from {group!r}.", MPITypeError)
        self = super().__new__(cls)
        self._members = None if group is None else group._members
        self._me = None if group is None else group._me
        self._identity = None if group is None else group._identity
        return self

    @classmethod
    def _make(cls, members: Members, process_number: int | None, identity: object | None = None) -> Self:
        """Return a group of these members as seen by a process. Groups returned by a communicator are equal if identical."""
        self = cls()
        self._members, self._me = members, process_number
        self._identity = members if identity is None else identity
        if members:
            track("group-leak", self._identity)
        return self

    @classmethod
    def _new(cls, members: Members) -> Self:
        """Return a group made by a program, equal only to itself; there is only one empty group."""
        return cls._make(members, running_process().number, Identity() if members else EMPTY)

    def _mpi_object(self) -> object | None:
        return None if self._members is None else self._identity

    @property
    def _shared(self) -> bool:
        return self._members is EMPTY

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, group in (("GROUP_NULL", GROUP_NULL), ("GROUP_EMPTY", GROUP_EMPTY)):
            if self is group:
                return name
            if self == group:
                return type(self), (group,)
        raise mpi_error(ERR_GROUP, "a Group cannot be pickled: it is only valid in this process.", MPIValueError)

    def __repr__(self) -> str:
        if self._members is None:
            return "<Group: null>"
        return f"<Group: rank {self._my_rank()} of {len(self._members)}>"

    # -- members -----------------------------------------------------------------------------------------------------

    def Get_size(self) -> int:
        """Return the number of processes in the group."""
        return len(members_of(self))

    def Get_rank(self) -> int:
        """Return the calling process's rank in the group, or UNDEFINED if it is not a member."""
        members_of(self)
        rank = self._my_rank()
        return UNDEFINED if rank is None else rank

    @property
    def size(self) -> int:
        """The number of processes in the group."""
        return len(members_of(self))

    @property
    def rank(self) -> int:
        """The calling process's rank in the group, or UNDEFINED if it is not a member."""
        return self.Get_rank()

    def Translate_ranks(self, ranks: Sequence[int] | None = None, group: Group | None = None) -> list[int]:
        """Return the ranks of members in another group (COMM_WORLD's by default), UNDEFINED for non-members."""
        mine = members_of(self)
        theirs = _world() if group is None else members_of(group)
        chosen = range(len(mine)) if ranks is None else _integers(ranks)
        translated = []
        for rank in chosen:
            if rank == PROC_NULL:
                translated.append(PROC_NULL)
                continue
            rank_there = theirs.index(mine[_valid(rank, len(mine))])
            translated.append(UNDEFINED if rank_there is None else rank_there)
        return translated

    def Compare(self, group: Group) -> int:
        """Return IDENT if both have the same members in the same order, SIMILAR if in another order, else UNEQUAL."""
        mine, theirs = members_of(self), members_of(group)
        if mine == theirs:
            return IDENT
        alike = len(mine) == len(theirs) and all(number in theirs for number in mine)
        return SIMILAR if alike else UNEQUAL

    # -- new groups --------------------------------------------------------------------------------------------------

    def Dup(self) -> Self:
        """Return another group of the same members."""
        return self._new(members_of(self))

    @classmethod
    def Union(cls, group1: Group, group2: Group) -> Self:
        """Return the members of the first group, then those of the second that are not in the first."""
        return cls._new(members_of(group1).union(members_of(group2)))

    @classmethod
    def Intersection(cls, group1: Group, group2: Group) -> Self:
        """Return the members of both groups, in the order of the first."""
        return cls._new(members_of(group1).intersection(members_of(group2)))

    @classmethod
    def Intersect(cls, group1: Group, group2: Group) -> Self:
        """Return the members of both groups, in the order of the first."""
        return cls.Intersection(group1, group2)

    @classmethod
    def Difference(cls, group1: Group, group2: Group) -> Self:
        """Return the members of the first group that are not in the second, in the order of the first."""
        return cls._new(members_of(group1).difference(members_of(group2)))

    def Incl(self, ranks: Sequence[int]) -> Self:
        """Return the group of the members with these ranks, in that order."""
        members = members_of(self)
        return self._new(members.take(_distinct(_integers(ranks), len(members))))

    def Excl(self, ranks: Sequence[int]) -> Self:
        """Return the group of all members except those with these ranks."""
        members = members_of(self)
        return self._new(_without(members, _distinct(_integers(ranks), len(members))))

    def Range_incl(self, ranks: Sequence[tuple[int, int, int]]) -> Self:
        """Return the group of the ranks in the ranges (first, last, stride), in that order."""
        members = members_of(self)
        return self._new(members.take(_expand_ranges(ranks, len(members))))

    def Range_excl(self, ranks: Sequence[tuple[int, int, int]]) -> Self:
        """Return the group of all members except the ranks in the ranges (first, last, stride)."""
        members = members_of(self)
        return self._new(_without(members, _expand_ranges(ranks, len(members))))

    @classmethod
    def Create_from_session_pset(cls, session: HasProcessSets, pset_name: str) -> Self:
        """Return the group of a session's process set."""
        create_group = getattr(session, "Create_group", None)
        if create_group is None:
            raise mpi_error(ERR_SESSION, f"session is {session!r}, not a Session.", MPITypeError)
        return cls(create_group(pset_name))

    def Free(self) -> None:
        """Free the group: this object becomes null."""
        members_of(self)
        self.free()

    def free(self) -> None:
        """Free the group; do nothing if it is null."""
        if self is not GROUP_EMPTY:
            untrack("group-leak", self._identity)
            self._members = self._me = self._identity = None

    def _my_rank(self) -> int | None:
        return None if self._members is None or self._me is None else self._members.index(self._me)


def members_of(group: Group) -> Members:
    """Return the members of a group; raise an error for the null group or another object."""
    if not isinstance(group, Group):
        raise mpi_error(ERR_GROUP, f"{group!r} is not a Group.", MPITypeError)
    if group._members is None:
        raise mpi_error(ERR_GROUP, "the group is null: GROUP_NULL, or freed.")
    return group._members


def _world() -> Members:
    """Return the members of the running rank's COMM_WORLD."""
    members: Members = running_process().comm_world._local().members
    return members


def _integers(ranks: Iterable[int]) -> range | tuple[int, ...]:
    """Return ranks passed by the program, which must be integers. A range stays a range, which is the cheapest form."""
    if isinstance(ranks, range):
        return ranks
    try:
        return tuple(map(index, ranks))
    except TypeError:
        raise mpi_error(ERR_ARG, f"ranks are a sequence of integers, not {ranks!r}.", MPITypeError) from None


def _valid(rank: int, size: int) -> int:
    """Return the rank, which must be in the group."""
    if not 0 <= rank < size:
        ranks = f"its ranks are 0 to {size - 1}" if size else "it is empty"
        raise range_error(ERR_RANK, f"rank {rank} is not in the group: {ranks}.", rank)
    return rank


def _distinct(ranks: range | tuple[int, ...], size: int) -> range | tuple[int, ...]:
    """Return the ranks, which must be in the group and distinct."""
    if isinstance(ranks, range):
        for end in (ranks[0], ranks[-1]) if ranks else ():
            _valid(end, size)
        return ranks
    first: dict[int, int] = {}
    for position, rank in enumerate(ranks):
        if first.setdefault(_valid(rank, size), position) != position:
            raise mpi_error(ERR_RANK, f"rank {rank} appears twice, at positions {first[rank]} and {position} of the list.")
    return ranks


def _expand_ranges(ranges: Iterable[Sequence[int]], size: int) -> range | tuple[int, ...]:
    """Return all ranks in the ranges (first, last, stride), which must be distinct."""
    triples = _triples(ranges)
    spread = [_range(number, triple, size) for number, triple in enumerate(triples)]
    if len(spread) == 1:
        return spread[0]
    seen: dict[int, int] = {}
    for number, ranks in enumerate(spread):
        for rank in ranks:
            if (before := seen.setdefault(rank, number)) != number:
                both = f"range {before} {triples[before]} and range {number} {triples[number]}"
                raise mpi_error(ERR_ARG, f"rank {rank} appears twice: in {both}.")
    return tuple(seen)


def _triples(ranges: Iterable[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Return ranges passed by the program, which must be triples of integers."""
    triples = []
    try:
        for triple in ranges:
            first, last, stride = map(index, triple)
            triples.append((first, last, stride))
            for value in triples[-1]:
                integer("an item of a range", value)
    except (TypeError, ValueError) as reason:
        kind = MPITypeError if isinstance(reason, TypeError) else MPIValueError
        sentence = f"ranges are a sequence of integer triples (first, last, stride), not {ranges!r}."
        raise mpi_error(ERR_ARG, sentence, kind) from None
    return triples


def _range(number: int, triple: tuple[int, int, int], size: int) -> range:
    """Return one range (first, last, stride): last need not be in it, and may exceed the group, but not be negative."""
    first, last, stride = triple
    if stride == 0:
        raise mpi_error(ERR_ARG, f"range {number} {triple} has stride 0.")
    if last < 0:
        raise mpi_error(ERR_ARG, f"range {number} {triple} ends at {last}, which is negative.")
    if (last - first) * stride < 0:
        raise mpi_error(ERR_ARG, f"range {number} {triple} does not get from {first} to {last} with stride {stride}.")
    ranks = range(first, last + (1 if stride > 0 else -1), stride)
    for end in (ranks[0], ranks[-1]):
        if not 0 <= end < size:
            raise mpi_error(ERR_ARG, f"range {number} {triple} includes rank {end}, but the group has {size} ranks.")
    return ranks


def _without(members: Members, ranks: range | tuple[int, ...]) -> Members:
    """Return the members except those at these ranks."""
    return members.difference(members.take(ranks))


GROUP_NULL = Group()
GROUP_EMPTY = Group._make(EMPTY, None)
