"""Communicators: what intra- and intercommunicators have in common."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from fakempi.error_classes import ERR_ARG, ERR_COMM, ERR_GROUP
from fakempi.errors import Aborted, InternalError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import call_site, complaint
from fakempi.mpi.base.constants import (
    COMM_TYPE_HW_GUIDED,
    COMM_TYPE_HW_UNGUIDED,
    COMM_TYPE_RESOURCE_GUIDED,
    COMM_TYPE_SHARED,
    CONGRUENT,
    IDENT,
    SIMILAR,
    UNDEFINED,
    UNEQUAL,
)  # fmt: skip
from fakempi.mpi.base.context import Context, Side
from fakempi.mpi.base.current import current_process, running_process
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.meeting import Check, Conclude, meet
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.waiting import wait_one
from fakempi.mpi.collective.blocking import Collectives
from fakempi.mpi.collective.nonblocking import NonblockingCollectives
from fakempi.mpi.collective.objects import ObjectCollectives
from fakempi.mpi.collective.persistent import PersistentCollectives
from fakempi.mpi.comms.colours import plain
from fakempi.mpi.comms.disconnect import part
from fakempi.mpi.comms.group import Group
from fakempi.mpi.comms.port import meet_at_socket
from fakempi.mpi.comms.properties import Furnished
from fakempi.mpi.comms.resilient import Resilient
from fakempi.mpi.partitions.calls import Partitioned
from fakempi.mpi.point.buffers import PointToPoint
from fakempi.mpi.point.objects import PointToPointObjects
from fakempi.mpi.point.persistent import Persistent
from fakempi.mpi.point.probes import Probes
from fakempi.mpi.point.request import Request

_GUIDED = (COMM_TYPE_HW_GUIDED, COMM_TYPE_RESOURCE_GUIDED)
_RESOURCE, _SHARED_MEMORY = "mpi_hw_resource_type", "mpi_shared_memory"


class Comm(
    Collectives,
    NonblockingCollectives,
    PersistentCollectives,
    ObjectCollectives,
    PointToPoint,
    PointToPointObjects,
    Probes,
    Persistent,
    Partitioned,
    Furnished,
    Handled,
    Resilient,
):
    """A communicator handle. Without an argument, the null one; with one, another handle of the same communicator."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _kinds: ClassVar[dict[bool, type[Comm]]] = {}
    """What there is: {False: intracommunicators, True: intercommunicators}; filled where they are."""

    def __new__(cls, comm: Comm | None = None) -> Any:
        if comm is not None and not isinstance(comm, Comm):
            raise complaint(ERR_COMM, f"cannot make a {cls.__name__} of {comm!r}.", MPITypeError)
        self = super().__new__(cls)
        if comm is None or comm._context is None:
            self._become_null()
            self._own = None
        else:
            self._attach(comm._process, comm._side, comm._there, comm._rank)  # type: ignore[arg-type]
            self._own = own = comm._belongings()
            own.add_handle(self, *(() if own.handles else (comm,)))
        return self

    @classmethod
    def _make(cls, process: Any, side: Side, there: Side, rank: int) -> Any:
        """A handle for a process that is `rank` on a side."""
        self = object.__new__(cls)
        self._attach(process, side, there, rank)
        self._own = None
        if process.universe.strict:
            self._be_owed()
        return self

    def _stands_for(self) -> object | None:
        return self._context

    def __reduce__(self) -> Any:
        name = self._predefined()
        if not name:
            words = "a communicator cannot be pickled: it means nothing to another process."
            raise complaint(ERR_COMM, words, MPIValueError)
        if self._context is None:
            return name if self is COMM_NULL else (type(self), ())
        own = self._original(name)
        return name if self is own else (type(self), (own,))

    def _original(self, name: str) -> Any:
        """The rank's own handle of COMM_WORLD or COMM_SELF, of which this is a copy, if it is not the same."""
        return self._process.comm_world if name == "COMM_WORLD" else self._process.comm_self

    def __repr__(self) -> str:
        kind = type(self).__name__
        if self._context is None:
            return f"<{kind}: null>"
        name = self.Get_name().removeprefix("MPI_") if self._predefined() else self.Get_name() and repr(self.Get_name())
        others = f", {self._reach} on the other side" if self._between else ""
        return f"<{kind}: {name and name + ', '}rank {self._rank} of {self.Get_size()}{others}>"

    # -- who is in it ---------------------------------------------------------------------------------------------

    def Get_size(self) -> int:
        """The number of ranks in the (local) group."""
        return len(self._local().boxes)

    def Get_rank(self) -> int:
        """This process's rank in the (local) group."""
        self._check_alive()
        return self._rank

    def Get_group(self) -> Group:
        """The (local) group."""
        return Group._make(self._local().members, self._process.number)

    def Is_inter(self) -> bool:
        """Whether it joins two groups."""
        return self._local().context.is_inter

    def Is_intra(self) -> bool:
        """Whether it is one group's own."""
        return not self.Is_inter()

    def Compare(self, comm: Comm) -> int:
        """IDENT, CONGRUENT (same ranks, another context), SIMILAR (other order) or UNEQUAL."""
        self._check_alive()
        if not isinstance(comm, Comm):
            raise complaint(ERR_COMM, f"cannot compare with {comm!r}, which is no communicator.", MPITypeError)
        comm._check_alive()
        if self._context is comm._context:
            return IDENT
        mine = [side.members for side in (self._side, self._there)]  # type: ignore[union-attr]
        theirs = [side.members for side in (comm._side, comm._there)]  # type: ignore[union-attr]
        if self.Is_inter() != comm.Is_inter():
            return UNEQUAL
        if mine == theirs:
            return CONGRUENT
        return SIMILAR if [set(m) for m in mine] == [set(m) for m in theirs] else UNEQUAL

    # -- others like it -------------------------------------------------------------------------------------------

    def Dup(self, info: Info | None = None) -> Any:
        """A communicator of the same ranks, with a context of its own."""
        return self._furnish(self._meet("Dup", None, lambda values: self._local().context.new_twin()), info)

    def Clone(self) -> Any:
        """The same as Dup."""
        return self.Dup()

    def Dup_with_info(self, info: Info) -> Any:
        """Dup, with other info."""
        return self.Dup(info)

    def Idup(self, info: Info | None = None) -> tuple[Any, Request]:
        """Start to duplicate; the new communicator can be used once the request has ended."""
        context = self._local().context
        key = ("Idup", self._local().calls.get(self._rank, 0))
        twin = context.meetings.get(key)
        if twin is None:
            twin = context.meetings[key] = context.new_twin()
        arrival = self._arrive("Idup", None, lambda values: context.meetings.pop(key) and None)
        return self._furnish(twin, info), Request._of(self, arrival)

    def Idup_with_info(self, info: Info) -> tuple[Any, Request]:
        """Idup, with other info."""
        return self.Idup(info)

    def Create(self, group: Group) -> Any:
        """A communicator for the ranks of a group; the null one elsewhere."""
        return Comm(self._specific().Create(group))

    def Split(self, color: Any = 0, key: Any = 0) -> Any:
        """Communicators by colour, ranks in the order of key and then of rank; UNDEFINED, or None, leaves a rank out.

        MPI has whole numbers for both, and mpi4py refuses anything else with a TypeError. Here, as Moody et al. (2011) ask
        for, a colour is anything that has a hash and a key anything that has an order: strings, bytes, floats, tuples, and
        whatever can be pickled. All ranks give what can be compared; an algorithm that is asked for wants one type, and
        whole numbers of 64 bits. It is free, unless within a group one is asked for.
        """
        color = plain("colour", color)
        if color is None or (type(color) is int and color == UNDEFINED):
            return self._split("Split", None, 0)
        if type(color) is int and color < 0:
            self._raise(complaint(ERR_ARG, f"colour {color} is negative and not UNDEFINED."))
        return self._split("Split", color, plain("key", key))

    def Split_type(self, split_type: int, key: int = 0, info: Info = INFO_NULL) -> Any:
        """Communicators of ranks that share a node, as the cost model places them; a node has no parts here.

        COMM_TYPE_SHARED, or COMM_TYPE_HW_GUIDED and COMM_TYPE_RESOURCE_GUIDED with `mpi_hw_resource_type` set to
        `mpi_shared_memory` in the info; any other resource is unknown and gives COMM_NULL. COMM_TYPE_HW_UNGUIDED is the
        next smaller part of the machine: the node if there are several, else COMM_NULL. It says so in the info.
        """
        self._check_alive()
        if split_type not in (UNDEFINED, COMM_TYPE_SHARED, *_GUIDED, COMM_TYPE_HW_UNGUIDED):
            raise NotImplementedError(f"Split_type: split type {split_type} is not emulated; COMM_TYPE_SHARED is.")
        unknown = split_type in _GUIDED and info.get(_RESOURCE) != _SHARED_MEMORY
        if split_type == UNDEFINED or unknown:
            return self._split("Split_type", None, 0)
        node = (self._process.universe.cost.node(self._process.number),)
        made = self._split("Split_type", node, plain("key", key))
        if split_type == COMM_TYPE_HW_UNGUIDED:
            if made.Get_size() == self.Get_size():
                made.Free()
                return type(self)()
            if info:
                info.Set(_RESOURCE, _SHARED_MEMORY)
        return made

    def _split(self, plan: str, color: Any, key: Any) -> Any:
        return Comm(self._specific()._split(plan, color, key))

    def _specific(self) -> Any:
        """The same communicator through a handle of the class that it is of."""
        return self._kinds[self.Is_inter()](self)

    def Free(self) -> None:
        """Give the communicator up: the handle becomes null. What is under way on it goes on."""
        self._check_alive()
        if not self._predefined():
            context = self._local().context
            context.free(context.place(self._local(), self._rank), call_site())
        self._give_up()

    def _give_up(self) -> None:
        """The handle becomes null."""
        if name := self._predefined():
            self._raise(complaint(ERR_COMM, f"{name} cannot be freed."))
        self._delete_attributes()
        done("communicator-leak", self._context)
        process, others = self._process, () if self._own is None else self._own.handles
        for handle in (self, *(other for each in others if (other := each()) is not None)):
            handle._become_null()
            handle._own = None
            handle._process, handle._loop = process, process.loop  # for the requests that are left

    def free(self) -> None:
        """As `Free`, but what cannot be freed is left in peace; a copy of one of MPI's own becomes null."""
        name = self._predefined()
        if not name:
            self.Free()
        elif self._context is not None and self is not self._original(name):
            self._become_null()
            self._own = None

    def Disconnect(self) -> None:
        """Free, by all ranks together: when all have come, or ended, and what they have under way on it is over."""
        self._check_alive()
        if not self._predefined():
            part(self)
        self._give_up()

    def Abort(self, errorcode: int = 0) -> NoReturn:
        """End the whole run."""
        process = self._process or running_process()
        error = Aborted(errorcode)
        process.universe.fail(process, error)
        raise error

    size = property(Get_size)
    rank = property(Get_rank)
    group = property(Get_group)
    is_inter = property(Is_inter)
    is_intra = property(Is_intra)

    @classmethod
    def Get_parent(cls) -> Any:
        """The intercommunicator to those who spawned this process; null if nobody did."""
        parent = running_process().parent
        return cls._kinds[True]() if parent is None else parent

    @classmethod
    def Join(cls, fd: int) -> Any:
        """An intercommunicator with the process at the other end of a socket, a rank of this run that calls this, too."""
        process = running_process()
        context, mine = meet_at_socket(process, fd)
        return cls._kinds[True]._make(process, context.sides[mine], context.sides[1 - mine], 0)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _be_owed(self) -> None:
        """The rank has to free what it has made, if that is not one of MPI's own, nor one of ours."""
        if self._local().original is None and self._process is current_process() and not self._predefined():
            owes("communicator-leak", self._context, once=True)

    def _twins(self) -> tuple[Any, ...]:
        """A hidden communicator of the same ranks, for our own messages; between two groups, and one of the own group."""
        if self._hidden is None:
            side = self._local()
            twins, mine = side.context.hidden_twin().sides, side.context.sides.index(side)
            if not side.context.is_inter:
                self._hidden = (Comm._make(self._process, twins[0], twins[0], self._rank),)
            else:
                assert side.alone is not None
                self._hidden = (
                    self._kinds[True]._make(self._process, twins[mine], twins[1 - mine], self._rank),
                    Comm._make(self._process, side.alone, side.alone, self._rank),
                )
        return self._hidden  # type: ignore[no-any-return]

    def _furnish(self, context: Context, info: Info | None) -> Any:
        """A handle of the same kind in a context with the same sides, with all that a duplicate inherits."""
        mine = self._local().context.sides.index(self._local())
        new = type(self)._make(self._process, context.sides[mine], context.sides[-1 - mine], self._rank)
        if info is not None:
            new._belongings().info = Info._copy_of(info)
        if topology := self._belonging("topology"):
            new._belongings().topology = topology
        self._copy_attributes_to(new)
        return new

    def _arrive(self, plan: str, value: Any, conclude: Conclude, check: Check | None = None) -> Any:
        """Come to the next meeting of this communicator's ranks; returns what to wait for."""
        side = self._local()
        self._check_caller()
        context = side.context
        if context.trouble is not None:
            self._check_trouble(together=True)
        side.calls[self._rank] = call = side.calls.get(self._rank, 0) + 1
        place = context.place(side, self._rank)
        return meet(context.meetings, call, plan, context.everybody(), conclude, place, value, self._loop.now, check)

    def _meet(self, plan: str, value: Any, conclude: Conclude, check: Check | None = None) -> Any:
        """Meet all ranks of this communicator and return the conclusion, drawn once from {place: value}."""
        return self._concluded(self._arrive(plan, value, conclude, check))

    def _concluded(self, arrival: Any) -> Any:
        """Wait for a meeting's end and return the conclusion."""
        wait_one(self._loop, arrival)
        if arrival.error is not None:
            self._raise(type(arrival.error)(arrival.error.ierr, arrival.error.message))
        return arrival.result

    def _check_group(self, group: Group, members: Members) -> Members:
        """The members of a group, all of which must be in this communicator."""
        if not isinstance(group, Group):
            raise complaint(ERR_GROUP, f"expecting a Group, not {type(group).__name__}.", MPITypeError)
        wanted: Members | None = group._members
        if wanted is None:
            self._raise(complaint(ERR_GROUP, "the group is null: GROUP_NULL, or freed."))
        strangers = wanted.difference(members)  # which all ranks work out once
        if len(strangers):
            name = self._process.universe.names.name(strangers[0])
            self._raise(complaint(ERR_GROUP, f"the group has world {name}, which is not in the communicator."))
        return wanted


COMM_NULL = Comm()


def check_made(found: Any, made: Any) -> None:
    """An algorithm that makes a communicator must have told this rank what the meeting has."""
    if found != made:
        raise InternalError(f"the algorithm says {found}, but it is {made}.")
