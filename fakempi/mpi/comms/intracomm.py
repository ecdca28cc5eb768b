"""Intracommunicators: one group."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fakempi.errors import InternalError, MPIError, MPITypeError
from fakempi.errors.classes import ERR_COMM, ERR_GROUP, ERR_NOT_SAME, ERR_PROC_FAILED, ERR_RANK
from fakempi.mpi.base.call_matching import BY_SOME_RANKS, TAGS
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.region import recorded, wait_region
from fakempi.mpi.base.rendezvous import Rendezvous, join_rendezvous
from fakempi.mpi.base.waiting import Completion, wait_one
from fakempi.mpi.collective.scans import Scans
from fakempi.mpi.collective.selection import Selection
from fakempi.mpi.comms.colors import (
    ValueTypes,
    by_color,
    check_comparable,
    encoded_color,
    encoded_key,
    plain,
    value_types_of,
)
from fakempi.mpi.comms.comm import Comm, check_result
from fakempi.mpi.comms.from_groups import group_rendezvous, set_properties
from fakempi.mpi.comms.group import Group
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.ports import Connecting
from fakempi.mpi.comms.spawning import Spawning
from fakempi.mpi.comms.topology_makers import TopologyMakers
from fakempi.mpi.failures.kill import check_groups

if TYPE_CHECKING:
    from typing_extensions import Self


class Intracomm(TopologyMakers, Spawning, Connecting, Scans):
    """A communicator of one group: every rank can send to every rank, including itself."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, comm: Comm | None = None) -> Self:
        self = super().__new__(cls, comm)
        if self and self.Is_inter():
            raise mpi_error(ERR_COMM, "expecting an intracommunicator, not an intercommunicator.", MPITypeError)
        return self

    def Create(self, group: Group) -> Comm:
        """Return a communicator for the ranks of a group; COMM_NULL on other ranks. All ranks must call it."""
        old = self._local().members
        members = self._check_group(group, old)
        rank = members.index(self._process.number)
        color = None if rank is None else old.index(members[0])
        choice = self._process.universe.state(Selection).choose_split(self._n_peers)
        arrival = self._arrive("Create", members, self._contexts_of)
        if choice is None:
            return self._handle_in(self._rendezvous_result(arrival).get(members))
        result = self._run_split(choice, self._tag_of_split(), ValueTypes(), color, rank or 0)
        context = self._rendezvous_result(arrival).get(members)
        if (mismatch := self._mismatch(None if color is None else context, result)) is not None:
            raise mpi_error(ERR_GROUP, f"ranks pass inconsistent groups: {mismatch}")
        return self._handle_in(context)

    def Create_group(self, group: Group, tag: int = 0) -> Intracomm:
        """Return a communicator for the ranks of a group; only these need to call it. COMM_NULL on other ranks.

        Takes no modeled time, unless an algorithm is specified (`algorithms={"create_group": "chain"}`). The algorithm
        starts when all members have called.
        """
        context = self._local().context
        self._check_caller()
        self._check_tag(tag)
        members = self._check_group(group, self._local().members)
        rank = members.index(self._process.number)
        if rank is None:
            return Intracomm()
        check_groups(context.universe, members)
        loop, choice = self._loop, context.universe.state(Selection).choose_comm_creation("create_group", len(members))
        arrival = join_rendezvous(
            context.open_calls, ("Create_group", members, tag), "Create_group", members,
            lambda values: Context(context.universe, members), rank, None, loop.now,
        )  # fmt: skip
        self._rendezvous_result(arrival)
        if choice is not None:
            old = self._local().members
            left, right = (old.index(members[i]) if 0 <= i < len(members) else -1 for i in (rank - 1, rank + 1))
            make = recorded(self, choice.make, "create_group", algorithm=choice.algorithm.name)
            place = (rank, len(members), left, right)
            result = make(*self._collective_comms(), arrival.result.number, place=place, tag=BY_SOME_RANKS + tag % TAGS)
            check_result(result, arrival.result.number)
        return self._handle_in(arrival.result)

    @classmethod
    def Create_from_group(
        cls, group: Group, stringtag: str = "org.mpi4py", info: Info = INFO_NULL, errhandler: Errhandler | None = None
    ) -> Intracomm:
        """Return a communicator of a group, all of whose ranks pass the same tag. Takes no modeled time."""
        process, side = running_process(), group_rendezvous("Create_from_group", stringtag, group).sides[0]
        rank: int = side.members.index(process.number)  # type: ignore[assignment]  # this process is a member
        return set_properties(cls._make(process, side, side, rank), info, errhandler)

    def Create_intercomm(self, local_leader: int, peer_comm: Intracomm, remote_leader: int, tag: int = 0) -> Intercomm:
        """Return an intercommunicator of this group and another one; the two leaders communicate through `peer_comm`.

        Takes no modeled time, unless an algorithm is specified (`algorithms={"create_intercomm": "chain"}`). The
        algorithm starts when all ranks have called.
        """
        side = self._local()
        choice = self._process.universe.state(Selection).choose_comm_creation("create_intercomm", len(side.members))
        local_leader, tag = integer("local_leader", local_leader), integer("tag", tag, 0)
        if not 0 <= local_leader < len(side.members):
            self._raise(mpi_error(ERR_RANK, f"local leader {local_leader} is not in 0..{len(side.members) - 1}."))
        self._check_tag(tag)
        context: Context | MPIError | None = None
        if self._rank == local_leader:
            try:
                other = self._find_leader(peer_comm, remote_leader)
            except MPIError as error:
                context = error
            else:
                self._check_disjoint(peer_comm, other)
        try:
            self._rendezvous("Create_intercomm", (local_leader, tag), _agreed)
        except MPIError as error:
            if self._rank == local_leader and context is None and error.ierr == ERR_PROC_FAILED:
                self._arrive_as_leader(peer_comm, other, error)  # otherwise the other group would wait forever
            raise
        if self._rank == local_leader and context is None:
            try:
                context = self._rendezvous_of_leaders(peer_comm, other, tag)
            except MPIError as error:
                context = error
        context = self._rendezvous("Create_intercomm", context, lambda values: values[local_leader])
        if isinstance(context, MPIError):
            self._raise(context)
        index = 0 if context.sides[0].members == side.members else 1
        if choice is not None:
            known = (peer_comm._collective_comms()[0], list(side.members)) if self._rank == local_leader else (None, ())
            make = recorded(self, choice.make, "create_intercomm", algorithm=choice.algorithm.name)
            result = make(
                *self._collective_comms(), *known, context.number, leader=local_leader, remote_leader=remote_leader,
                peer_tag=BY_SOME_RANKS + TAGS + tag % TAGS, tag=side.calls[self._rank] % TAGS,
            )  # fmt: skip
            check_result(result, (context.number, list(context.sides[1 - index].members)))
        joined: Intercomm = Intercomm._make(self._process, context.sides[index], context.sides[1 - index], self._rank)
        return joined

    def _find_leader(self, peer: Comm, remote_leader: int) -> int:
        """Return the process number of the other leader."""
        if not isinstance(peer, Comm) or peer._context is None:
            raise mpi_error(ERR_COMM, "the leader's peer communicator is null.")
        peer._check_rank(integer("remote_leader", remote_leader, 0), "remote leader")
        assert peer._peer_side is not None
        other: int = peer._peer_side.members[remote_leader]
        if self._process.number == other:
            raise mpi_error(ERR_RANK, f"remote leader {remote_leader} of the peer communicator is this rank itself.")
        return other

    def _check_disjoint(self, peer: Comm, other: int) -> None:
        """Raise an error if the groups overlap. The rendezvous would deadlock, because a rank cannot make both calls."""
        own, members = self._process.number, self._local().members
        groups = peer._context.open_calls.setdefault(("groups", min(own, other), max(own, other)), {})
        groups[own] = members
        if common := [number for number in groups.get(other, ()) if number in members]:
            ranks = ", ".join(self._process.universe.names.short(number) for number in common[:5])
            overlap = f"world rank {ranks} is" if len(common) == 1 else f"world ranks {ranks} are"
            self._raise(mpi_error(ERR_GROUP, f"the two groups overlap: {overlap} in both."))

    def _rendezvous_of_leaders(self, peer: Comm, other: int, tag: int) -> Context:
        """Return the context with both groups as its sides, after a rendezvous of the leaders."""
        arrival = self._arrive_as_leader(peer, other, tag)
        with wait_region(self._process, "create_intercomm"):
            wait_one(self._loop, arrival)
        if arrival.error is not None:
            raise arrival.error
        return arrival.result  # type: ignore[no-any-return]  # results of a rendezvous are Any

    def _arrive_as_leader(self, peer: Comm, other: int, tag: int | MPIError) -> Completion:
        """Enter the rendezvous of the leaders with a tag, or with an error of this group; return the awaited operation."""
        own, universe, loop, table = self._process.number, self._process.universe, self._loop, peer._context.open_calls
        pair = min(own, other), max(own, other)
        check_groups(universe, pair)

        def conclude(tags: dict[int, Any]) -> Context:
            groups = table.pop(("groups", *pair))
            for error in tags.values():
                if isinstance(error, MPIError):
                    raise MPIError(error.ierr, f"Create_intercomm: {str(error).partition(': ')[2]}")
            if tags[0] != tags[1]:
                first, second = (universe.names.short(number) for number in pair)
                mismatch = f"leader {first} passes tag {tags[0]}, leader {second} passes tag {tags[1]}"
                raise MPIError(ERR_NOT_SAME, f"Create_intercomm: {mismatch}.")
            return Context(universe, *(groups[number] for number in pair))

        key = ("Create_intercomm", *pair)
        return join_rendezvous(table, key, "Create_intercomm", pair, conclude, int(own > other), tag, loop.now)

    def _split(self, call_name: str, color: Any, key: Any) -> Intracomm:
        self._check_alive()
        choice = self._process.universe.state(Selection).choose_split(self._n_peers)
        color_value = color
        if choice is not None and call_name == "Split_type" and color is not None:
            color_value = plain("color", color[0])  # the cost model's name of the node, which may have any type
        check = partial(check_comparable, color=color_value, key=key, by_algorithm=choice is not None)
        arrival = self._arrive(call_name, (color, key), self._conclude_split, check)
        if choice is None:
            return self._handle_in(self._rendezvous_result(arrival).get(self._rank))
        tag = self._tag_of_split()
        rendezvous = arrival.why
        assert isinstance(rendezvous, Rendezvous)
        if color is None and not rendezvous.declared and arrival.end is None:
            # A rank without a color takes the types of colors and keys from the first rank that declares them.
            with wait_region(self._process, call_name.lower()):
                wait_one(self._loop, rendezvous.first_declaration())
        value_types = value_types_of(rendezvous)
        result = self._run_split(choice, tag, value_types, color_value, key)
        contexts: dict[int, Context] = self._rendezvous_result(arrival)
        context = contexts.get(self._rank)
        if (mismatch := self._mismatch(context, result)) is not None:
            raise InternalError(f"split: {mismatch}")
        return self._handle_in(context)

    def _run_split(self, choice: Any, tag: int, value_types: ValueTypes, color: Any, key: Any) -> tuple[int, int] | None:
        """Run a split algorithm on the collective context; return the rank and the size that it finds."""
        split = recorded(self, choice.split, "split", algorithm=choice.algorithm.name)
        data = (None, 0) if color is None else (encoded_color(color), encoded_key(key))
        comms = self._collective_comms()
        whole, compare = value_types.are_numbers, value_types.compare
        result: tuple[int, int] | None = split(*comms, *data, tag, whole=whole, compare=compare)
        return result

    def _tag_of_split(self) -> int:
        """Return the tag of a split that this rank has entered."""
        calls, rank = self._local().calls, self._rank
        tag = calls[rank] % TAGS
        calls[rank] += 1  # a split uses two tags
        return tag

    def _conclude_split(self, values: dict[int, tuple[Any, Any]]) -> dict[int, Context]:
        """Return {rank: context}, with one context per color."""
        old = self._local()
        universe, contexts = old.context.universe, {}
        for ranks in by_color(values).values():
            contexts.update(dict.fromkeys(ranks, Context(universe, old.members.take(ranks))))
        return contexts

    def _contexts_of(self, values: dict[int, Members]) -> dict[Members, Context]:
        """Return {members: new context} for the groups that ranks pass; all members of a group must pass that group."""
        universe, old = self._local().context.universe, self._local().members
        for members in dict.fromkeys(values.values()):
            for rank in map(old.index, members):
                if rank is not None and values[rank] != members:
                    slot = next(slot for slot, given in values.items() if given == members)
                    rank_name, member_name = (universe.names.name(old[i]) for i in (slot, rank))
                    raise MPIError(
                        ERR_GROUP,
                        f"Create: {rank_name} passes a group of {len(members)} ranks that contains {member_name}, but "
                        f"{member_name} passes a different group, of {len(values[rank])} ranks: all members of a group must "
                        "pass that group.",
                    )
        return {members: Context(universe, members) for members in dict.fromkeys(values.values())}

    def _mismatch(self, context: Context | None, result: tuple[int, int] | None) -> str | None:
        """Return a message if an algorithm has not found this process's rank and size in the context; otherwise None."""
        members = Members.of([]) if context is None else context.sides[0].members
        rank = members.index(self._process.number)
        if result == (None if rank is None else (rank, len(members))):
            return None
        return f"the algorithm returned {result} (rank, size), expected rank {rank} of {len(members)}."

    def _handle_in(self, context: Context | None) -> Intracomm:
        """Return this process's handle in a new context; null if it is not a member."""
        rank = None if context is None else context.sides[0].members.index(self._process.number)
        if context is None or rank is None:
            return Intracomm()
        return Intracomm._make(self._process, context.sides[0], context.sides[0], rank)


Comm._kinds[False] = Intracomm


def _agreed(values: dict[int, Any]) -> Any:
    """Return the value that all ranks passed; raise an error if they differ."""
    (slot, first), *others = values.items()
    for other, value in others:
        if value != first:
            raise MPIError(
                ERR_NOT_SAME,
                f"Create_intercomm: local leader and tag are {first} on rank {slot}, but {value} on rank {other}.",
            )
    return first
