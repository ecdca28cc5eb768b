"""Intercommunicators: two groups, each of which sends to the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import ERR_COMM, ERR_NOT_SAME
from fakempi.mpi.base.call_matching import TAGS
from fakempi.mpi.base.context import Context, Side
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.region import recorded
from fakempi.mpi.collective.selection import Selection
from fakempi.mpi.comms.colors import by_color, check_comparable
from fakempi.mpi.comms.comm import Comm, check_result
from fakempi.mpi.comms.from_groups import check_leader, group_rendezvous, set_properties
from fakempi.mpi.comms.group import Group

if TYPE_CHECKING:
    from typing_extensions import Self

    from fakempi.mpi.comms.intracomm import Intracomm


class Intercomm(Comm):
    """A communicator between a local and a remote group. Ranks in calls are those of the remote group."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, comm: Comm | None = None) -> Self:
        self = super().__new__(cls, comm)
        if self and self.Is_intra():
            raise mpi_error(ERR_COMM, "expecting an intercommunicator, not an intracommunicator.", MPITypeError)
        return self

    @classmethod
    def Create_from_groups(
        cls, local_group: Group, local_leader: int, remote_group: Group, remote_leader: int,
        stringtag: str = "org.mpi4py", info: Info = INFO_NULL, errhandler: Errhandler | None = None,
    ) -> Intercomm:  # fmt: skip
        """Return an intercommunicator between two groups, all of whose ranks pass the same tag. Takes no modeled time."""
        check_leader("local", local_leader, local_group)
        check_leader("remote", remote_leader, remote_group)
        context = group_rendezvous("Create_from_groups", stringtag, local_group, remote_group)
        process = running_process()
        mine = int(process.number in context.sides[1].members)
        side, peer_side = context.sides[mine], context.sides[1 - mine]
        rank: int = side.members.index(process.number)  # type: ignore[assignment]  # this process is a member
        return set_properties(cls._make(process, side, peer_side, rank), info, errhandler)

    def Get_remote_group(self) -> Group:
        """Return the remote group."""
        return Group._make(self._remote().members, self._process.number)

    def Get_remote_size(self) -> int:
        """Return the number of ranks in the remote group."""
        return len(self._remote().members)

    @property
    def remote_group(self) -> Group:
        """The remote group."""
        return self.Get_remote_group()

    @property
    def remote_size(self) -> int:
        """The number of ranks in the remote group."""
        return self.Get_remote_size()

    def Create(self, group: Group) -> Comm:
        """Return an intercommunicator between subgroups; all ranks of a side pass the same subgroup of that side."""
        members = self._check_group(group, self._local().members)
        context = self._rendezvous("Create", members, self._conclude_create)
        return self._handle_in(context)

    def Merge(self, high: bool = False) -> Intracomm:
        """Return an intracommunicator of both groups; the group that passes `high` gets the higher ranks.

        Takes no modeled time, unless an algorithm is specified (`algorithms={"merge": "chain"}`), which starts when all
        ranks have called.
        """
        here = self._local()
        choice = self._process.universe.state(Selection).choose_comm_creation("merge", len(here.members))
        context = self._rendezvous("Merge", bool(high), self._conclude_merge)
        if choice is not None:
            make = recorded(self, choice.make, "merge", algorithm=choice.algorithm.name)
            number, _ = make(*self._collective_comms(), bool(high), context.number, tag=here.calls[self._rank] % TAGS)
            check_result(number, context.number)
        side = context.sides[0]
        rank = side.members.index(self._process.number)
        merged: Intracomm = self._kinds[False]._make(self._process, side, side, rank)
        return merged

    def _split(self, call_name: str, color: object, key: object) -> Comm:
        check = partial(check_comparable, color=color, key=key, by_algorithm=False)
        contexts = self._rendezvous(call_name, (color, key), self._conclude_split, check)
        here = self._local()
        return self._handle_in(contexts.get(here.context.slot(here, self._rank)))

    # -- results --------------------------------------------------------------------------------------------------

    def _by_side(self, values: dict[int, Any]) -> tuple[dict[int, Any], dict[int, Any]]:
        """Return the values of each side, {rank: value}."""
        first = len(self._local().context.sides[0].members)
        return (
            {slot: values[slot] for slot in range(first)},
            {slot - first: values[slot] for slot in range(first, len(values))},
        )

    def _conclude_create(self, values: dict[int, Members]) -> Context | None:
        groups = []
        for side in self._by_side(values):
            if len(set(side.values())) != 1:
                raise MPIError(ERR_NOT_SAME, "Create: the ranks of one side of an intercommunicator pass different groups.")
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
        """Return {slot: context}, with one context for each color that both sides have."""
        old = self._local().context
        side_a, side_b = old.sides
        first, second = (by_color(side) for side in self._by_side(values))
        contexts = {}
        for color in first:
            if color not in second:
                continue
            context = Context(old.universe, side_a.members.take(first[color]), side_b.members.take(second[color]))
            slots = [*first[color], *(old.slot(side_b, rank) for rank in second[color])]
            contexts.update(dict.fromkeys(slots, context))
        return contexts

    # -- internal -------------------------------------------------------------------------------------------------

    def _remote(self) -> Side:
        self._check_alive()
        assert self._peer_side is not None
        return self._peer_side

    def _handle_in(self, context: Context | None) -> Comm:
        """Return this process's handle in a new context with the sides in the same order; null if it is not a member."""
        if context is None:
            return Intercomm()
        mine = self._local().context.sides.index(self._local())
        rank = context.sides[mine].members.index(self._process.number)
        if rank is None:
            return Intercomm()
        return Intercomm._make(self._process, context.sides[mine], context.sides[1 - mine], rank)


Comm._kinds[True] = Intercomm
