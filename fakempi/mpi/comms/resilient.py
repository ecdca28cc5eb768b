"""Calls of User Level Failure Mitigation (ULFM) on any communicator: revoke, agree, shrink, acknowledge failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fakempi.core.kernel.agenda import Time
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_PROC_FAILED
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.region import wait_region
from fakempi.mpi.base.waiting import Completion, wait_one
from fakempi.mpi.buffers.raw import bytes_of, memory_of
from fakempi.mpi.comms.group import Group
from fakempi.mpi.failures.agreement import join_agreement
from fakempi.mpi.failures.fault_state import FaultState
from fakempi.mpi.failures.kill import check_peers
from fakempi.mpi.failures.state import FailureState
from fakempi.mpi.interfaces.buffers import Buffer
from fakempi.mpi.point.handle import CommState
from fakempi.mpi.point.request import Request

if TYPE_CHECKING:
    from fakempi.mpi.comms.comm import Comm


class Resilient(CommState):
    """ULFM's methods of a communicator."""

    __slots__ = ()
    _kinds: ClassVar[Any]

    def Revoke(self) -> None:
        """Make pending and later operations on the communicator fail with ERR_REVOKED, except Agree and Shrink.

        Other ranks learn of it after the latency of an empty message.
        """
        fault_state = self._fault_state()
        check_peers(self._process.universe)
        self._process.universe.note_unexplored("when other ranks learn that a communicator is revoked")
        fault_state.revoke(self._process.number)

    def Is_revoked(self) -> bool:
        """Return whether this rank knows that the communicator is revoked."""
        fault_state = self._fault_state()  # raises an error if the communicator is null
        return self._process.number in fault_state.knows_revoked

    def Get_failed(self) -> Group:
        """Return the group of members that are known to have died."""
        return Group._make(Members.of(self._fault_state().failed), self._process.number)

    def Ack_failed(self, num_to_ack: int | None = None) -> int:
        """Acknowledge failed members, all or the first `num_to_ack`; return the number that this rank has acknowledged.

        Receives from any source then ignore these failures.
        """
        fault_state, number = self._fault_state(), self._process.number
        known = len(fault_state.failed)
        wanted = known if num_to_ack is None else integer("num_to_ack", num_to_ack)
        fault_state.acknowledged[number] = max(fault_state.acknowledged.get(number, 0), min(known, wanted))
        return fault_state.acknowledged[number]

    def Agree(self, flag: int) -> int:
        """Return the bitwise AND of the survivors' flags; raise an error for unacknowledged failures."""
        arrival = self._agree(integer("flag", flag))
        with wait_region(self._process, "agree"):
            wait_one(self._loop, arrival)
        self._check_acknowledged()
        return int(arrival.result)

    def Iagree(self, flag: Buffer) -> Request:
        """Start an agreement; `flag` is a buffer of one C int, which receives the result when the request completes."""
        memory = memory_of(flag, writable=True)[0]
        flag_bytes: Any = bytes_of(memory)
        if flag_bytes.nbytes != 4:
            raise mpi_error(ERR_ARG, f"flag has {flag_bytes.nbytes} bytes, but a C int has 4.", MPIValueError)
        cell = flag_bytes.view(np.int32)
        stored = StoredResult(lambda result: cell.__setitem__(0, result), self._recording("iagree"))
        arrival = self._agree(int(cell[0]), stored)
        return Request._of(self, arrival, flag)

    def Shrink(self) -> Comm:
        """Return a communicator of the surviving members."""
        new, arrival = self._shrink()
        with wait_region(self._process, "shrink"):
            wait_one(self._loop, arrival)
        shrunk: Comm = new
        return shrunk

    def Ishrink(self) -> tuple[Comm, Request]:
        """Start to shrink; the new communicator can be used once the request has completed."""
        new, arrival = self._shrink(self._recording("ishrink"))
        return new, Request._of(self, arrival)

    # -- private ------------------------------------------------------------------------------------------------------

    def _fault_state(self) -> FaultState:
        side = self._local()
        self._process.universe.state(FailureState).handled = True
        return FaultState.of(side.context)

    def _agree(self, flag: int, arrival: Completion | None = None) -> Completion:
        arrival = arrival or Completion()

        def conclude(values: dict[int, int], survivors: list[int]) -> int:
            result = -1
            for number in survivors:
                result &= values[number]
            return result

        join_agreement(self._fault_state(), self._process.number, "Agree", flag, conclude, arrival)
        return arrival

    def _check_acknowledged(self) -> None:
        fault_state = self._fault_state()
        dead = fault_state.failed[fault_state.acknowledged.get(self._process.number, 0) :]
        if dead:
            ranks = self._process.universe.names.text(dead, 6)
            sentence = (
                f"{ranks} {'has' if len(dead) == 1 else 'have'} died, and this rank has not acknowledged it (Ack_failed)."
            )
            self._raise(mpi_error(ERR_PROC_FAILED, sentence))

    def _recording(self, name: str) -> Callable[[Time], None] | None:
        """Return a function that records a nonblocking call, from now to its end, in the trace; None without a trace."""
        self._local()  # raises an error if the communicator is null
        recorder, number, start = self._process.universe.recorder, self._process.number, self._loop.now
        if recorder is None:
            return None
        call, record = recorder.call(), recorder.record
        return lambda end: record(number, name, start, end, call=call)

    def _shrink(self, record: Callable[[Time], None] | None = None) -> tuple[Any, Completion]:
        side = self._local()
        context, process = side.context, self._process
        mine = context.sides.index(side)
        new = self._kinds[context.is_inter]()

        def conclude(values: dict[int, None], survivors: list[int]) -> Context:
            alive = set(survivors)
            groups = [Members.of([number for number in old_side.members if number in alive]) for old_side in context.sides]
            return Context(context.universe, *groups)

        def attach(result: Context) -> None:
            new_side, peer_side = result.sides[mine], result.sides[-1 - mine]
            rank: int = new_side.members.index(process.number)  # type: ignore[assignment]  # this process is a member
            new._attach(process, new_side, peer_side, rank)

        arrival = StoredResult(attach, record)
        join_agreement(self._fault_state(), process.number, "Shrink", None, conclude, arrival)
        return new, arrival


class StoredResult(Completion):
    """An operation that stores its result when it completes. `record(end)` records it in a trace."""

    __slots__ = ("put", "record")

    def __init__(self, put: Callable[[Any], None], record: Callable[[Time], None] | None = None) -> None:
        super().__init__()
        self.put, self.record = put, record

    def complete(self, end: Time) -> None:
        """Complete at the given time."""
        self.put(self.result)
        self.result = None
        if self.record is not None:
            self.record(end)
        super().complete(end)
