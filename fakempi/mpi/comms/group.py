"""Groups: ordered sets of processes, their algebra, and the translation of ranks between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from fakempi.error_classes import ERR_ARG, ERR_GROUP, ERR_RANK
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import IDENT, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.identity import Handled, Identity
from fakempi.mpi.base.members import EMPTY, Members

if TYPE_CHECKING:
    from typing_extensions import Self


class Group(Handled):
    """An ordered set of processes; a process's place in it is its rank."""

    __slots__ = ("__weakref__", "_identity", "_me", "_members")

    _members: Members | None  # None: the null group
    _me: int | None  # the number of the process this object belongs to, None outside a run
    _identity: object | None

    def __new__(cls, group: Group | None = None) -> Self:
        if group is not None and not isinstance(group, Group):
            raise complaint(ERR_GROUP, f"cannot make a Group of {group!r}.", MPITypeError)
        self = super().__new__(cls)
        self._members = None if group is None else group._members
        self._me = None if group is None else group._me
        self._identity = None if group is None else group._identity
        return self

    @classmethod
    def _make(cls, members: Members, process_number: int | None, identity: object | None = None) -> Self:
        """A group of these members as seen by a process. Groups that a communicator hands out are equal if alike."""
        self = cls()
        self._members, self._me = members, process_number
        self._identity = members if identity is None else identity
        if members:
            owes("group-leak", self._identity)
        return self

    @classmethod
    def _new(cls, members: Members) -> Self:
        """A group that a program made, equal to itself alone; but there is only one empty group."""
        return cls._make(members, running_process().number, Identity() if members else EMPTY)

    def _stands_for(self) -> object | None:
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
        raise complaint(ERR_GROUP, "a Group cannot be pickled: it means nothing to another process.", MPIValueError)

    def __repr__(self) -> str:
        if self._members is None:
            return "<Group: null>"
        return f"<Group: rank {self._my_rank()} of {len(self._members)}>"

    # -- what is in it -----------------------------------------------------------------------------------------------

    def Get_size(self) -> int:
        """How many processes are in the group."""
        return len(members_of(self))

    def Get_rank(self) -> int:
        """The calling process's place in the group, or UNDEFINED if it is not a member."""
        members_of(self)
        rank = self._my_rank()
        return UNDEFINED if rank is None else rank

    size = property(Get_size)
    rank = property(Get_rank)

    def Translate_ranks(self, ranks: Sequence[int] | None = None, group: Group | None = None) -> list[int]:
        """The places that members of this group have in another (COMM_WORLD's by default), UNDEFINED if none."""
        mine = members_of(self)
        theirs = _world() if group is None else members_of(group)
        chosen = range(len(mine)) if ranks is None else _integers(ranks)
        translated = []
        for rank in chosen:
            if rank == PROC_NULL:
                translated.append(PROC_NULL)
                continue
            place = theirs.index(mine[_valid(rank, len(mine))])
            translated.append(UNDEFINED if place is None else place)
        return translated

    def Compare(self, group: Group) -> int:
        """IDENT if both have the same members in the same order, SIMILAR if in another order, else UNEQUAL."""
        mine, theirs = members_of(self), members_of(group)
        if mine == theirs:
            return IDENT
        alike = len(mine) == len(theirs) and all(number in theirs for number in mine)
        return SIMILAR if alike else UNEQUAL

    # -- new groups --------------------------------------------------------------------------------------------------

    def Dup(self) -> Self:
        """Another group of the same members."""
        return self._new(members_of(self))

    @classmethod
    def Union(cls, group1: Group, group2: Group) -> Self:
        """All of the first group, then those of the second that are not in the first."""
        return cls._new(members_of(group1).union(members_of(group2)))

    @classmethod
    def Intersection(cls, group1: Group, group2: Group) -> Self:
        """Those of the first group that are in the second too, in the order of the first."""
        return cls._new(members_of(group1).intersection(members_of(group2)))

    @classmethod
    def Intersect(cls, group1: Group, group2: Group) -> Self:
        """Those of the first group that are in the second too, in the order of the first."""
        return cls.Intersection(group1, group2)

    @classmethod
    def Difference(cls, group1: Group, group2: Group) -> Self:
        """Those of the first group that are not in the second, in the order of the first."""
        return cls._new(members_of(group1).difference(members_of(group2)))

    def Incl(self, ranks: Sequence[int]) -> Self:
        """The members with these ranks, in that order."""
        members = members_of(self)
        return self._new(members.take(_distinct(_integers(ranks), len(members))))

    def Excl(self, ranks: Sequence[int]) -> Self:
        """All members but those with these ranks."""
        members = members_of(self)
        return self._new(_without(members, _distinct(_integers(ranks), len(members))))

    def Range_incl(self, ranks: Sequence[tuple[int, int, int]]) -> Self:
        """The members whose ranks the ranges (first, last, stride) run through, in that order."""
        members = members_of(self)
        return self._new(members.take(_spread(ranks, len(members))))

    def Range_excl(self, ranks: Sequence[tuple[int, int, int]]) -> Self:
        """All members but those whose ranks the ranges (first, last, stride) run through."""
        members = members_of(self)
        return self._new(_without(members, _spread(ranks, len(members))))

    @classmethod
    def Create_from_session_pset(cls, session: Any, pset_name: str) -> Self:
        """The group of a set of processes that a session knows by name."""
        return cls(session.Create_group(pset_name))

    def Free(self) -> None:
        """Let go of the group: this object becomes null."""
        members_of(self)
        self.free()

    def free(self) -> None:
        """As `Free`, but a null group is left in peace."""
        if self is not GROUP_EMPTY:
            done("group-leak", self._identity)
            self._members = self._me = self._identity = None

    def _my_rank(self) -> int | None:
        return None if self._members is None or self._me is None else self._members.index(self._me)


