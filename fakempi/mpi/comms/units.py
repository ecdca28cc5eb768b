"""Processors and network interfaces of a rank: for schedules whose ranks have several of them."""

from __future__ import annotations

from collections.abc import Iterable

from fakempi.core.network.parameters import Time
from fakempi.core.network.ports import Port
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.point.handle import NullOperation
from fakempi.mpi.point.request import Request

Interfaces = tuple[int, int]
"""The network interfaces (nics) of the sender and of the receiver of a message."""


class Units:
    """The processors and network interfaces of the calling rank.

    Messages between two nics have a communicator: they are in order, and its mailboxes receive through the receivers' nics.
    All ranks create their `Units` with the same interfaces before they communicate.
    """

    def __init__(self, comm: Intracomm, interfaces: Iterable[Interfaces]) -> None:
        self._process = comm._process
        self._computes_until: Time = 0
        self._comm = comm
        network = comm._network
        number = self._process.number
        self._nics: dict[int, tuple[Port, Port]] = {0: (comm._out_port, network.into[number])}
        self._comms: dict[Interfaces, Intracomm] = {}
        for sender, receiver in sorted({*interfaces} - {(0, 0)}):
            for nic in (sender, receiver):
                if nic not in self._nics:
                    self._nics[nic] = network.ports.add_interface(number)
            other = self._comms[sender, receiver] = comm.Dup()
            other._out_port = self._nics[sender][0]
            other._mailbox().into = self._nics[receiver][1]

    def comm(self, interfaces: Interfaces) -> Intracomm:
        """Return the communicator of messages between two nics."""
        return self._comms.get(interfaces, self._comm)

    def compute(self, seconds: float) -> Request:
        """Return a request that completes after some modeled time: one processor computes, and others may do so, too."""
        now, recorder = self._process.loop.now, self._process.universe.recorder
        end = now + seconds
        if recorder is not None and end > self._computes_until:  # the trace has the times in which any processor computes
            recorder.computed(self._process.number, max(now, self._computes_until), end)
            self._computes_until = end
        return Request._of(self._comm, NullOperation(end))

    def seconds_to_combine(self, nbytes: int) -> float:
        """Return the modeled time that a processor takes to combine operands."""
        return float(nbytes * self._process.universe.network.cost.compute_per_byte)

    def finish(self) -> None:
        """Count the messages of all nics at the rank's ports, for the result of the run."""
        out, into = self._nics.pop(0)
        for other_out, other_into in self._nics.values():
            out.sent += other_out.sent
            out.bytes_sent += other_out.bytes_sent
            into.received += other_into.received
            into.bytes_received += other_into.bytes_received
        for comm in self._comms.values():
            comm.Free()
