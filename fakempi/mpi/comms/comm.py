"""Communicators: the common part of intracommunicators and intercommunicators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from fakempi.errors import Aborted, InternalError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COMM, ERR_GROUP
from fakempi.mpi.base.call_site import place_of_call
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
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.rendezvous import Check, Conclude, join_rendezvous
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.base.waiting import Completion, wait_one
from fakempi.mpi.collective.blocking import Collectives
from fakempi.mpi.collective.nonblocking import NonblockingCollectives
from fakempi.mpi.collective.objects import ObjectCollectives
from fakempi.mpi.collective.persistent import PersistentCollectives
from fakempi.mpi.comms.colors import plain
from fakempi.mpi.comms.disconnect import disconnect
from fakempi.mpi.comms.group import Group
from fakempi.mpi.comms.port import rendezvous_at_socket
from fakempi.mpi.comms.properties import HasProperties
from fakempi.mpi.comms.resilient import Resilient
from fakempi.mpi.partitions.calls import Partitioned
from fakempi.mpi.point.buffers import PointToPoint
from fakempi.mpi.point.objects import PointToPointObjects
from fakempi.mpi.point.persistent import Persistent
from fakempi.mpi.point.probes import Probes
from fakempi.mpi.point.request import Request

if TYPE_CHECKING:
    from typing_extensions import Self

    from fakempi.mpi.comms.intercomm import Intercomm

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
    HasProperties,
    Handled["Comm"],
    Resilient,
):
    """A communicator handle. Comm() is the null handle; Comm(comm) is another handle of the same communicator."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _kinds: ClassVar[dict[bool, Any]] = {}
    """{False: class of intracommunicators, True: class of intercommunicators}; set by their modules."""

    def __new__(cls, comm: Comm | None = None) -> Self:
        if comm is not None and not isinstance(comm, Comm):
            raise mpi_error(ERR_COMM, f"cannot create a {cls.__name__} from {comm!r}.", MPITypeError)
        self = super().__new__(cls)
        if comm is None or comm._context is None:
            self._become_null()
            self._own_properties = None
        else:
            self._attach(comm._process, comm._side, comm._peer_side, comm._rank)
            self._own_properties = properties = comm._properties()
            properties.add_handle(self, *(() if properties.handles else (comm,)))
        return self

    @classmethod
    def _make(cls, process: Process, side: Side, peer_side: Side, rank: int) -> Self:
        """Return a handle for the process that has `rank` in `side`."""
        self = object.__new__(cls)
        self._attach(process, side, peer_side, rank)
        self._own_properties = None
        if process.universe.strict:
            self._track()
        return self

    def _mpi_object(self) -> object | None:
        return self._context

    def __reduce__(self) -> str | tuple[Any, ...]:
        name = self._predefined()
        if not name:
            sentence = "a communicator cannot be pickled: it is only valid in this process."
            raise mpi_error(ERR_COMM, sentence, MPIValueError)
        if self._context is None:
            return name if self is COMM_NULL else (type(self), ())
        original = self._original(name)
        if self is original and current_process() is not self._process:  # a thread pickles for a pool of the rank
            return self._of_running_rank, (name,)
        return name if self is original else (type(self), (original,))

    _of_running_rank: ClassVar[Callable[[str], Any]]  # returns the handle with a name; set by the module of such handles

    def _original(self, name: str) -> Any:
        """Return the handle that MPI.COMM_WORLD or MPI.COMM_SELF is on this rank."""
        return self._process.comm_world if name == "COMM_WORLD" else self._process.comm_self

    def __repr__(self) -> str:
        kind = type(self).__name__
        if self._context is None:
            return f"<{kind}: null>"
        name = self.Get_name().removeprefix("MPI_") if self._predefined() else self.Get_name() and repr(self.Get_name())
        others = f", {self._n_peers} on the other side" if self._is_inter else ""
        return f"<{kind}: {name and name + ', '}rank {self._rank} of {self.Get_size()}{others}>"

    def Compare(self, comm: Comm) -> int:
        """Return IDENT, CONGRUENT (same ranks, another context), SIMILAR (other order) or UNEQUAL."""
        self._check_alive()
        if not isinstance(comm, Comm):
            raise mpi_error(ERR_COMM, f"cannot compare with {comm!r}, which is not a communicator.", MPITypeError)
        comm._check_alive()
        if self._context is comm._context:
            return IDENT
        mine = [side.members for side in (self._side, self._peer_side)]
        theirs = [side.members for side in (comm._side, comm._peer_side)]
        if self.Is_inter() != comm.Is_inter():
            return UNEQUAL
        if mine == theirs:
            return CONGRUENT
        return SIMILAR if [set(m) for m in mine] == [set(m) for m in theirs] else UNEQUAL

    # -- creation ------------------------------------------------------------------------------------------------

    def Dup(self, info: Info | None = None) -> Self:
        """Return a communicator of the same ranks with a new context."""
        return self._duplicate(self._rendezvous("Dup", None, lambda values: self._local().context.duplicate()), info)

    def Clone(self) -> Self:
        """Return a duplicate, like Dup."""
        return self.Dup()

    def Dup_with_info(self, info: Info) -> Self:
        """Return a duplicate that has the given info."""
        return self.Dup(info)

    def Idup(self, info: Info | None = None) -> tuple[Self, Request]:
        """Start a duplication; return the new communicator, usable when the request completes, and the request."""
        context = self._local().context
        key = ("Idup", self._local().calls[self._rank])
        copy = context.open_calls.get(key)
        if copy is None:
            copy = context.open_calls[key] = context.duplicate()
        arrival = self._arrive("Idup", None, lambda values: context.open_calls.pop(key) and None)
        recorder, number, now = self._process.universe.recorder, self._process.number, self._loop.now
        if recorder is not None:  # the trace has the calls of all ranks, so the end of the wait need not be recorded
            call, calls = recorder.call(), self._local().calls[self._rank]
            recorder.record(number, "idup", now, now, call=call, context=context.number, number=calls)
        return self._duplicate(copy, info), Request._of(self, arrival)

    def Idup_with_info(self, info: Info) -> tuple[Self, Request]:
        """Start a duplication, as Idup does; the new communicator has the given info."""
        return self.Idup(info)

    def Create(self, group: Group) -> Comm:
        """Return a communicator for the ranks of a group; COMM_NULL on other ranks."""
        return Comm(self._own_kind().Create(group))

    def Split(self, color: int = 0, key: int = 0) -> Comm:
        """Return a communicator of the ranks with this color, ordered by key and then rank.

        If the color is UNDEFINED or None, return COMM_NULL. In MPI, color and key are integers, and mpi4py raises a
        TypeError for anything else. Here, as Moody et al. (2011) propose, a color is any hashable value and a key is any
        value with an order: strings, bytes, floats, tuples, and other values that can be pickled. The values of all ranks
        must be comparable with each other. A split takes no modeled time, unless a split algorithm is specified for an
        intracommunicator. With a split algorithm, the values of all ranks must have the same type, and integers must fit
        into 64 bits.
        """
        color = plain("color", color)
        if color is None or (type(color) is int and color == UNDEFINED):
            return self._split("Split", None, 0)
        if type(color) is int and color < 0:
            self._raise(mpi_error(ERR_ARG, f"color {color} is negative and not UNDEFINED."))
        return self._split("Split", color, plain("key", key))

    def Split_type(self, split_type: int, key: int = 0, info: Info = INFO_NULL) -> Comm:
        """Return a communicator of the ranks on this rank's node. The cost model assigns ranks to nodes.

        The node is the only resource type. COMM_TYPE_SHARED selects it. COMM_TYPE_HW_GUIDED and COMM_TYPE_RESOURCE_GUIDED
        select it if the info has `mpi_hw_resource_type` set to `mpi_shared_memory`; with any other value they return
        COMM_NULL. COMM_TYPE_HW_UNGUIDED selects it if the ranks are on several nodes, and stores `mpi_shared_memory` in the
        info; otherwise it returns COMM_NULL.
        """
        self._check_alive()
        if split_type not in (UNDEFINED, COMM_TYPE_SHARED, *_GUIDED, COMM_TYPE_HW_UNGUIDED):
            split_type = integer("split_type", split_type)
            self._raise(mpi_error(ERR_ARG, f"split type {split_type} is not valid: use COMM_TYPE_SHARED, for example."))
        unknown = split_type in _GUIDED and info.get(_RESOURCE) != _SHARED_MEMORY
        if split_type == UNDEFINED or unknown:
            return self._split("Split_type", None, 0)
        node = (self._process.universe.cost.node(self._process.number),)
        new = self._split("Split_type", node, plain("key", key))
        if split_type == COMM_TYPE_HW_UNGUIDED:
            if new.Get_size() == self.Get_size():
                new.Free()
                return type(self)()
            if info:
                info.Set(_RESOURCE, _SHARED_MEMORY)
        return new

    def _split(self, call_name: str, color: object, key: object) -> Comm:
        return Comm(self._own_kind()._split(call_name, color, key))

    def _own_kind(self) -> Any:
        """Return a handle of this communicator of class Intracomm or Intercomm; this handle may be a plain Comm."""
        return self._kinds[self.Is_inter()](self)

    def Free(self) -> None:
        """Free the communicator: the handle becomes null. Pending operations continue."""
        self._check_alive()
        if not self._predefined():
            context = self._local().context
            context.free(context.slot(self._local(), self._rank), place_of_call())
        self._release()

    def _release(self) -> None:
        """Make this handle and all other handles of the communicator on this rank null."""
        if name := self._predefined():
            self._raise(mpi_error(ERR_COMM, f"{name} cannot be freed."))
        self._delete_attributes()
        untrack("communicator-leak", self._context)
        process, others = self._process, () if self._own_properties is None else self._own_properties.handles
        for handle in (self, *(other for reference in others if (other := reference()) is not None)):
            handle._become_null()
            handle._own_properties = None
            handle._process, handle._loop = process, process.loop  # for pending requests

    def free(self) -> None:
        """Free the communicator unless it is predefined; a second handle of a predefined communicator becomes null."""
        name = self._predefined()
        if not name:
            self.Free()
        elif self._context is not None and self is not self._original(name):
            self._become_null()
            self._own_properties = None

    def Disconnect(self) -> None:
        """Free the communicator, after every rank has called Disconnect or ended and all pending operations are complete."""
        self._check_alive()
        if not self._predefined():
            disconnect(self, self._arrive)
        self._release()

    def Abort(self, errorcode: int = 0) -> NoReturn:
        """End the whole run. In a process that a rank has forked, COMM_SELF ends this process only."""
        process = self._process or running_process()
        universe, errorcode = process.universe, integer("errorcode", errorcode)
        if universe.abort_of_copy is not None:
            universe.abort_of_copy(errorcode, self.Get_size() > 1 or len(universe.processes) == 1)
        error = Aborted(errorcode)
        process.universe.fail(process, error)
        raise error

    @classmethod
    def Get_parent(cls) -> Intercomm:
        """Return the intercommunicator to the processes that spawned this one; COMM_NULL if it was not spawned."""
        parent = running_process().parent
        comm: Intercomm = cls._kinds[True]() if parent is None else parent
        return comm

    @classmethod
    def Join(cls, fd: int) -> Intercomm:
        """Return an intercommunicator with the process at the other end of a socket, which must be a rank of this run."""
        process = running_process()
        context, own_side = rendezvous_at_socket(process, fd)
        joined: Intercomm = cls._kinds[True]._make(process, context.sides[own_side], context.sides[1 - own_side], 0)
        return joined

    if TYPE_CHECKING:  # mpi4py has the type Comm for subclasses, too

        @classmethod
        def Create_keyval(
            cls,
            copy_fn: Callable[[Comm, int, Any], Any] | None = None,
            delete_fn: Callable[[Comm, int, Any], None] | None = None,
            nopython: bool = False,
        ) -> int: ...

        @classmethod
        def Create_errhandler(cls, errhandler_fn: Callable[[Comm, int], None]) -> Errhandler: ...

    # -- internal -------------------------------------------------------------------------------------------------

    def _track(self) -> None:
        """Report a leak if the communicator is never freed, unless it is predefined or used by fakempi itself."""
        if self._local().original is None and self._process is current_process() and not self._predefined():
            track("communicator-leak", self._context, once=True)

    def _collective_comms(self) -> tuple[Any, ...]:
        """Return the communicator of the collective context; for an intercommunicator, also the one of the local group."""
        if self._collective_handles is None:
            side = self._local()
            sides, own_side = side.context.get_collective_context().sides, side.context.sides.index(side)
            if not side.context.is_inter:
                self._collective_handles = (Comm._make(self._process, sides[0], sides[0], self._rank),)
            else:
                assert side.local is not None
                self._collective_handles = (
                    self._kinds[True]._make(self._process, sides[own_side], sides[1 - own_side], self._rank),
                    Comm._make(self._process, side.local, side.local, self._rank),
                )
        return self._collective_handles

    def _duplicate(self, context: Context, info: Info | None) -> Self:
        """Return a handle in a duplicated context, with the properties that a duplicate inherits."""
        own_side = self._local().context.sides.index(self._local())
        new = type(self)._make(self._process, context.sides[own_side], context.sides[-1 - own_side], self._rank)
        if info is not None:
            new._properties().info = Info._copy_of(info)
        if topology := self._property("topology"):
            new._properties().topology = topology
        try:
            self._copy_attributes_to(new)
        except Exception:  # from a copy function: the program gets no handle, so it cannot free the duplicate
            new.Free()
            raise
        return new

    def _arrive(self, call_name: str, value: object, conclude: Conclude, check: Check | None = None) -> Completion:
        """Enter the next rendezvous of this communicator's ranks; return the completion to wait for."""
        side = self._local()
        self._check_caller()
        context = side.context
        if context.fault_state is not None:
            self._check_faults(collective=True)
        side.calls[self._rank] = call = side.calls[self._rank] + 1
        slot = context.slot(side, self._rank)
        if self._process.buffer_checks is not None:
            self._process.buffer_checks.influences += 1
        expected = context.process_numbers()
        return join_rendezvous(context.open_calls, call, call_name, expected, conclude, slot, value, self._loop.now, check)

    def _rendezvous(self, call_name: str, value: object, conclude: Conclude, check: Check | None = None) -> Any:
        """Wait for all ranks of this communicator; return the result, computed once from {slot: value}."""
        return self._rendezvous_result(self._arrive(call_name, value, conclude, check))

    def _rendezvous_result(self, arrival: Completion) -> Any:
        """Wait for the end of a rendezvous and return its result."""
        call: str = arrival.why.call  # type: ignore[attr-defined]  # it is a part of a Rendezvous
        with wait_region(self._process, call if "." in call else call.lower()):
            wait_one(self._loop, arrival)
        if arrival.error is not None:
            self._raise(type(arrival.error)(arrival.error.ierr, arrival.error.message))
        return arrival.result

    def _check_group(self, group: Group, members: Members) -> Members:
        """Return the members of a group, all of which must be in this communicator."""
        if not isinstance(group, Group):
            raise mpi_error(ERR_GROUP, f"expecting a Group, not {type(group).__name__}.", MPITypeError)
        wanted: Members | None = group._members
        if wanted is None:
            self._raise(mpi_error(ERR_GROUP, "the group is null: GROUP_NULL, or freed."))
        outsiders = wanted.difference(members)  # cached, computed once for all ranks
        if len(outsiders):
            name = self._process.universe.names.name(outsiders[0])
            self._raise(mpi_error(ERR_GROUP, f"the group has world {name}, which is not in the communicator."))
        return wanted


COMM_NULL = Comm()


def check_result(actual: object, expected: object) -> None:
    """Check that an algorithm that creates a communicator returned the same result as the rendezvous."""
    if actual != expected:
        raise InternalError(f"the algorithm returned {actual}, expected {expected}.")
