"""Properties of a window: name, info, error handler, attributes, memory and group."""

from __future__ import annotations

from typing import Any

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.attributes import Attributed, object_name
from fakempi.mpi.base.constants import (
    WIN_BASE,
    WIN_CREATE_FLAVOR,
    WIN_DISP_UNIT,
    WIN_MODEL,
    WIN_SIZE,
    WIN_UNIFIED,
)  # fmt: skip
from fakempi.mpi.base.info import Info
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.comms.group import Group
from fakempi.mpi.windows.handle import WinState


class WinProperties(WinState, Attributed):
    """A window's name, info, error handler, attributes, memory and group."""

    __slots__ = ()
    _attribute_kind = "Win"

    def Get_name(self) -> str:
        """Return the window's name, empty by default."""
        return "MPI_WIN_NULL" if self._part is None else self._alive().name or ""

    def Set_name(self, name: str) -> None:
        """Set the window's name, truncated to MAX_OBJECT_NAME."""
        self._alive().name = object_name(name)

    def Get_info(self) -> Info:
        """Return a copy of the window's info."""
        return Info.Create(self._alive().info)

    def Set_info(self, info: Info) -> None:
        """Set the window's info, which has no effect."""
        self._alive().info = Info._copy_of(info)

    def Get_group(self) -> Group:
        """Return the group of the communicator that created the window."""
        part = self._alive()
        return Group._make(part.window.members, part.process.number)  # type: ignore[union-attr]  # the window is not freed

    def tomemory(self) -> buffer:
        """Return this rank's memory in the window."""
        memory = self._alive().memory
        if isinstance(memory, Phantom):
            raise mpi_error(ERR_ARG, f"the window consists of {memory!r}, which has no memory.", MPITypeError)
        result = buffer._of_memory(memory, self)
        return result if len(memory) else result._without_address()

    def __buffer__(self, flags: int) -> memoryview:
        """Export this rank's memory by the buffer protocol; Python calls this method from 3.12 on."""
        held: Any = self.tomemory()._memory
        return memoryview(held)

    @property
    def name(self) -> str:
        """The name."""
        return self.Get_name()

    @name.setter
    def name(self, name: str) -> None:
        self.Set_name(name)

    @property
    def info(self) -> Info:
        """A copy of the info."""
        return self.Get_info()

    @info.setter
    def info(self, info: Info) -> None:
        self.Set_info(info)

    @property
    def group(self) -> Group:
        """The group of the window."""
        return self.Get_group()

    @property
    def group_size(self) -> int:
        """The number of ranks in the group."""
        return self.Get_group().size

    @property
    def group_rank(self) -> int:
        """This process's rank in the group."""
        return self.Get_group().rank

    @property
    def attrs(self) -> tuple[int, int, int]:
        """Address and size of this rank's memory, and the displacement unit."""
        part = self._alive()
        return part.base, part.size, part.unit

    @property
    def flavor(self) -> int:
        """The kind of window: WIN_FLAVOR_CREATE, ..."""
        return self._alive().window.flavor  # type: ignore[union-attr]  # the window is not freed

    @property
    def model(self) -> int:
        """WIN_UNIFIED: public and private memory are the same."""
        self._alive()
        return WIN_UNIFIED

    def _predefined_attr(self, keyval: int) -> object:
        base, size, unit = self.attrs
        return {
            WIN_BASE: base, WIN_SIZE: size, WIN_DISP_UNIT: unit, WIN_CREATE_FLAVOR: self.flavor, WIN_MODEL: self.model,
        }.get(keyval)  # fmt: skip

    def _values(self, make: bool = False) -> Any:
        part = self._alive()
        if make and part.attributes is None:
            part.attributes = {}
        return part.attributes
