"""Win: the handle of a window, and how windows are made and freed, by all ranks of a communicator together."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from fakempi.error_classes import (
    ERR_ARG,
    ERR_DISP,
    ERR_PROC_FAILED,
    ERR_RMA_ATTACH,
    ERR_RMA_FLAVOR,
    ERR_RMA_SHARED,
    ERR_SIZE,
    ERR_WIN,
)  # fmt: skip
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import call_site, complaint, integer
from fakempi.mpi.base.constants import (
    PROC_NULL,
    WIN_FLAVOR_ALLOCATE,
    WIN_FLAVOR_CREATE,
    WIN_FLAVOR_DYNAMIC,
    WIN_FLAVOR_SHARED,
)  # fmt: skip
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import BottomType
from fakempi.mpi.buffers.raw import NOTHING, Memory, address_of, bytes_of, memory_of
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.comms.predefined import COMM_SELF
from fakempi.mpi.windows.accesses import OneSided
from fakempi.mpi.windows.epochs import LOADS
from fakempi.mpi.windows.properties import Furnished
from fakempi.mpi.windows.window import Part, Window

if TYPE_CHECKING:
    from typing_extensions import Self


class Win(OneSided, Furnished, Handled):
    """A window: memory of each rank of a communicator that the others may reach."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, win: Win | None = None) -> Any:
        if win is not None and not isinstance(win, Win):
            raise complaint(ERR_WIN, f"cannot make a {cls.__name__} of {win!r}.", MPITypeError)
        self = super().__new__(cls)
        self._part = None if win is None else win._part
        return self

    def _stands_for(self) -> object | None:
        part = self._part
        return None if part is None or part.window is None else part

    def __reduce__(self) -> Any:
        if self._stands_for() is None:
            return "WIN_NULL" if self is WIN_NULL else (type(self), ())
        raise complaint(ERR_WIN, "a Win cannot be pickled: it means nothing to another process.", MPIValueError)

    def __repr__(self) -> str:
        part = self._part
        if part is None or part.window is None:
            return f"<{type(self).__name__}: null>"
        name = f"{part.name!r}, " if part.name else ""
        return f"<{type(self).__name__}: {name}rank {part.rank} of {len(part.window.parts)}, {part.size} bytes>"

    # -- making -------------------------------------------------------------------------------------------------------

    @classmethod
    def Create(cls, memory: Any, disp_unit: int = 1, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF) -> Self:
        """A window of memory that each rank brings: anything writable, None for nothing, or a phantom."""
        found: Memory = NOTHING
        if memory is not None and not isinstance(memory, BottomType):
            found = bytes_of(memory_of(memory, writable=True)[0])
        return cls._made("Win.Create", WIN_FLAVOR_CREATE, found, disp_unit, info, comm, memory)

    @classmethod
    def Allocate(cls, size: int, disp_unit: int = 1, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF) -> Self:
        """A window of new memory, of as many bytes as each rank says."""
        memory = np.zeros(_size(size), np.uint8)
        return cls._made("Win.Allocate", WIN_FLAVOR_ALLOCATE, memory, disp_unit, info, comm)

    @classmethod
    def Allocate_shared(
        cls, size: int, disp_unit: int = 1, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF
    ) -> Self:
        """As `Allocate`, in one stretch of memory that ranks of a node reach with loads and stores (`Shared_query`)."""
        side = comm._local()
        universe = side.context.universe
        nodes = {universe.cost.node(number) for number in side.members} if universe.has_nodes else {0}
        if len(nodes) > 1:
            words = f"the communicator's ranks are on {len(nodes)} nodes: only those of one share memory."
            comm._raise(complaint(ERR_RMA_SHARED, words))
        if len(side.members) > 1:
            universe.leaves_open(LOADS)

        def share(parts: list[Part]) -> None:
            starts = [0, *accumulate(part.size for part in parts)]
            whole = np.zeros(starts[-1], np.uint8)
            for part, start, end in zip(parts, starts, starts[1:], strict=False):
                part.memory = whole[start:end]

        room = Phantom(_size(size))  # until it is known where
        return cls._made("Win.Allocate_shared", WIN_FLAVOR_SHARED, room, disp_unit, info, comm, conclude=share)

    @classmethod
    def Create_dynamic(cls, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF) -> Self:
        """A window of what ranks attach to it; displacements are addresses (`MPI.Get_address`)."""
        return cls._made("Win.Create_dynamic", WIN_FLAVOR_DYNAMIC, NOTHING, 1, info, comm)

    @classmethod
    def _made(
        cls, plan: str, flavor: int, memory: Any, disp_unit: Any, info: Any, comm: Any, keep: Any = None,
        conclude: Callable[[list[Part]], None] | None = None,
    ) -> Self:  # fmt: skip
        """All ranks of a communicator make a window: each brings its part, the last one puts them together."""
        if not isinstance(comm, Intracomm):
            raise complaint(ERR_ARG, f"comm is {comm!r}, not an intracommunicator.", MPITypeError)
        side = comm._local()
        unit = integer("disp_unit", disp_unit)
        if unit < 1:
            comm._raise(complaint(ERR_DISP, f"disp_unit {unit} is not positive."))
        site = call_site()
        part = Part(comm._process, comm._rank, memory, unit, keep)
        if info:
            part.info = Info._copy_of(info)

        def put_together(values: dict[int, Part]) -> None:
            parts = [values[rank] for rank in range(len(values))]
            if conclude is not None:
                conclude(parts)
            universe = side.context.universe
            window = Window(Context(universe, side.members), side.members, flavor, parts, (plan, site))
            universe.windows.append(window)
            for one in parts:
                one.window = window
                if flavor == WIN_FLAVOR_DYNAMIC:
                    one.attached = {}
                if universe.pins is not None:
                    one.watch()

        comm._meet(plan, part, put_together)
        self = cls()
        self._part = part
        return self

    def Free(self) -> None:
        """Give the window up, all ranks together."""
        part = self._alive()
        if part.locks or part.everywhere is not None or part.started is not None or part.exposure is not None:
            self._open_epoch(part, "Free")
        self._delete_attributes()
        window, failed = part.window, None
        assert window is not None
        try:
            self._gather(part, "Free")
        except MPIError as error:
            if error.Get_error_class() != ERR_PROC_FAILED:
                raise
            failed = error  # there is no more to be done with it
        window.freed += 1
        part.window = None
        if window.is_freed():
            part.process.universe.windows.remove(window)
        part.let_go()
        if failed is not None:
            self._raise(failed)

    def free(self) -> None:
        """As `Free`, but a null window is left in peace."""
        if self:
            self.Free()

    # -- memory -------------------------------------------------------------------------------------------------------

    def Shared_query(self, rank: int) -> tuple[buffer, int]:
        """The memory of a rank, and its unit of displacements; of PROC_NULL, of the first rank that has any.

        Unless the window was made by Allocate_shared, there is none but one's own.
        """
        part = self._alive()
        window: Any = part.window
        if window.flavor == WIN_FLAVOR_DYNAMIC:
            self._raise(complaint(ERR_RMA_FLAVOR, "a dynamic window has no memory of its own to share."))
        if rank == PROC_NULL:
            there = next((one for one in window.parts if one.size), window.parts[0])
        else:
            there = window.parts[self._target(part, rank)]
        if there is not part and window.flavor != WIN_FLAVOR_SHARED:
            return buffer.allocate(0)._without_address(), 1
        found = buffer._over(there.memory, self)
        return found if there.size else found._without_address(), there.unit

    def Attach(self, memory: Any) -> None:
        """Add memory to a dynamic window."""
        part = self._dynamic()
        found = bytes_of(memory_of(memory, writable=True)[0])
        if isinstance(found, Phantom):
            raise complaint(ERR_ARG, f"{memory!r} has no memory, hence no address.", MPITypeError)
        start = address_of(found)
        for address, other in part.attached.items():  # type: ignore[union-attr]
            if len(found) and address < start + len(found) and start < address + len(other):
                words = f"bytes {start} to {start + len(found)} overlap with what is attached from {address} on."
                self._raise(complaint(ERR_RMA_ATTACH, words))
        part.attached[start] = found  # type: ignore[index]

    def Detach(self, memory: Any) -> None:
        """Take memory away from a dynamic window."""
        part = self._dynamic()
        found = bytes_of(memory_of(memory)[0])
        if isinstance(found, Phantom) or part.attached.pop(address_of(found), None) is None:  # type: ignore[union-attr]
            self._raise(complaint(ERR_RMA_ATTACH, "this memory is not attached."))

    def _dynamic(self) -> Part:
        part = self._alive()
        if part.attached is None:
            self._raise(complaint(ERR_RMA_FLAVOR, "memory is attached to windows of Create_dynamic only."))
        return part


def _size(size: Any) -> int:
    nbytes = integer("size", size)
    if nbytes < 0:
        raise complaint(ERR_SIZE, f"size {nbytes} is negative.")
    return nbytes


WIN_NULL = Win()
