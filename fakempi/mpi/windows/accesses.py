"""Operations on another rank's memory: Put, Get, Accumulate, and the atomic operations that read and write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex

from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.constants import PROC_NULL
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.buffers.payload import payload_of
from fakempi.mpi.buffers.typing import BufSpec, TargetSpec
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.operations.op import NO_OP, SUM, Op
from fakempi.mpi.point.handle import NullOperation
from fakempi.mpi.point.request import Request
from fakempi.mpi.windows import operations
from fakempi.mpi.windows.epochs import Epochs
from fakempi.mpi.windows.fast_put import fast_put
from fakempi.mpi.windows.races import ACCUMULATE, GET, PUT, TargetAccesses, source_line
from fakempi.mpi.windows.target_memory import (
    Extent,
    as_payload,
    check_without_target,
    locate,
    locate_element,
    locate_elements,
    swap_if_equal,
)
from fakempi.mpi.windows.window import WindowPart


class OneSidedCalls(Epochs):
    """The operations of a Win. A target is `displacement` or `[displacement, count, datatype]`."""

    __slots__ = ()

    def Put(self, origin: BufSpec, target_rank: int, target: TargetSpec | None = None) -> None:
        """Write to a target."""
        if not fast_put(self._part, origin, target_rank, target, frame_at(1)):
            if target_rank == PROC_NULL:
                check_without_target(target)
            else:
                self._put(origin, target_rank, target, False)

    def Get(self, origin: BufSpec, target_rank: int, target: TargetSpec | None = None) -> None:
        """Read from a target."""
        if target_rank == PROC_NULL:
            check_without_target(target)
        else:
            self._get(origin, target_rank, target, False)

    def Accumulate(self, origin: BufSpec, target_rank: int, target: TargetSpec | None = None, op: Op = SUM) -> None:
        """Combine data with the target's elements; REPLACE is a Put that is atomic for each element."""
        if target_rank == PROC_NULL:
            check_without_target(target)
        else:
            self._accumulate(origin, target_rank, target, op, False)

    def Get_accumulate(
        self, origin: BufSpec, result: BufSpec, target_rank: int, target: TargetSpec | None = None, op: Op = SUM
    ) -> None:
        """Read the target's elements and combine data with them; NO_OP is an atomic Get."""
        if target_rank == PROC_NULL:
            check_without_target(target)
        else:
            self._get_accumulate(origin, result, target_rank, target, op, False)

    def Fetch_and_op(self, origin: BufSpec, result: BufSpec, target_rank: int, target_disp: int = 0, op: Op = SUM) -> None:
        """Do a `Get_accumulate` of one element of a predefined type."""
        specs = {"origin": origin, "result": result}
        if target_rank == PROC_NULL:
            check_without_target(target_disp)
            return
        part = self._alive()
        target_part = self._part_of(part, target_rank)
        locate_element(specs, target_disp, target_part, "fetch")
        self._get_accumulate(origin, result, target_rank, int(target_disp), op, False)

    def Compare_and_swap(
        self, origin: BufSpec, compare: BufSpec, result: BufSpec, target_rank: int, target_disp: int = 0
    ) -> None:
        """Read one element, and replace it with the origin's if it equals the compared one."""
        specs = {"origin": origin, "compare": compare, "result": result}
        if target_rank == PROC_NULL:
            check_without_target(target_disp)
            return
        part = self._alive()
        target_part = self._part_of(part, target_rank)
        (new, old, fetched), target_data, extent = locate_element(specs, target_disp, target_part, "compare")
        size = target_data.nbytes
        change = swap_if_equal(payload_of(old))
        operation = operations.RoundTrip(
            part, payload_of(new), 2 * size, as_payload(target_data), payload_of(fetched), size, change
        )  # fmt: skip
        self._begin(part, target_part, operation, extent, ACCUMULATE, False)

    # -- with a request -----------------------------------------------------------------------------------------------

    def Rput(self, origin: BufSpec, target_rank: int, target: TargetSpec | None = None) -> Request:
        """Start a `Put`; the request completes when the buffer may be reused."""
        return self._requested(target_rank, target, lambda: self._put(origin, target_rank, target, True))

    def Rget(self, origin: BufSpec, target_rank: int, target: TargetSpec | None = None) -> Request:
        """Start a `Get`; the request completes when the data have arrived."""
        return self._requested(target_rank, target, lambda: self._get(origin, target_rank, target, True))

    def Raccumulate(self, origin: BufSpec, target_rank: int, target: TargetSpec | None = None, op: Op = SUM) -> Request:
        """Start an `Accumulate`; the request completes when the buffer may be reused."""
        return self._requested(
            target_rank, target, lambda: self._accumulate(origin, target_rank, target, op, True)
        )  # fmt: skip

    def Rget_accumulate(
        self, origin: BufSpec, result: BufSpec, target_rank: int, target: TargetSpec | None = None, op: Op = SUM
    ) -> Request:
        """Start a `Get_accumulate`; the request completes when the data have arrived."""
        return self._requested(
            target_rank, target, lambda: self._get_accumulate(origin, result, target_rank, target, op, True)
        )  # fmt: skip

    def _requested(self, target_rank: int, target: TargetSpec | None, begin: Callable[[], Operation]) -> Request:
        part = self._alive()
        if target_rank == PROC_NULL:
            check_without_target(target)
        request = Request._of(self, NullOperation(part.loop.now) if target_rank == PROC_NULL else begin())
        if part.uses and target_rank != PROC_NULL:
            request._buffer_use = part.uses[-1][1]
        return request

    # -- private ------------------------------------------------------------------------------------------------------

    def _put(self, origin: BufSpec, target_rank: int, target: TargetSpec | None, requested: bool) -> Any:
        part = self._alive()
        target_part = self._part_of(part, target_rank)
        content, nbytes, target_data, extent = locate(origin, target, target_part, False)
        return self._begin(part, target_part, operations.Put(part, content, nbytes, target_data), extent, PUT, requested)

    def _get(self, origin: BufSpec, target_rank: int, target: TargetSpec | None, requested: bool) -> Any:
        part = self._alive()
        target_part = self._part_of(part, target_rank)
        result, nbytes, target_data, extent = locate(origin, target, target_part, True)
        nothing: Any = None  # it sends no data
        operation = operations.RoundTrip(part, nothing, 0, target_data, result, nbytes)
        return self._begin(part, target_part, operation, extent, GET, requested)

    def _accumulate(self, origin: BufSpec, target_rank: int, target: TargetSpec | None, op: Op, requested: bool) -> Any:
        part = self._alive()
        target_part = self._part_of(part, target_rank)
        content, nbytes, target_data, extent, combine = locate_elements(origin, target, target_part, op)
        operation = operations.Accumulate(part, content, nbytes, target_data, combine)
        return self._begin(part, target_part, operation, extent, ACCUMULATE, requested)

    def _get_accumulate(
        self, origin: BufSpec, result: BufSpec, target_rank: int, target: TargetSpec | None, op: Op, requested: bool
    ) -> Any:
        part = self._alive()
        target_part = self._part_of(part, target_rank)
        content, nbytes, target_data, extent, combine = locate_elements(origin, target, target_part, op)
        into, size, _, _ = locate(result, target, target_part, True)
        operation = operations.RoundTrip(part, content, 0 if op == NO_OP else nbytes, target_data, into, size, combine)
        return self._begin(part, target_part, operation, extent, ACCUMULATE, requested)

    def _part_of(self, part: WindowPart, target_rank: SupportsIndex) -> WindowPart:
        parts = part.window.parts  # type: ignore[union-attr]  # the window is not freed
        if target_rank.__class__ is int and 0 <= target_rank < len(parts):
            return parts[target_rank]
        return parts[self._target(part, target_rank)]

    def _begin(
        self,
        part: WindowPart,
        target_part: WindowPart,
        operation: operations.WindowOperation,
        extent: Extent,
        kind: int,
        requested: bool,
    ) -> Completion | None:
        """Add an operation to its epoch; return the completion that its request waits for."""
        self._check_living(part, target_part)
        operation.epoch = epoch = self._epoch(part, target_part.rank, requested)
        if epoch.__class__ is not int and epoch.lost is not None:
            self._check_living(part, epoch.lost)
        if target_part.accesses is None:
            target_part.accesses = TargetAccesses(target_part)
        access = extent, kind, part.process.number, source_line(frame_at(1))
        if target_part.stores is not None:
            operation.access = access
        if part.process.buffer_checks is not None:
            operation.use = part.use_buffers(target_part.rank, operation)
        if requested:
            operation.request = Completion(epoch)
        if epoch.__class__ is int:
            part.outgoing[epoch] += 1
            target_part.incoming[epoch] += 1
            target_part.accesses.note(*access, epoch)
            operation.start(part.channel(target_part.rank))
        else:
            if part.fence_place is not None and not part.enclosed_epoch:
                part.enclosed_epoch = f"{epoch.opened_by} at {epoch.place}"
            epoch.begin(operation, *access)
        if part.process.buffer_checks is not None:
            part.process.buffer_checks.let_data_move()
        return operation.request
