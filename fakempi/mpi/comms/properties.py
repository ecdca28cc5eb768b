"""Properties of a communicator: size, rank, group, name, info, error handler, attributes and topology.

A rank may have several handles of a communicator; all of them share the properties.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from fakempi.mpi.base.attributes import Attributed, object_name
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
from fakempi.mpi.base.process import Process
from fakempi.mpi.comms.group import Group
from fakempi.mpi.point.handle import TAG_LIMIT, CommState


class CommProperties:
    """The properties of a communicator: one object for all handles of a rank."""

    __slots__ = ("attributes", "errhandler", "handles", "info", "name", "topology")

    def __init__(self) -> None:
        self.attributes: Any = None
        self.errhandler: Errhandler | None = None
        self.handles: list[ref[Any]] = []  # empty if there is only one
        self.info: Info | None = None
        self.name: str | None = None
        self.topology: Any = None

    def add_handle(self, *handles: Any) -> None:
        """Add handles, and remove those that no longer exist."""
        self.handles = [*(reference for reference in self.handles if reference() is not None), *map(ref, handles)]


class HasProperties(CommState, Attributed):
    """A communicator's size, rank, group, name, info, error handler, attributes and topology."""

    __slots__ = ("_own_properties",)
    _attribute_kind = "Comm"

    _own_properties: CommProperties | None  # None for most communicators

    def _properties(self) -> CommProperties:
        if self._own_properties is None:
            self._own_properties = CommProperties()
        return self._own_properties

    def _property(self, name: str) -> Any:
        return None if self._own_properties is None else getattr(self._own_properties, name)

    def _predefined(self) -> str:
        """Return the name of a predefined communicator, otherwise an empty string."""
        process = self._process
        if self._context is None:
            return "COMM_NULL"
        if self._context is process.comm_world._context:
            return "COMM_WORLD"
        return "COMM_SELF" if process.comm_self is not None and self._context is process.comm_self._context else ""

    def Get_size(self) -> int:
        """Return the number of ranks in the (local) group."""
        return len(self._local().boxes)

    def Get_rank(self) -> int:
        """Return this process's rank in the (local) group."""
        self._check_alive()
        return self._rank

    def Get_group(self) -> Group:
        """Return the (local) group."""
        return Group._make(self._local().members, self._process.number)

    def Is_inter(self) -> bool:
        """Return whether this is an intercommunicator."""
        return self._local().context.is_inter

    def Is_intra(self) -> bool:
        """Return whether this is an intracommunicator."""
        return not self.Is_inter()

    @property
    def size(self) -> int:
        """The number of ranks in the (local) group."""
        return len(self._local().boxes)

    @property
    def rank(self) -> int:
        """This process's rank in the (local) group."""
        self._check_alive()
        return self._rank

    @property
    def group(self) -> Group:
        """The (local) group."""
        return self.Get_group()

    @property
    def is_inter(self) -> bool:
        """Whether this is an intercommunicator."""
        return self.Is_inter()

    @property
    def is_intra(self) -> bool:
        """Whether this is an intracommunicator."""
        return self.Is_intra()

    def Get_name(self) -> str:
        """Return the name; empty unless it was set or the communicator is predefined."""
        given, name = self._property("name"), self._predefined()
        return str(given) if given is not None else name and f"MPI_{name}"

    def Set_name(self, name: str) -> None:
        """Set the name, truncated to MAX_OBJECT_NAME."""
        self._check_alive()
        self._properties().name = object_name(name)

    def Get_info(self) -> Info:
        """Return a copy of the info."""
        self._check_alive()
        return Info.Create(self._property("info"))

    def Set_info(self, info: Info) -> None:
        """Set the info."""
        self._check_alive()
        self._properties().info = Info._copy_of(info)

    def _errhandler(self) -> Errhandler | None:
        errhandler: Errhandler | None = self._property("errhandler")
        return errhandler

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        self._properties().errhandler = errhandler

    def _predefined_attr(self, keyval: int) -> Any:
        process: Process = self._process
        universe = process.universe
        return {
            TAG_UB: TAG_LIMIT, IO: ANY_SOURCE, WTIME_IS_GLOBAL: True,
            UNIVERSE_SIZE: universe.cost.places or universe.started, APPNUM: process.appnum,
            LASTUSEDCODE: last_used_code(),
        }.get(keyval)  # fmt: skip

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

    def Get_topology(self) -> int:
        """Return CART, GRAPH, DIST_GRAPH, or UNDEFINED without a topology."""
        self._check_alive()
        topology = self._property("topology")
        return UNDEFINED if topology is None else topology.kind

    @property
    def topology(self) -> int:
        """CART, GRAPH, DIST_GRAPH, or UNDEFINED without a topology."""
        return self.Get_topology()

    @property
    def is_topo(self) -> bool:
        """Whether the communicator has a topology."""
        return self.Get_topology() != UNDEFINED

    def _values(self, make: bool = False) -> Any:
        own = self._properties() if make else self._own_properties
        if own is None:
            return None
        if make and own.attributes is None:
            own.attributes = {}
        return own.attributes