def members_of(group: Group) -> Members:
    """The members of what must be a group and not the null one."""
    if not isinstance(group, Group):
        raise complaint(ERR_GROUP, f"{group!r} is not a Group.", MPITypeError)
    if group._members is None:
        raise complaint(ERR_GROUP, "the group is null: GROUP_NULL, or freed.")
    return group._members


def _world() -> Members:
    """The members of the running rank's COMM_WORLD."""
    members: Members = running_process().comm_world._local().members
    return members


def _integers(ranks: Iterable[int]) -> range | tuple[int, ...]:
    """The ranks a program gave, which must be integers. A range stays one: it is the cheap way to say it."""
    if isinstance(ranks, range):
        return ranks
    try:
        return tuple(map(index, ranks))
    except TypeError:
        raise complaint(ERR_ARG, f"ranks are a sequence of integers, not {ranks!r}.", MPITypeError) from None


def _valid(rank: int, size: int) -> int:
    """The rank, which must be one of the group's."""
    if not 0 <= rank < size:
        ranks = f"its ranks are 0 to {size - 1}" if size else "it is empty"
        raise complaint(ERR_RANK, f"rank {rank} is not in the group: {ranks}.")
    return rank


def _distinct(ranks: range | tuple[int, ...], size: int) -> range | tuple[int, ...]:
    """The ranks, each of which must be one of the group's and come once."""
    if isinstance(ranks, range):
        for end in (ranks[0], ranks[-1]) if ranks else ():
            _valid(end, size)
        return ranks
    first: dict[int, int] = {}
    for place, rank in enumerate(ranks):
        if first.setdefault(_valid(rank, size), place) != place:
            raise complaint(ERR_RANK, f"rank {rank} comes twice, at places {first[rank]} and {place} of the list.")
    return ranks


def _spread(ranges: Iterable[Sequence[int]], size: int) -> range | tuple[int, ...]:
    """All ranks that the ranges (first, last, stride) run through; none may come twice."""
    triples = _triples(ranges)
    spread = [_range(number, triple, size) for number, triple in enumerate(triples)]
    if len(spread) == 1:
        return spread[0]
    seen: dict[int, int] = {}
    for number, ranks in enumerate(spread):
        for rank in ranks:
            if (before := seen.setdefault(rank, number)) != number:
                both = f"range {before} {triples[before]} and range {number} {triples[number]}"
                raise complaint(ERR_ARG, f"rank {rank} comes twice: {both} both run through it.")
    return tuple(seen)


def _triples(ranges: Iterable[Sequence[int]]) -> list[tuple[int, int, int]]:
    """The ranges a program gave, which must be triples of integers."""
    triples = []
    try:
        for triple in ranges:
            first, last, stride = map(index, triple)
            triples.append((first, last, stride))
    except (TypeError, ValueError) as reason:
        kind = MPITypeError if isinstance(reason, TypeError) else MPIValueError
        sentence = f"ranges are a sequence of integer triples (first, last, stride), not {ranges!r}."
        raise complaint(ERR_ARG, sentence, kind) from None
    return triples


def _range(number: int, triple: tuple[int, int, int], size: int) -> range:
    """One range (first, last, stride): last need not be hit, and may lie beyond the group, but not below 0."""
    first, last, stride = triple
    if stride == 0:
        raise complaint(ERR_ARG, f"range {number} {triple} has stride 0.")
    if last < 0:
        raise complaint(ERR_ARG, f"range {number} {triple} ends at {last}, which is negative.")
    if (last - first) * stride < 0:
        raise complaint(ERR_ARG, f"range {number} {triple} never gets from {first} to {last} by steps of {stride}.")
    ranks = range(first, last + (1 if stride > 0 else -1), stride)
    for end in (ranks[0], ranks[-1]):
        if not 0 <= end < size:
            raise complaint(ERR_ARG, f"range {number} {triple} runs through rank {end}, the group has {size} ranks.")
    return ranks


def _without(members: Members, ranks: range | tuple[int, ...]) -> Members:
    """The members but for those at these ranks."""
    return members.difference(members.take(ranks))


GROUP_NULL = Group()
GROUP_EMPTY = Group._make(EMPTY, None)
