"""Sessions: initialize MPI independently of other libraries, and query process sets by name."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_SESSION
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.errhandler_calls import HandlesErrors
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.process import Process, RunState, Universe
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.base.waiting import AllOf, wait_all
from fakempi.mpi.comms.group import Group
from fakempi.mpi.interfaces.buffers import Buffer
from fakempi.mpi.point.buffered import attach, detach, pending
from fakempi.mpi.point.request import Request

if TYPE_CHECKING:
    from typing_extensions import Self

WORLD, SELF, NODE = "mpi://WORLD", "mpi://SELF", "fakempi://NODE"
PSETS = (WORLD, SELF, NODE)
"""The process sets: all ranks, this rank, and the ranks of its node."""


class NodeMembers(RunState):
    """The processes of each node, shared by all ranks."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.known: dict[tuple[Members, Hashable], Members] = {}  # by world and node


class SessionState:
    """The state that all handles of a session share."""

    __slots__ = ("__weakref__", "errhandler", "info", "process")

    def __init__(self, process: Process, info: Info | None, errhandler: Errhandler | None) -> None:
        self.process, self.info, self.errhandler = process, info, errhandler


class Session(HandlesErrors, Handled["Session"]):
    """A handle of a session. Init and Finalize are local and take no modeled time."""

    __slots__ = ("__weakref__", "_state")
    __module__ = "fakempi.MPI"

    _state: SessionState | None  # None: null

    def __new__(cls, session: Session | None = None) -> Self:
        if session is not None and not isinstance(session, Session):
            raise mpi_error(ERR_SESSION, f"cannot create a {cls.__name__} from {session!r}.", MPITypeError)
        self = super().__new__(cls)
        self._state = None if session is None else session._state
        return self

    def _mpi_object(self) -> object | None:
        return self._state

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._state is None:
            return "SESSION_NULL" if self is SESSION_NULL else (type(self), ())
        sentence = "a Session cannot be pickled: it is only valid in this process."
        raise mpi_error(ERR_SESSION, sentence, MPIValueError)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {'null' if self._state is None else self._state.process.name}>"

    # -- from Init to Finalize ------------------------------------------------------------------------------------------

    @classmethod
    def Init(cls, info: Info = INFO_NULL, errhandler: Errhandler | None = None) -> Self:
        """Open a session."""
        self = cls()
        self._state = SessionState(running_process(), Info._copy_of(info) if info else None, errhandler)
        track("missing-finalize", self._state, "the session was never finalized")
        return self

    def Finalize(self) -> None:
        """Close the session: the handle becomes null. Communicators made from its groups stay valid."""
        untrack("missing-finalize", self._alive())
        self._state = None

    def free(self) -> None:
        """Finalize the session; do nothing if it is null."""
        if self:
            self.Finalize()

    # -- sets of processes ----------------------------------------------------------------------------------------------

    def Get_num_psets(self, info: Info = INFO_NULL) -> int:
        """Return the number of process sets."""
        self._alive()
        return len(PSETS)

    def Get_nth_pset(self, n: int, info: Info = INFO_NULL) -> str:
        """Return the name of a process set: `mpi://WORLD`, `mpi://SELF`, or `fakempi://NODE`, the ranks of this node."""
        self._alive()
        number = integer("n", n)
        if not 0 <= number < len(PSETS):
            self._raise(mpi_error(ERR_ARG, f"process set {number} is not in 0..{len(PSETS) - 1}."))
        return PSETS[number]

    def Get_info(self) -> Info:
        """Return a copy of the info passed to Init."""
        return Info.Create(self._alive().info)

    def Get_pset_info(self, pset_name: str) -> Info:
        """Return info about a process set: its size, `mpi_size`."""
        return Info.Create({"mpi_size": str(len(self._members(pset_name)))})

    def Create_group(self, pset_name: str) -> Group:
        """Return the group of a process set."""
        members = self._members(pset_name)
        return Group._make(members, self._alive().process.number)

    def _members(self, name: str) -> Members:
        process = self._alive().process
        world: Members = process.comm_world._side.members
        if name == WORLD:
            return world
        if name == SELF:
            return Members.of((process.number,))
        if name != NODE:
            self._raise(mpi_error(ERR_ARG, f"there is no process set {name!r}; there are {', '.join(PSETS)}."))
        cost = process.universe.cost
        if not process.universe.has_nodes:
            return world
        known = process.universe.state(NodeMembers).known
        node_of_rank = cost.node(process.number)
        if (world, node_of_rank) not in known:
            by_node: dict[Hashable, list[int]] = {}
            for number in world:  # for all nodes at once, so that not every rank has to compare itself with all others
                by_node.setdefault(cost.node(number), []).append(number)
            known.update({(world, node): Members.of(numbers) for node, numbers in by_node.items()})
        return known[world, node_of_rank]

    # -- buffers for buffered sends ------------------------------------------------------------------

    def Attach_buffer(self, buf: Buffer | None) -> None:
        """Attach memory to the session. No send uses it: sends use their communicator's buffer, or the rank's."""
        state = self._alive()
        attach(state.process, state, buf)

    def Detach_buffer(self) -> Buffer | None:
        """Detach the buffer and return its memory."""
        state = self._alive()
        return detach(state.process, state)

    def Flush_buffer(self) -> None:
        """Wait until all messages in the buffer have been sent."""
        state = self._alive()
        wait_all(state.process.loop, pending(state.process, state))

    def Iflush_buffer(self) -> Request:
        """Start to wait until all messages in the buffer have been sent."""
        state = self._alive()
        return Request._of(state.process.comm_world, AllOf(pending(state.process, state)))

    def _alive(self) -> SessionState:
        if self._state is None:
            raise mpi_error(ERR_SESSION, "the session is null: not initialized, or finalized.")
        return self._state

    def _check_alive(self) -> None:
        self._alive()

    def _errhandler(self) -> Errhandler | None:
        return self._alive().errhandler

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        self._alive().errhandler = errhandler


SESSION_NULL = Session()
