"""COMM_WORLD and COMM_SELF: one object for all ranks, which resolves to the running rank's handle."""

from __future__ import annotations

from types import MemberDescriptorType
from typing import Any

from fakempi.core.world_use import world_use
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import current_process, running_process
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.resource_tracker import untrack
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.comms.properties import HasProperties
from fakempi.mpi.point.handle import CommState


def comm_world() -> object:
    """Return the running rank's COMM_WORLD."""
    if world_use.observer is not None:
        world_use.observer()
    return running_process().comm_world


def comm_self() -> object:
    """Return the running rank's COMM_SELF, made at its first use."""
    if world_use.observer is not None:
        world_use.observer()
    process = running_process()
    if process.comm_self is None:
        side = Context(process.universe, Members(range(process.number, process.number + 1))).sides[0]
        process.comm_self = Intracomm._make(process, side, side, 0)
        untrack("communicator-leak", side.context)
    return process.comm_self


class _Running(Intracomm):
    """A handle that resolves to the running rank's handle at each use, for names bound before any rank runs."""

    __slots__ = ("_name_in_mpi", "_resolve")

    _name_in_mpi: str
    _resolve: Any

    def __new__(cls, comm: Comm | None = None) -> Intracomm:  # type: ignore[misc]  # a handle of the running rank, not of this class
        """Return the running rank's own handle."""
        return Intracomm(comm)

    _make = Intracomm._make  # type: ignore[assignment]  # new communicators have ordinary handles

    @classmethod
    def _named(cls, name: str, resolve: object) -> Any:
        self = object.__new__(cls)
        self._name_in_mpi, self._resolve = name, resolve
        return self

    def free(self) -> None:
        """Do nothing: predefined communicators cannot be freed."""

    def __repr__(self) -> str:
        return f"<{self._name_in_mpi} of the running rank>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._name_in_mpi


def _slot_of_running_rank(slot: MemberDescriptorType) -> property:
    return property(lambda self: slot.__get__(self._resolve()), lambda self, value: slot.__set__(self._resolve(), value))


for _owner in (CommState, HasProperties):
    for _name, _slot in vars(_owner).items():
        if isinstance(_slot, MemberDescriptorType):
            setattr(_Running, _name, _slot_of_running_rank(_slot))

COMM_WORLD = _Running._named("COMM_WORLD", comm_world)
COMM_SELF = _Running._named("COMM_SELF", comm_self)


def of_running_rank(name: str) -> Any:
    """Return COMM_WORLD or COMM_SELF, for pickles that were made in a thread that no rank runs in."""
    handle, own = {"COMM_WORLD": (COMM_WORLD, comm_world), "COMM_SELF": (COMM_SELF, comm_self)}[name]
    return resolve(name, handle, own)


Comm._of_running_rank = staticmethod(of_running_rank)


def resolve(name: str, handle: Any, own: Any) -> Any:
    """Return the running rank's own handle, which is faster; outside a rank, the handle that resolves at each use."""
    return own() if current_process() is not None else handle
