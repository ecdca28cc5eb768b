"""What a program puts on a window, and asks it: a name, info, an error handler, attributes; its memory and its group."""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError
from fakempi.mpi.base.attributes import Attributed
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import (
    WIN_BASE,
    WIN_CREATE_FLAVOR,
    WIN_DISP_UNIT,
    WIN_MODEL,
    WIN_SIZE,
    WIN_UNIFIED,
)  # fmt: skip
from fakempi.mpi.base.info import Info
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.comms.group import Group
from fakempi.mpi.windows.handle import WinState


class Furnished(WinState, Attributed):
    """A window's name, info, error handler, attributes, memory and group."""

    __slots__ = ()
    _attribute_kind = "Win"

    def Get_name(self) -> str:
        """Its name, empty unless it was given one."""
        return "MPI_WIN_NULL" if self._part is None else self._alive().name or ""

    def Set_name(self, name: str) -> None:
        """Name it."""
        self._alive().name = str(name)

    def Get_info(self) -> Info:
        """A copy of its info."""
        return Info.Create(self._alive().info)

    def Set_info(self, info: Info) -> None:
        """Give it info, from which nothing follows."""
        self._alive().info = Info._copy_of(info)

    def Get_group(self) -> Group:
        """The ranks that have made it."""
        part = self._alive()
        return Group._make(part.window.members, part.process.number)  # type: ignore[union-attr]

    def tomemory(self) -> buffer:
        """This rank's own memory in it."""
        memory = self._alive().memory
        if isinstance(memory, Phantom):
            raise complaint(ERR_ARG, f"the window is of {memory!r}, which has no memory.", MPITypeError)
        found = buffer._over(memory, self)
        return found if len(memory) else found._without_address()

    def __buffer__(self, flags: int) -> memoryview:
        """The same for whoever knows the buffer protocol; Python asks for it from 3.12 on."""
        held: Any = self.tomemory()._held
        return memoryview(held)

    name = property(Get_name, Set_name)
    info = property(Get_info, Set_info)
    group = property(Get_group)
    group_size = property(lambda self: self.Get_group().size)
    group_rank = property(lambda self: self.Get_group().rank)

    @property
    def attrs(self) -> tuple[int, int, int]:
        """Where its memory starts, how many bytes it has, and the unit of displacements."""
        part = self._alive()
        return part.base, part.size, part.unit

    @property
    def flavor(self) -> int:
        """How it was made: WIN_FLAVOR_CREATE, ..."""
        return self._alive().window.flavor  # type: ignore[union-attr]

    @property
    def model(self) -> int:
        """WIN_UNIFIED: there is one memory, and no copy of it."""
        self._alive()
        return WIN_UNIFIED

    def _predefined_attr(self, keyval: int) -> Any:
        base, size, unit = self.attrs
        return {
            WIN_BASE: base, WIN_SIZE: size, WIN_DISP_UNIT: unit, WIN_CREATE_FLAVOR: self.flavor, WIN_MODEL: self.model,
        }.get(keyval)  # fmt: skip

    def _values(self, make: bool = False) -> Any:
        part = self._alive()
        if make and part.attributes is None:
            part.attributes = {}
        return part.attributes
