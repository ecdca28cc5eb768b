"""Communicators: what intra- and intercommunicators have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fakempi.error_classes import ERR_ARG, ERR_RANK
from fakempi.errors import Aborted, MPIError, MPITypeError
from fakempi.mpi.attributes import Attributed
from fakempi.mpi.comm_state import TAG_LIMIT
from fakempi.mpi.complain import complaint
from fakempi.mpi.constants import (
    APPNUM,
    COMM_TYPE_SHARED,
    CONGRUENT,
    IDENT,
    IO,
    LASTUSEDCODE,
    SIMILAR,
    TAG_UB,
    UNDEFINED,
    UNEQUAL,
    UNIVERSE_SIZE,
    WTIME_IS_GLOBAL,
)  # fmt: skip
from fakempi.mpi.context import Context, Side
from fakempi.mpi.current import running_process
from fakempi.mpi.errhandler import ERRORS_RETURN, Errhandler, last_used_code
from fakempi.mpi.group import Group
from fakempi.mpi.identity import Handled
from fakempi.mpi.info import INFO_NULL, Info
from fakempi.mpi.meeting import meet
from fakempi.mpi.members import Members
from fakempi.mpi.persistent import Persistent
from fakempi.mpi.point import PointToPoint
from fakempi.mpi.point_objects import PointToPointObjects
from fakempi.mpi.probes import Probes
from fakempi.mpi.request import Request
from fakempi.mpi.waiting import wait_one


class Comm(PointToPoint, PointToPointObjects, Probes, Persistent, Attributed, Handled):
    """A communicator handle. Without an argument, the null one; with one, another handle of the same communicator."""

    __slots__ = ()

    def __new__(cls, comm: Comm | None = None) -> Any:
        self = super().__new__(cls)
        if comm is None or comm._context is None:
            self._become_null()
        else:
            self._attach(comm._process, comm._side, comm._there, comm._rank)  # type: ignore[arg-type]
            self._attributes, self._errhandler, self._info = comm._attributes, comm._errhandler, comm._info
            self._name, self._topology = comm._name, comm._topology
        return self

    @classmethod
    def _make(cls, process: Any, side: Side, there: Side, rank: int) -> Any:
        """A handle for a process that is `rank` on a side."""
        self = object.__new__(cls)
        self._attach(process, side, there, rank)
        return self

    def _stands_for(self) -> object | None:
        return self._context

    # -- who is in it ---------------------------------------------------------------------------------------------

    def Get_size(self) -> int:
        """The number of ranks in the (local) group."""
        return len(self._local().members)

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
        arrival = self._arrive("Idup", None, lambda values: context.meetings.pop(key))
        return self._furnish(twin, info), Request._of(self, arrival)

    def Idup_with_info(self, info: Info) -> tuple[Any, Request]:
        """Idup, with other info."""
        return self.Idup(info)

    def Create(self, group: Group) -> Any:
        """A communicator for the ranks of a group; the null one elsewhere."""
        raise NotImplementedError

    def Split(self, color: int = 0, key: int = 0) -> Any:
        """Communicators by colour, ranks in the order of key; a colour of UNDEFINED leaves a rank out."""
        if color != UNDEFINED and color < 0:
            self._raise(complaint(ERR_ARG, f"colour {color} is negative and not UNDEFINED."))
        return self._split("Split", None if color == UNDEFINED else color, key)

    def Split_type(self, split_type: int, key: int = 0, info: Info = INFO_NULL) -> Any:
        """Communicators of ranks that share a node (COMM_TYPE_SHARED), as the cost model places them."""
        self._check_alive()
        if split_type not in (COMM_TYPE_SHARED, UNDEFINED):
            raise NotImplementedError(f"Split_type: split type {split_type} is not emulated; COMM_TYPE_SHARED is.")
        node = self._process.universe.cost.node(self._process.number)
        return self._split("Split_type", None if split_type == UNDEFINED else (node,), key)

    def _split(self, plan: str, color: Any, key: int) -> Any:
        raise NotImplementedError

    def Free(self) -> None:
        """Give the communicator up: the handle becomes null."""
        self._check_alive()
        self._delete_attributes()
        self._become_null()

    free = Free
    Disconnect = Free

    def Abort(self, errorcode: int = 0) -> NoReturn:
        """End the whole run."""
        process = self._process or running_process()
        error = Aborted(errorcode)
        process.universe.fail(process, error)
        raise error

    # -- names, info, error handlers ------------------------------------------------------------------------------

    def Get_name(self) -> str:
        """Its name, empty unless set."""
        self._check_alive()
        return self._name or ""

    def Set_name(self, name: str) -> None:
        """Name it."""
        self._check_alive()
        self._name = str(name)

    def Get_info(self) -> Info:
        """A copy of its info."""
        self._check_alive()
        return Info.Create(self._info)

    def Set_info(self, info: Info) -> None:
        """Give it info."""
        self._check_alive()
        self._info = Info.Create(info)

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Callable[[Any, int], None]) -> Errhandler:
        """An error handler that calls a function with the communicator and the error code."""
        return Errhandler._calling(errhandler_fn)

    def Get_errhandler(self) -> Errhandler:
        """What happens on errors; ERRORS_RETURN (raise an exception) unless set."""
        self._check_alive()
        return Errhandler(self._errhandler or ERRORS_RETURN)

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        """Say what happens on errors."""
        self._check_alive()
        self._errhandler = Errhandler(errhandler)

    def Call_errhandler(self, errorcode: int) -> None:
        """Have an error happen; only ERRORS_ARE_FATAL makes it end anything."""
        self._check_alive()
        self._handle_error(MPIError(errorcode))

    def _predefined_attr(self, keyval: int) -> Any:
        size = len(self._process.universe.processes) if self._process else 0
        return {
            TAG_UB: TAG_LIMIT, IO: 0, WTIME_IS_GLOBAL: True, UNIVERSE_SIZE: size, APPNUM: 0,
            LASTUSEDCODE: last_used_code(),
        }.get(keyval)  # fmt: skip

    size = property(Get_size)
    rank = property(Get_rank)
    group = property(Get_group)
    is_inter = property(Is_inter)
    is_intra = property(Is_intra)
    name = property(Get_name, Set_name)
    info = property(Get_info, Set_info)

    def Get_topology(self) -> int:
        """CART, GRAPH, DIST_GRAPH, or UNDEFINED if it has none."""
        self._check_alive()
        return UNDEFINED if self._topology is None else self._topology.kind

    topology = property(Get_topology)
    is_topo = property(lambda self: self.Get_topology() != UNDEFINED)

    def Get_parent(self) -> Any:
        """The intercommunicator to those who spawned this process; null if nobody did."""
        raise NotImplementedError

    # -- inside ---------------------------------------------------------------------------------------------------

    def _local(self) -> Side:
        self._check_alive()
        assert self._side is not None
        return self._side

    def _furnish(self, context: Context, info: Info | None) -> Any:
        """A handle of the same kind in a context with the same sides, with all that a duplicate inherits."""
        mine = self._local().context.sides.index(self._local())
        new = type(self)._make(self._process, context.sides[mine], context.sides[-1 - mine], self._rank)
        new._errhandler, new._topology = self._errhandler, self._topology
        new._info = self._info if info is None else Info.Create(info)
        self._copy_attributes_to(new)
        return new

    def _arrive(self, plan: str, value: Any, conclude: Callable[[dict[int, Any]], Any]) -> Any:
        """Come to the next meeting of this communicator's ranks; returns what to wait for."""
        side = self._local()
        context = side.context
        side.calls[self._rank] = call = side.calls.get(self._rank, 0) + 1
        place = self._rank if side is context.sides[0] else self._rank + len(context.sides[0].members)
        awaits = side.members if len(context.sides) == 1 else [n for each in context.sides for n in each.members]
        return meet(context.meetings, call, plan, awaits, conclude, place, value, self._loop.now)

    def _meet(self, plan: str, value: Any, conclude: Callable[[dict[int, Any]], Any]) -> Any:
        """Meet all ranks of this communicator and return the conclusion, drawn once from {place: value}."""
        arrival = self._arrive(plan, value, conclude)
        wait_one(self._loop, arrival)
        if arrival.error is not None:
            self._raise(type(arrival.error)(arrival.error.ierr, arrival.error.message))
        return arrival.result

    def _check_group(self, group: Group, members: Members) -> Members:
        """The members of a group, all of which must be in this communicator."""
        if not isinstance(group, Group):
            raise complaint(ERR_ARG, f"expected a Group, not {type(group).__name__}.", MPITypeError)
        wanted: Members | None = group._members
        if wanted is None:
            raise complaint(ERR_ARG, "the group is null.")
        for number in wanted:
            if number not in members:
                world = self._process.universe.processes[number].rank
                self._raise(complaint(ERR_RANK, f"the group has world rank {world}, which is not in the communicator."))
        return wanted


def by_colour(values: dict[int, tuple[Any, int]]) -> dict[Any, list[int]]:
    """Of {rank: (colour, key)}, the ranks of each colour (None left out) by key and then by rank."""
    groups: dict[Any, list[tuple[int, int]]] = {}
    for rank in sorted(values):
        color, key = values[rank]
        if color is not None:
            groups.setdefault(color, []).append((key, rank))
    return {color: [rank for _, rank in sorted(group)] for color, group in groups.items()}
