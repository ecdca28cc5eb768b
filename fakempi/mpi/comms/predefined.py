"""COMM_WORLD, COMM_SELF and their groups: one name for all ranks, which stands for the running rank's own."""

from __future__ import annotations

from typing import Any

from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import current_process, running_process
from fakempi.mpi.base.duties import done
from fakempi.mpi.base.members import Members
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.comms.properties import Furnished
from fakempi.mpi.point.handle import CommState


def comm_world() -> Any:
    """The running rank's COMM_WORLD."""
    return running_process().comm_world


def comm_self() -> Any:
    """The running rank's COMM_SELF, made when it is first used."""
    process = running_process()
    if process.comm_self is None:
        side = Context(process.universe, Members(range(process.number, process.number + 1))).sides[0]
        process.comm_self = Intracomm._make(process, side, side, 0)
        done("communicator-leak", side.context)
    return process.comm_self


class _Running(Intracomm):
    """A handle that looks up the running rank's own at each use, for names that are bound before any rank runs."""

    __slots__ = ("_name_in_mpi", "_resolve")

    _name_in_mpi: str
    _resolve: Any

    def __new__(cls, comm: Any = None) -> Any:
        """Of such a handle, the running rank's own."""
        return Intracomm(comm)

    _make = Intracomm._make  # what is made of it is no such handle

    @classmethod
    def _named(cls, name: str, resolve: Any) -> Any:
        self = object.__new__(cls)
        self._name_in_mpi, self._resolve = name, resolve
        return self

    def free(self) -> None:
        """Nothing: it stands for what cannot be freed."""

    def __repr__(self) -> str:
        return f"<{self._name_in_mpi} of the running rank>"

    def __reduce__(self) -> Any:
        return self._name_in_mpi


def _stands_for_the_running_ranks(slot: str) -> property:
    return property(lambda self: getattr(self._resolve(), slot), lambda self, value: setattr(self._resolve(), slot, value))


for _slot in (*CommState.__slots__, *Furnished.__slots__):
    if _slot != "__weakref__":
        setattr(_Running, _slot, _stands_for_the_running_ranks(_slot))

COMM_WORLD = _Running._named("COMM_WORLD", comm_world)
COMM_SELF = _Running._named("COMM_SELF", comm_self)


def resolve(name: str, handle: Any, own: Any) -> Any:
    """While a rank runs, its own handle, which is faster; otherwise the one that looks it up."""
    return own() if current_process() is not None else handle
