"""Intracommunicators: one group."""

from __future__ import annotations

from functools import partial
from typing import Any

from fakempi.error_classes import ERR_COMM, ERR_GROUP, ERR_NOT_SAME, ERR_PROC_FAILED, ERR_RANK
from fakempi.errors import InternalError, MPIError, MPITypeError
from fakempi.mpi.base.agreement import MAKING, TAGS
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.meeting import Meeting, meet
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.region import recorded
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.collective.scans import Scans
from fakempi.mpi.comms.colours import Forms, by_colour, check_alike, forms_said, plain, written_colour, written_key
from fakempi.mpi.comms.comm import Comm, check_made
from fakempi.mpi.comms.from_groups import furnish, meet_as_groups
from fakempi.mpi.comms.group import Group
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.ports import Connecting
from fakempi.mpi.comms.spawning import Spawning
from fakempi.mpi.comms.topology_makers import TopologyMakers
from fakempi.mpi.failures.death import check_groups


class Intracomm(TopologyMakers, Spawning, Connecting, Scans):
    """A communicator of one group: everybody can send to everybody, oneself included."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, comm: Comm | None = None) -> Any:
        self = super().__new__(cls, comm)
        if self and self.Is_inter():
            raise complaint(ERR_COMM, "expecting an intracommunicator, not an intercommunicator.", MPITypeError)
        return self

    def Create(self, group: Group) -> Any:
        """A communicator for the ranks of a group, called by all; the null one for those outside it."""
        old = self._local().members
        members = self._check_group(group, old)
        rank = members.index(self._process.number)
        color = None if rank is None else old.index(members[0])
        choice = self._process.universe.choose_split(self._reach)
        arrival = self._arrive("Create", members, self._contexts_of)
        if choice is None:
            return self._join(self._concluded(arrival).get(members))
        found = self._run_split(choice, self._tag_of_split(), Forms(), color, rank or 0)
        context = self._concluded(arrival).get(members)
        if (words := self._other_place(None if color is None else context, found)) is not None:
            raise complaint(ERR_GROUP, f"ranks give groups that do not fit together: {words}")
        return self._join(context)

    def Create_group(self, group: Group, tag: int = 0) -> Any:
        """A communicator for the ranks of a group, called by them alone; the null one for a rank that is not in it.

        Free, unless an algorithm is asked for (`algorithms={"create_group": "chain"}`), which begins when all have come.
        """
        context = self._local().context
        self._check_caller()
        members = self._check_group(group, self._local().members)
        rank = members.index(self._process.number)
        if rank is None:
            return Intracomm()
        check_groups(context.universe, members)
        loop, choice = self._loop, context.universe.choose_making("create_group", len(members))
        arrival = meet(
            context.meetings, ("Create_group", members, tag), "Create_group", members,
            lambda values: Context(context.universe, members), rank, None, loop.now,
        )  # fmt: skip
        self._concluded(arrival)
        if choice is not None:
            old = self._local().members
            left, right = (old.index(members[i]) if 0 <= i < len(members) else -1 for i in (rank - 1, rank + 1))
            make = recorded(self, choice.make, "create_group", algorithm=choice.algorithm.name)
            place = (rank, len(members), left, right)
            found = make(*self._twins(), arrival.result.number, place=place, tag=MAKING + tag % TAGS)
            check_made(found, arrival.result.number)
        return self._join(arrival.result)

    @classmethod
    def Create_from_group(
        cls, group: Group, stringtag: str = "org.mpi4py", info: Info = INFO_NULL, errhandler: Errhandler | None = None
    ) -> Any:
        """A communicator of a group, all of whose ranks call this with the same tag. Free in modelled time."""
        process, side = running_process(), meet_as_groups("Create_from_group", stringtag, group).sides[0]
        rank: Any = side.members.index(process.number)
        return furnish(cls._make(process, side, side, rank), info, errhandler)

    def Create_intercomm(
        self, local_leader: int, peer_comm: Comm, remote_leader: int, tag: int = 0
    ) -> Intercomm:
        """Join this group with another one, whose leader the two leaders reach through `peer_comm`.

        Free, unless an algorithm is asked for (`algorithms={"create_intercomm": "chain"}`), which begins when all have come.
        """
        here = self._local()
        choice = self._process.universe.choose_making("create_intercomm", len(here.members))
        if not 0 <= local_leader < len(here.members):
            self._raise(complaint(ERR_RANK, f"local leader {local_leader} is not in 0..{len(here.members) - 1}."))
        context: Any = None
        if self._rank == local_leader:
            try:
                other = self._find_leader(peer_comm, remote_leader)
            except MPIError as error:
                context = error
            else:
                self._check_apart(peer_comm, other)
        try:
            self._meet("Create_intercomm", (local_leader, tag), _agreed)
        except MPIError as error:
            if self._rank == local_leader and context is None and error.ierr == ERR_PROC_FAILED:
                self._visit_leader(peer_comm, other, error)  # or the other group would wait for this one
            raise
        if self._rank == local_leader and context is None:
            try:
                context = self._meet_leader(peer_comm, other, tag)
            except MPIError as error:
                context = error
        context = self._meet("Create_intercomm", context, lambda values: values[local_leader])
        if isinstance(context, MPIError):
            self._raise(context)
        mine = 0 if context.sides[0].members == here.members else 1
        if choice is not None:
            known = (peer_comm._twins()[0], list(here.members)) if self._rank == local_leader else (None, ())
            make = recorded(self, choice.make, "create_intercomm", algorithm=choice.algorithm.name)
            found = make(
                *self._twins(), *known, context.number, leader=local_leader, remote_leader=remote_leader,
                peer_tag=MAKING + TAGS + tag % TAGS, tag=here.calls[self._rank] % TAGS,
            )  # fmt: skip
            check_made(found, (context.number, list(context.sides[1 - mine].members)))
        joined: Intercomm = Intercomm._make(
            self._process, context.sides[mine], context.sides[1 - mine], self._rank
        )
        return joined

    def _find_leader(self, peer: Comm, remote_leader: int) -> int:
        """The number of the other leader's process."""
        if not isinstance(peer, Comm) or peer._context is None:
            raise complaint(ERR_COMM, "the leader's peer communicator is null.")
        peer._check_rank(remote_leader, "remote leader")
        assert peer._there is not None
        other: int = peer._there.members[remote_leader]
        if self._process.number == other:
            raise complaint(ERR_RANK, f"remote leader {remote_leader} of the peer communicator is this rank itself.")
        return other

    def _check_apart(self, peer: Any, other: int) -> None:
        """Complain if the groups overlap, before they meet: who is in both cannot be in two calls at once."""
        me, members = self._process.number, self._local().members
        groups = peer._context.meetings.setdefault(("groups", min(me, other), max(me, other)), {})
        groups[me] = members
        if common := [number for number in groups.get(other, ()) if number in members]:
            ranks = ", ".join(self._process.universe.names.short(number) for number in common[:5])
            self._raise(complaint(ERR_GROUP, f"the two groups overlap: world rank {ranks} is in both."))

    def _meet_leader(self, peer: Any, other: int, tag: int) -> Context:
        """The leaders agree on a context with both groups as its sides."""
        arrival = self._visit_leader(peer, other, tag)
        wait_one(self._loop, arrival)
        if arrival.error is not None:
            raise arrival.error
        return arrival.result  # type: ignore[no-any-return]

    def _visit_leader(self, peer: Any, other: int, tag: int | MPIError) -> Any:
        """A leader comes, with its tag, or with what has gone wrong in its group; returns what to wait for."""
        me, universe, loop, table = self._process.number, self._process.universe, self._loop, peer._context.meetings
        pair = min(me, other), max(me, other)
        check_groups(universe, pair)

        def conclude(tags: dict[int, Any]) -> Context:
            groups = table.pop(("groups", *pair))
            for wrong in tags.values():
                if isinstance(wrong, MPIError):
                    raise MPIError(wrong.ierr, f"Create_intercomm: {str(wrong).partition(': ')[2]}")
            if tags[0] != tags[1]:
                one, two = (universe.names.short(number) for number in pair)
                words = f"leader {one} says tag {tags[0]}, leader {two} says {tags[1]}"
                raise MPIError(ERR_NOT_SAME, f"Create_intercomm: {words}.")
            return Context(universe, *(groups[number] for number in pair))

        key = ("Create_intercomm", *pair)
        return meet(table, key, "Create_intercomm", pair, conclude, int(me > other), tag, loop.now)

    def _split(self, plan: str, color: Any, key: Any) -> Any:
        self._check_alive()
        choice = self._process.universe.choose_split(self._reach)
        shown = color
        if choice is not None and plan == "Split_type" and color is not None:
            shown = plain("colour", color[0])  # the node, which may be called anything
        check = partial(check_alike, color=shown, key=key, asked=choice is not None)
        arrival = self._arrive(plan, (color, key), self._conclude_split, check)
        if choice is None:
            return self._join(self._concluded(arrival).get(self._rank))
        tag = self._tag_of_split()
        meeting: Meeting = arrival.why
        if color is None and not meeting.said and arrival.end is None:
            wait_one(self._loop, meeting.first_word())  # of what kind the others' colours and keys are
        forms = forms_said(meeting)
        found = self._run_split(choice, tag, forms, shown, key)
        contexts: dict[int, Context] = self._concluded(arrival)
        context = contexts.get(self._rank)
        if (words := self._other_place(context, found)) is not None:
            raise InternalError(f"split: {words}")
        return self._join(context)

    def _run_split(self, choice: Any, tag: int, forms: Forms, color: Any, key: Any) -> tuple[int, int] | None:
        """Let the algorithm run on the twin, and take as long as it takes."""
        split = recorded(self, choice.split, "split", algorithm=choice.algorithm.name)
        data = (None, 0) if color is None else (written_colour(color), written_key(key))
        found: tuple[int, int] | None = split(*self._twins(), *data, tag, whole=forms.whole, compare=forms.compare)
        return found

    def _tag_of_split(self) -> int:
        """The tag of a split that this rank has come to."""
        calls, rank = self._local().calls, self._rank
        tag = calls[rank] % TAGS
        calls[rank] += 1  # a split has two tags, and the next call another one
        return tag

    def _conclude_split(self, values: dict[int, tuple[Any, Any]]) -> dict[int, Context]:
        """One context a colour, by the ranks that have it."""
        old = self._local()
        universe, found = old.context.universe, {}
        for ranks in by_colour(values).values():
            found.update(dict.fromkeys(ranks, Context(universe, old.members.take(ranks))))
        return found

    def _contexts_of(self, values: dict[int, Members]) -> dict[Members, Context]:
        """One context a group; all ranks of a group must have given it."""
        universe, old = self._local().context.universe, self._local().members
        for members in dict.fromkeys(values.values()):
            for rank in map(old.index, members):
                if rank is not None and values[rank] != members:
                    place = next(place for place, given in values.items() if given == members)
                    one, other = (universe.names.name(old[i]) for i in (place, rank))
                    words = f"{one} gives a group of {len(members)} ranks, among them {other}, which gives another one "
                    words += f"({len(values[rank])} ranks): all ranks of a group must give it."
                    raise MPIError(ERR_GROUP, f"Create: {words}")
        return {members: Context(universe, members) for members in dict.fromkeys(values.values())}

    def _other_place(self, context: Context | None, found: tuple[int, int] | None) -> str | None:
        """What an algorithm has found, in words, if that is not this process's rank and size in the context."""
        members = Members.of([]) if context is None else context.sides[0].members
        rank = members.index(self._process.number)
        if found == (None if rank is None else (rank, len(members))):
            return None
        return f"the algorithm makes this process {found} (rank, size), but it is {rank} of {len(members)}."

    def _join(self, context: Context | None) -> Any:
        """This process's handle in a new context; null if it is not in it."""
        rank = None if context is None else context.sides[0].members.index(self._process.number)
        if context is None or rank is None:
            return Intracomm()
        return Intracomm._make(self._process, context.sides[0], context.sides[0], rank)


Comm._kinds[False] = Intracomm


def _agreed(values: dict[int, Any]) -> Any:
    """What all have brought, which must be the same."""
    (place, first), *others = values.items()
    for other, value in others:
        if value != first:
            raise MPIError(
                ERR_NOT_SAME,
                f"Create_intercomm: rank {place} says local leader and tag are {first}, rank {other} says {value}.",
            )
    return first
