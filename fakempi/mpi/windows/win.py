"""Win: the handle of a window, and the collective calls that create and free windows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, SupportsIndex

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import (
    ERR_ARG,
    ERR_DISP,
    ERR_PROC_FAILED,
    ERR_RMA_ATTACH,
    ERR_RMA_FLAVOR,
    ERR_RMA_SHARED,
    ERR_SIZE,
    ERR_WIN,
)  # fmt: skip
from fakempi.mpi.base.call_site import place_of_call
from fakempi.mpi.base.constants import (
    PROC_NULL,
    WIN_FLAVOR_ALLOCATE,
    WIN_FLAVOR_CREATE,
    WIN_FLAVOR_DYNAMIC,
    WIN_FLAVOR_SHARED,
)  # fmt: skip
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.buffers.address_constants import BottomType
from fakempi.mpi.buffers.buffer_protocol import export_buffer
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NO_BYTES, Memory, address_of, bytes_of, memory_of
from fakempi.mpi.buffers.typing import Bottom
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.comms.predefined import COMM_SELF
from fakempi.mpi.interfaces.buffers import Buffer
from fakempi.mpi.windows.accesses import OneSidedCalls
from fakempi.mpi.windows.epochs import LOAD_STORE_ORDER
from fakempi.mpi.windows.properties import WinProperties
from fakempi.mpi.windows.races import place_text
from fakempi.mpi.windows.window import OpenWindows, Window, WindowPart

if TYPE_CHECKING:
    from typing_extensions import Self


class Win(OneSidedCalls, WinProperties, Handled["Win"]):
    """A window: memory of each rank of a communicator that other ranks may access."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __new__(cls, win: Win | None = None) -> Self:
        if win is not None and not isinstance(win, Win):
            raise mpi_error(ERR_WIN, f"cannot create a {cls.__name__} from {win!r}.", MPITypeError)
        self = super().__new__(cls)
        self._part = None if win is None else win._part
        return self

    def _mpi_object(self) -> object | None:
        part = self._part
        return None if part is None or part.window is None else part

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._mpi_object() is None:
            return "WIN_NULL" if self is WIN_NULL else (type(self), ())
        raise mpi_error(ERR_WIN, "a Win cannot be pickled: it is only valid in this process.", MPIValueError)

    def __repr__(self) -> str:
        part = self._part
        if part is None or part.window is None:
            return f"<{type(self).__name__}: null>"
        name = f"{part.name!r}, " if part.name else ""
        return f"<{type(self).__name__}: {name}rank {part.rank} of {len(part.window.parts)}, {part.size} bytes>"

    # -- creation -----------------------------------------------------------------------------------------------------

    @classmethod
    def Create(
        cls, memory: Buffer | Bottom, disp_unit: int = 1, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF
    ) -> Self:
        """Create a window of existing memory: any writable buffer, None for no memory, or a phantom."""
        part_memory: Memory = NO_BYTES
        if memory is not None and not isinstance(memory, BottomType):
            part_memory = bytes_of(memory_of(memory, writable=True)[0])
        return cls._create("Win.Create", WIN_FLAVOR_CREATE, part_memory, disp_unit, info, comm, memory)

    @classmethod
    def Allocate(cls, size: int, disp_unit: int = 1, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF) -> Self:
        """Create a window of new memory, of `size` bytes on this rank."""
        memory = running_process().universe.window_memory(_size(size))
        return cls._create("Win.Allocate", WIN_FLAVOR_ALLOCATE, memory, disp_unit, info, comm)

    @classmethod
    def Allocate_shared(cls, size: int, disp_unit: int = 1, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF) -> Self:
        """Create a window of contiguous memory that ranks of a node access by loads and stores (`Shared_query`)."""
        _check_comm(comm)
        side = comm._local()
        universe = side.context.universe
        nodes = {universe.cost.node(number) for number in side.members} if universe.has_nodes else {0}
        if len(nodes) > 1:
            sentence = f"the communicator's ranks are on {len(nodes)} nodes: only ranks of one node share memory."
            comm._raise(mpi_error(ERR_RMA_SHARED, sentence))
        if len(side.members) > 1:
            universe.note_unexplored(LOAD_STORE_ORDER)

        def share(parts: list[WindowPart]) -> None:
            starts = [0, *accumulate(part.size for part in parts)]
            whole = universe.window_memory(starts[-1])
            for part, start, end in zip(parts, starts, starts[1:], strict=False):
                part.memory = whole[start:end]

        memory = Phantom(_size(size))  # until all sizes are known
        return cls._create("Win.Allocate_shared", WIN_FLAVOR_SHARED, memory, disp_unit, info, comm, conclude=share)

    @classmethod
    def Create_dynamic(cls, info: Info = INFO_NULL, comm: Intracomm = COMM_SELF) -> Self:
        """Create a window to which ranks attach memory; displacements are addresses (`MPI.Get_address`)."""
        return cls._create("Win.Create_dynamic", WIN_FLAVOR_DYNAMIC, NO_BYTES, 1, info, comm)

    @classmethod
    def _create(
        cls, call: str, flavor: int, memory: Any, disp_unit: SupportsIndex, info: Info, comm: Intracomm,
        keep_alive: Any = None, conclude: Callable[[list[WindowPart]], None] | None = None,
    ) -> Self:  # fmt: skip
        """Create a window collectively: each rank contributes its part, and the last rank combines them."""
        _check_comm(comm)
        side = comm._local()
        unit = integer("disp_unit", disp_unit, 64)
        if unit < 1:
            comm._raise(mpi_error(ERR_DISP, f"disp_unit {unit} is not positive."))
        place = place_of_call()
        part = WindowPart(comm._process, comm._rank, memory, unit, keep_alive)
        if info:
            part.info = Info._copy_of(info)

        def build_window(values: dict[int, WindowPart]) -> None:
            parts = [values[rank] for rank in range(len(values))]
            if conclude is not None:
                conclude(parts)
            universe = side.context.universe
            window = Window(Context(universe, side.members), side.members, flavor, parts, (call, place))
            universe.state(OpenWindows).windows.append(window)
            for new_part in parts:
                new_part.window = window
                if flavor == WIN_FLAVOR_DYNAMIC:
                    new_part.attached = {}
                if universe.buffer_checks is not None and universe.buffer_checks.reports:
                    new_part.start_checks()

        comm._rendezvous(call, part, build_window)
        self = cls()
        self._part = part
        return self

    def Free(self) -> None:
        """Free the window, a collective call."""
        part = self._alive()
        if part.locks or part.lock_all is not None or part.started is not None or part.exposure is not None:
            self._open_epoch(part, "Free")
        context = part.window.context  # type: ignore[union-attr]  # the window is not freed
        if part.fence_has_operations and context.fault_state is None:
            fence = f"the Fence at {place_text(part.fence_place)}"
            self._misuse(part, f"operations after {fence} are not complete: another Fence must end them.")
        if part.stores is not None:
            part.stores.check_past()
        self._delete_attributes()
        window, failed = part.window, None
        assert window is not None
        try:
            self._synchronize(part, "Free")
        except MPIError as error:
            if error.Get_error_class() != ERR_PROC_FAILED:
                raise
            failed = error  # the window is freed nevertheless
        window.freed += 1
        part.window = None
        if window.is_freed():
            part.process.universe.state(OpenWindows).windows.remove(window)
        part.drop_references()
        if failed is not None:
            self._raise(failed)

    def free(self) -> None:
        """Free the window unless it is null."""
        if self:
            self.Free()

    # -- memory -------------------------------------------------------------------------------------------------------

    def Shared_query(self, rank: int) -> tuple[buffer, int]:
        """Return the memory and the displacement unit of a rank; for PROC_NULL, of the first rank with any memory.

        Unless the window was created by Allocate_shared, only the rank's own memory is available.
        """
        part = self._alive()
        window: Any = part.window
        if window.flavor == WIN_FLAVOR_DYNAMIC:
            self._raise(mpi_error(ERR_RMA_FLAVOR, "a dynamic window has no shared memory."))
        if rank == PROC_NULL:
            target_part = next((candidate for candidate in window.parts if candidate.size), window.parts[0])
        else:
            target_part = window.parts[self._target(part, rank)]
        if target_part is not part and window.flavor != WIN_FLAVOR_SHARED:
            return buffer.allocate(0)._without_address(), 1
        part_memory = buffer._of_memory(target_part.memory, self)
        return part_memory if target_part.size else part_memory._without_address(), target_part.unit

    def Attach(self, memory: Buffer) -> None:
        """Attach memory to a dynamic window."""
        part = self._dynamic()
        attached = bytes_of(memory_of(memory, writable=True)[0])
        if isinstance(attached, Phantom):
            raise mpi_error(ERR_ARG, f"{memory!r} has no memory and therefore no address.", MPITypeError)
        start = address_of(attached)
        for address, other in part.attached.items():  # type: ignore[union-attr]  # a dynamic window has attached memory
            if len(attached) and address < start + len(attached) and start < address + len(other):
                sentence = f"addresses {start} to {start + len(attached)} overlap with memory that is attached at {address}."
                self._raise(mpi_error(ERR_RMA_ATTACH, sentence))
        part.attached[start] = attached  # type: ignore[index]  # a dynamic window has attached memory

    def Detach(self, memory: Buffer) -> None:
        """Detach memory from a dynamic window."""
        part = self._dynamic()
        attached = bytes_of(memory_of(memory)[0])
        if isinstance(attached, Phantom) or part.attached.pop(address_of(attached), None) is None:  # type: ignore[union-attr]  # a dynamic window has attached memory
            self._raise(mpi_error(ERR_RMA_ATTACH, "this memory is not attached."))

    def _dynamic(self) -> WindowPart:
        part = self._alive()
        if part.attached is None:
            self._raise(mpi_error(ERR_RMA_FLAVOR, "only windows of Create_dynamic support Attach and Detach."))
        return part


def _size(size: SupportsIndex) -> int:
    nbytes = integer("size", size, 64)
    if nbytes < 0:
        raise mpi_error(ERR_SIZE, f"size {nbytes} is negative.")
    return nbytes


WIN_NULL = Win()
export_buffer(Win, lambda win: win.tomemory()._memory)  # for Python before 3.12, which does not call `__buffer__`


def _check_comm(comm: object) -> None:
    """Raise an error unless an argument is an intracommunicator."""
    if not isinstance(comm, Intracomm):
        raise mpi_error(ERR_ARG, f"comm is {comm!r}, not an intracommunicator.", MPITypeError)
