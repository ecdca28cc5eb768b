"""Operations on another rank's memory: Put, Get, Accumulate and those that do both at once."""

from __future__ import annotations

import sys
from typing import Any

from fakempi.mpi.base.constants import PROC_NULL
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.buffers.payload import payload_of
from fakempi.mpi.operations.op import NO_OP, SUM, Op
from fakempi.mpi.point.handle import NullOperation
from fakempi.mpi.point.request import Request
from fakempi.mpi.windows import operations
from fakempi.mpi.windows.epochs import Epochs
from fakempi.mpi.windows.express import put_at_once
from fakempi.mpi.windows.places import Extent, aim, aim_elements, aim_single, as_payload, swap_if_equal
from fakempi.mpi.windows.races import ACCUMULATE, GET, PUT, Accesses, place_of
from fakempi.mpi.windows.window import Part


class OneSided(Epochs):
    """What one rank does to the memory of another. A target is `displacement` or `[displacement, count, datatype]`."""

    __slots__ = ()

    def Put(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Write to a target."""
        if not put_at_once(self._part, origin, target_rank, target) and target_rank != PROC_NULL:
            self._put(origin, target_rank, target, False)

    def Get(self, origin: Any, target_rank: int, target: Any = None) -> None:
        """Read from a target."""
        if target_rank != PROC_NULL:
            self._get(origin, target_rank, target, False)

    def Accumulate(self, origin: Any, target_rank: int, target: Any = None, op: Op = SUM) -> None:
        """Combine with what a target has; REPLACE is an atomic Put, element by element."""
        if target_rank != PROC_NULL:
            self._accumulate(origin, target_rank, target, op, False)

    def Get_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None, op: Op = SUM) -> None:
        """Read what a target has, and combine with it; NO_OP is an atomic Get."""
        if target_rank != PROC_NULL:
            self._get_accumulate(origin, result, target_rank, target, op, False)

    def Fetch_and_op(self, origin: Any, result: Any, target_rank: int, target_disp: int = 0, op: Op = SUM) -> None:
        """As `Get_accumulate`, of one element of a predefined type."""
        if target_rank == PROC_NULL:
            return
        part = self._alive()
        there = self._part_of(part, target_rank)
        aim_single({"origin": origin, "result": result}, target_disp, there, "fetch")
        self._get_accumulate(origin, result, target_rank, int(target_disp), op, False)

    def Compare_and_swap(
        self, origin: Any, compare: Any, result: Any, target_rank: int, target_disp: int = 0
    ) -> None:
        """Read one element, and replace it if it equals another."""
        if target_rank == PROC_NULL:
            return
        part = self._alive()
        there = self._part_of(part, target_rank)
        specs = {"origin": origin, "compare": compare, "result": result}
        (new, old, found), place, extent = aim_single(specs, target_disp, there, "compare")
        size = place.nbytes
        change = swap_if_equal(payload_of(old))
        operation = operations.RoundTrip(
            part, payload_of(new), 2 * size, as_payload(place), payload_of(found), size, change
        )  # fmt: skip
        self._begin(part, there, operation, extent, ACCUMULATE, False)

    # -- with a request -----------------------------------------------------------------------------------------------

    def Rput(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """As `Put`; the request ends when the buffer may be used again."""
        return self._requested(target_rank, lambda: self._put(origin, target_rank, target, True))

    def Rget(self, origin: Any, target_rank: int, target: Any = None) -> Request:
        """As `Get`; the request ends when the data are there."""
        return self._requested(target_rank, lambda: self._get(origin, target_rank, target, True))

    def Raccumulate(self, origin: Any, target_rank: int, target: Any = None, op: Op = SUM) -> Request:
        """As `Accumulate`; the request ends when the buffer may be used again."""
        return self._requested(target_rank, lambda: self._accumulate(origin, target_rank, target, op, True))

    def Rget_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any = None, op: Op = SUM) -> Request:
        """As `Get_accumulate`; the request ends when the data are there."""
        return self._requested(
            target_rank, lambda: self._get_accumulate(origin, result, target_rank, target, op, True)
        )  # fmt: skip

    def _requested(self, target_rank: int, begin: Any) -> Request:
        part = self._alive()
        request = Request._of(self, NullOperation(part.loop.now) if target_rank == PROC_NULL else begin())
        if part.held and target_rank != PROC_NULL:
            request._pin = part.held[-1][1]
        return request

    # -- inside -------------------------------------------------------------------------------------------------------

    def _put(self, origin: Any, target_rank: int, target: Any, requested: bool) -> Any:
        part = self._alive()
        there = self._part_of(part, target_rank)
        content, nbytes, place, extent = aim(origin, target, there, False)
        return self._begin(part, there, operations.Put(part, content, nbytes, place), extent, PUT, requested)

    def _get(self, origin: Any, target_rank: int, target: Any, requested: bool) -> Any:
        part = self._alive()
        there = self._part_of(part, target_rank)
        result, nbytes, place, extent = aim(origin, target, there, True)
        operation = operations.RoundTrip(part, None, 0, place, result, nbytes)
        return self._begin(part, there, operation, extent, GET, requested)

    def _accumulate(self, origin: Any, target_rank: int, target: Any, op: Op, requested: bool) -> Any:
        part = self._alive()
        there = self._part_of(part, target_rank)
        content, nbytes, place, extent, combine = aim_elements(origin, target, there, op)
        operation = operations.Accumulate(part, content, nbytes, place, combine)
        return self._begin(part, there, operation, extent, ACCUMULATE, requested)

    def _get_accumulate(self, origin: Any, result: Any, target_rank: int, target: Any, op: Op, requested: bool) -> Any:
        part = self._alive()
        there = self._part_of(part, target_rank)
        content, nbytes, place, extent, combine = aim_elements(origin, target, there, op)
        into, size, _, _ = aim(result, target, there, True)
        operation = operations.RoundTrip(part, content, 0 if op == NO_OP else nbytes, place, into, size, combine)
        return self._begin(part, there, operation, extent, ACCUMULATE, requested)

    def _part_of(self, part: Part, target_rank: Any) -> Part:
        parts = part.window.parts  # type: ignore[union-attr]
        if target_rank.__class__ is int and 0 <= target_rank < len(parts):
            return parts[target_rank]
        return parts[self._target(part, target_rank)]

    def _begin(
        self, part: Part, there: Part, operation: operations.Operation, extent: Extent, kind: int, requested: bool
    ) -> Completion | None:
        """Put an operation into its epoch; what a request of it waits for."""
        self._check_living(part, there)
        operation.epoch = epoch = self._epoch(part, there.rank, requested)
        if epoch.__class__ is not int and epoch.lost is not None:
            self._check_living(part, epoch.lost)
        if there.accesses is None:
            there.accesses = Accesses(there)
        access = extent, kind, part.process.number, place_of(sys._getframe(1))
        if there.stores is not None:
            operation.access = access
        if part.process.pins is not None:
            operation.pin = part.hold(there.rank, operation)
        if requested:
            operation.request = Completion(epoch)
        if epoch.__class__ is int:
            part.leaving[epoch] += 1
            there.coming[epoch] += 1
            there.accesses.note(*access, epoch)
            operation.go(part.lane(there.rank))
        else:
            epoch.begin(operation, *access)
        return operation.request
