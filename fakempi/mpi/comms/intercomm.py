"""Intercommunicators: two groups, each of which sends to the other."""

from __future__ import annotations

from functools import partial
from typing import Any

from fakempi.error_classes import ERR_COMM, ERR_NOT_SAME
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base.agreement import TAGS
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.context import Context, Side
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.region import recorded
from fakempi.mpi.comms.colours import by_colour, check_alike
from fakempi.mpi.comms.comm import Comm, check_made
from fakempi.mpi.comms.from_groups import check_leader, furnish, meet_as_groups
from fakempi.mpi.comms.group import Group


class Intercomm(Comm):
    """A communicator between a local and a remote group. Ranks in calls are those of the remote group."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, comm: Comm | None = None) -> Any:
        self = super().__new__(cls, comm)
        if self and self.Is_intra():
            raise complaint(ERR_COMM, "expecting an intercommunicator, not an intracommunicator.", MPITypeError)
        return self

    @classmethod
    def Create_from_groups(
        cls, local_group: Group, local_leader: int, remote_group: Group, remote_leader: int,
        stringtag: str = "org.mpi4py", info: Info = INFO_NULL, errhandler: Errhandler | None = None,
    ) -> Any:  # fmt: skip
        """An intercommunicator between two groups, all of whose ranks call this with the same tag. Free in modelled time."""
        check_leader("local", local_leader, local_group)
        check_leader("remote", remote_leader, remote_group)
        context = meet_as_groups("Create_from_groups", stringtag, local_group, remote_group)
        process = running_process()
        mine = int(process.number in context.sides[1].members)
        here, there = context.sides[mine], context.sides[1 - mine]
        rank: Any = here.members.index(process.number)
        return furnish(cls._make(process, here, there, rank), info, errhandler)

    def Get_remote_group(self) -> Group:
        """The other group."""
        return Group._make(self._remote().members, self._process.number)

    def Get_remote_size(self) -> int:
        """The number of ranks in the other group."""
        return len(self._remote().members)

    remote_group = property(Get_remote_group)
    remote_size = property(Get_remote_size)

    def Create(self, group: Group) -> Any:
        """An intercommunicator between subgroups; each side names its own, and all of a side the same."""
        members = self._check_group(group, self._local().members)
        context = self._meet("Create", members, self._conclude_create)
        return self._take_place(context)

    def Merge(self, high: bool = False) -> Any:
        """An intracommunicator of both groups; the group that says `high` gets the higher ranks.

        Free, unless an algorithm is asked for (`algorithms={"merge": "chain"}`), which begins when all have come.
        """
        here = self._local()
        choice = self._process.universe.choose_making("merge", len(here.members))
        context = self._meet("Merge", bool(high), self._conclude_merge)
        if choice is not None:
            make = recorded(self, choice.make, "merge", algorithm=choice.algorithm.name)
            number, _ = make(*self._twins(), bool(high), context.number, tag=here.calls[self._rank] % TAGS)
            check_made(number, context.number)
        side = context.sides[0]
        rank = side.members.index(self._process.number)
        return self._kinds[False]._make(self._process, side, side, rank)

    def _split(self, plan: str, color: Any, key: Any) -> Any:
        check = partial(check_alike, color=color, key=key, asked=False)
        contexts = self._meet(plan, (color, key), self._conclude_split, check)
        here = self._local()
        return self._take_place(contexts.get(here.context.place(here, self._rank)))

    # -- conclusions ----------------------------------------------------------------------------------------------

    def _by_side(self, values: dict[int, Any]) -> tuple[dict[int, Any], dict[int, Any]]:
        """What the ranks of each side brought, by rank."""
        first = len(self._local().context.sides[0].members)
        return (
            {place: values[place] for place in range(first)},
            {place - first: values[place] for place in range(first, len(values))},
        )

    def _conclude_create(self, values: dict[int, Members]) -> Context | None:
        groups = []
        for side in self._by_side(values):
            if len(set(side.values())) != 1:
                raise MPIError(ERR_NOT_SAME, "Create: the ranks of one side of an intercommunicator name different groups.")
            groups.append(side[0])
        return Context(self._local().context.universe, *groups) if all(len(group) for group in groups) else None

    def _conclude_merge(self, values: dict[int, bool]) -> Context:
        highs = []
        for side in self._by_side(values):
            if len(set(side.values())) != 1:
                raise MPIError(ERR_NOT_SAME, "Merge: the ranks of one side disagree on `high`.")
            highs.append(side[0])
        old = self._local().context
        order = (1, 0) if highs[0] and not highs[1] else (0, 1)
        return Context(old.universe, Members.of([number for i in order for number in old.sides[i].members]))

    def _conclude_split(self, values: dict[int, tuple[Any, Any]]) -> dict[int, Context]:
        """One context for each colour that both sides have, by place."""
        old = self._local().context
        one, two = old.sides
        first, second = (by_colour(side) for side in self._by_side(values))
        found = {}
        for color in first:
            if color not in second:
                continue
            context = Context(old.universe, one.members.take(first[color]), two.members.take(second[color]))
            places = [*first[color], *(old.place(two, rank) for rank in second[color])]
            found.update(dict.fromkeys(places, context))
        return found

    # -- inside ---------------------------------------------------------------------------------------------------

    def _remote(self) -> Side:
        self._check_alive()
        assert self._there is not None
        return self._there

    def _take_place(self, context: Context | None) -> Any:
        """This process's handle in a new context with the sides in the same order; null if it is not in it."""
        if context is None:
            return Intercomm()
        mine = self._local().context.sides.index(self._local())
        rank = context.sides[mine].members.index(self._process.number)
        if rank is None:
            return Intercomm()
        return Intercomm._make(self._process, context.sides[mine], context.sides[1 - mine], rank)


Comm._kinds[True] = Intercomm
