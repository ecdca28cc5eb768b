"""Session: a door to MPI of its own, with the sets of processes that it knows by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakempi.error_classes import ERR_ARG, ERR_SESSION
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.errhandler import Errhandler
from fakempi.mpi.base.handling import HandlesErrors
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.waiting import AllOf, wait_all
from fakempi.mpi.comms.group import Group
from fakempi.mpi.point.buffered import attach, detach, pending
from fakempi.mpi.point.request import Request

if TYPE_CHECKING:
    from typing_extensions import Self

WORLD, SELF, NODE = "mpi://WORLD", "mpi://SELF", "fakempi://NODE"
PSETS = (WORLD, SELF, NODE)
"""The sets that there are: all ranks, this one, and those of its node."""


class Opened:
    """What handles of a session stand for."""

    __slots__ = ("__weakref__", "errhandler", "info", "process")

    def __init__(self, process: Any, info: Info | None, errhandler: Errhandler | None) -> None:
        self.process, self.info, self.errhandler = process, info, errhandler


class Session(HandlesErrors, Handled):
    """A handle of a session. Init and Finalize take no time, and ask nobody."""

    __slots__ = ("__weakref__", "_opened")
    __module__ = "fakempi.MPI"

    _opened: Opened | None  # None: null

    def __new__(cls, session: Session | None = None) -> Self:
        if session is not None and not isinstance(session, Session):
            raise complaint(ERR_SESSION, f"cannot make a {cls.__name__} of {session!r}.", MPITypeError)
        self = super().__new__(cls)
        self._opened = None if session is None else session._opened
        return self

    def _stands_for(self) -> object | None:
        return self._opened

    def __reduce__(self) -> Any:
        if self._opened is None:
            return "SESSION_NULL" if self is SESSION_NULL else (type(self), ())
        words = "a Session cannot be pickled: it means nothing to another process."
        raise complaint(ERR_SESSION, words, MPIValueError)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {'null' if self._opened is None else self._opened.process.name}>"

    # -- from Init to Finalize ------------------------------------------------------------------------------------------

    @classmethod
    def Init(cls, info: Info = INFO_NULL, errhandler: Errhandler | None = None) -> Self:
        """Open a session."""
        self = cls()
        self._opened = Opened(running_process(), Info._copy_of(info) if info else None, errhandler)
        owes("missing-finalize", self._opened, "the session was never finalized")
        return self

    def Finalize(self) -> None:
        """Close it: the handle becomes null. Communicators that were made of its groups stay."""
        done("missing-finalize", self._alive())
        self._opened = None

    def free(self) -> None:
        """As `Finalize`, but a null session is left in peace."""
        if self:
            self.Finalize()

    # -- sets of processes ----------------------------------------------------------------------------------------------

    def Get_num_psets(self, info: Info = INFO_NULL) -> int:
        """How many sets there are."""
        self._alive()
        return len(PSETS)

    def Get_nth_pset(self, n: int, info: Info = INFO_NULL) -> str:
        """The name of a set: `mpi://WORLD`, `mpi://SELF`, or `fakempi://NODE`, the ranks of this one's node."""
        self._alive()
        number = integer("n", n)
        if not 0 <= number < len(PSETS):
            self._raise(complaint(ERR_ARG, f"set {number} is not in 0..{len(PSETS) - 1}."))
        return PSETS[number]

    def Get_info(self) -> Info:
        """What it was given at Init."""
        return Info.Create(self._alive().info)

    def Get_pset_info(self, pset_name: str) -> Info:
        """How many are in a set: `mpi_size`."""
        return Info.Create({"mpi_size": str(len(self._members(pset_name)))})

    def Create_group(self, pset_name: str) -> Group:
        """The group of a set."""
        members = self._members(pset_name)
        return Group._make(members, self._alive().process.number)

    def _members(self, name: Any) -> Members:
        process = self._alive().process
        world: Members = process.comm_world._side.members
        if name == WORLD:
            return world
        if name == SELF:
            return Members.of((process.number,))
        if name != NODE:
            self._raise(complaint(ERR_ARG, f"there is no set {name!r}; there are {', '.join(PSETS)}."))
        cost = process.universe.cost
        if not process.universe.has_nodes:
            return world
        known = process.universe.node_members
        here = cost.node(process.number)
        if (world, here) not in known:
            for number in world:  # of all nodes at once, or each rank would have to look at every other
                known.setdefault((world, cost.node(number)), []).append(number)
        known[world, here] = members = Members.of(known[world, here])
        return members

    # -- buffers for sends that have none of their own ------------------------------------------------------------------

    def Attach_buffer(self, buf: Any) -> None:
        """Attach memory to the session. No send takes it: a communicator's sends take its own, or the rank's."""
        opened = self._alive()
        attach(opened.process, opened, buf)

    def Detach_buffer(self) -> Any:
        """The memory that was attached."""
        opened = self._alive()
        return detach(opened.process, opened)

    def Flush_buffer(self) -> None:
        """Wait until what is in the buffer has been sent."""
        opened = self._alive()
        wait_all(opened.process.loop, pending(opened.process, opened))

    def Iflush_buffer(self) -> Request:
        """Start to wait until what is in the buffer has been sent."""
        opened = self._alive()
        return Request._of(opened.process.comm_world, AllOf(pending(opened.process, opened)))

    def _alive(self) -> Opened:
        if self._opened is None:
            raise complaint(ERR_SESSION, "the session is null: it was never opened, or was finalized.")
        return self._opened

    def _check_alive(self) -> None:
        self._alive()

    def _errhandler(self) -> Errhandler | None:
        return self._alive().errhandler

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        self._alive().errhandler = errhandler


SESSION_NULL = Session()
