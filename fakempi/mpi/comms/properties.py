"""What a program puts on a communicator: a name, info, an error handler, attributes; and a topology.

A rank may have several handles of a communicator, and what is put on it through one is there through all of them.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from fakempi.mpi.base.attributes import Attributed
from fakempi.mpi.base.constants import (
    ANY_SOURCE,
    APPNUM,
    IO,
    LASTUSEDCODE,
    TAG_UB,
    UNDEFINED,
    UNIVERSE_SIZE,
    WTIME_IS_GLOBAL,
)  # fmt: skip
from fakempi.mpi.base.errhandler import Errhandler, last_used_code
from fakempi.mpi.base.info import Info
from fakempi.mpi.point.handle import TAG_LIMIT, CommState


class Belongings:
    """What was put on a communicator: one object for all handles of it that a rank has."""

    __slots__ = ("attributes", "errhandler", "handles", "info", "name", "topology")

    def __init__(self) -> None:
        self.attributes: Any = None
        self.errhandler: Errhandler | None = None
        self.handles: list[ref[Any]] = []  # if there is more than one
        self.info: Info | None = None
        self.name: str | None = None
        self.topology: Any = None

    def add_handle(self, *handles: Any) -> None:
        """Remember more handles, and forget those that are gone."""
        self.handles = [*(each for each in self.handles if each() is not None), *map(ref, handles)]


class Furnished(CommState, Attributed):
    """A communicator's name, info, error handler, attributes and topology."""

    __slots__ = ("_own",)
    _attribute_kind = "Comm"

    _own: Belongings | None  # most have none

    def _belongings(self) -> Belongings:
        if self._own is None:
            self._own = Belongings()
        return self._own

    def _belonging(self, name: str) -> Any:
        return None if self._own is None else getattr(self._own, name)

    def _predefined(self) -> str:
        """The name of the communicator if it is one that MPI makes, else an empty one."""
        process = self._process
        if self._context is None:
            return "COMM_NULL"
        if self._context is process.comm_world._context:
            return "COMM_WORLD"
        return "COMM_SELF" if process.comm_self is not None and self._context is process.comm_self._context else ""

    def Get_name(self) -> str:
        """Its name, empty unless it was given one or is MPI's own."""
        given, name = self._belonging("name"), self._predefined()
        return str(given) if given is not None else name and f"MPI_{name}"

    def Set_name(self, name: str) -> None:
        """Name it."""
        self._check_alive()
        self._belongings().name = str(name)

    def Get_info(self) -> Info:
        """A copy of its info."""
        self._check_alive()
        return Info.Create(self._belonging("info"))

    def Set_info(self, info: Info) -> None:
        """Give it info."""
        self._check_alive()
        self._belongings().info = Info._copy_of(info)

    def _errhandler(self) -> Errhandler | None:
        found: Errhandler | None = self._belonging("errhandler")
        return found

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        self._belongings().errhandler = errhandler

    def _predefined_attr(self, keyval: int) -> Any:
        process: Any = self._process
        universe = process.universe
        return {
            TAG_UB: TAG_LIMIT, IO: ANY_SOURCE, WTIME_IS_GLOBAL: True,
            UNIVERSE_SIZE: universe.cost.places or universe.started, APPNUM: process.appnum,
            LASTUSEDCODE: last_used_code(),
        }.get(keyval)  # fmt: skip

    name = property(Get_name, Set_name)
    info = property(Get_info, Set_info)

    def Get_topology(self) -> int:
        """CART, GRAPH, DIST_GRAPH, or UNDEFINED if it has none."""
        self._check_alive()
        topology = self._belonging("topology")
        return UNDEFINED if topology is None else topology.kind

    topology = property(Get_topology)
    is_topo = property(lambda self: self.Get_topology() != UNDEFINED)

    def _values(self, make: bool = False) -> Any:
        own = self._belongings() if make else self._own
        if own is None:
            return None
        if make and own.attributes is None:
            own.attributes = {}
        return own.attributes
