"""Buffers of one-sided operations at the origin are in use until a call reports their completion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each


def by_fence(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """Use until the next fence."""
    window.Fence()
    begin()
    meanwhile()
    window.Fence()


def by_lock(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """Use until Unlock."""
    window.Lock(other)
    begin()
    meanwhile()
    window.Unlock(other)


def by_flush(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """Use until a flush of this target; afterwards the buffer can be reused, although the epoch continues."""
    window.Lock_all()
    begin()
    meanwhile()
    window.Flush_local(other)


def by_groups(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """Use until Complete."""
    group = window.group
    peer = group.Incl([other])
    window.Post(peer)
    window.Start(peer)
    begin()
    meanwhile()
    window.Complete()
    window.Wait()
    peer.Free()
    group.Free()


def main(comm: Any, epoch: Any, call: str, early: bool) -> Any:
    """One operation on the other rank's memory, whose buffer is written too early, or in time."""
    memory, b, other = np.full(2, 7.0), np.zeros(1), 1 - comm.rank
    window = MPI.Win.Create(memory, 8, comm=comm)

    def begin() -> None:
        if call == "Fetch_and_op":
            window.Fetch_and_op(np.ones(1), b, other)
        else:
            getattr(window, call)(b, other)

    def meanwhile() -> None:
        if early and comm.rank == 0:
            b[0] = 9

    epoch(window, begin, meanwhile, other)
    came = b[0]
    b[0] = 8
    if epoch is by_flush:
        window.Unlock_all()
    comm.Barrier()
    window.Free()
    return came


@for_each("call", ["Put", "Accumulate", "Get", "Fetch_and_op"])
@for_each("epoch", [by_fence, by_lock, by_flush, by_groups])
def test_a_write_to_the_buffer_of_an_operation_too_early_is_reported(epoch: Any, call: str, backend: Any) -> None:
    """The finding has the start and the end of the use; a program that waits has no finding, and gets the data."""
    end = {by_fence: "Fence", by_lock: "Unlock", by_flush: "Flush_local", by_groups: "Complete"}[epoch]
    (one,) = fakempi.run(main, 2, epoch, call, True, backend=backend, check_buffers=True).findings
    assert (one.kind, one.ranks, one.call) == ("buffer-in-use", (0,), call)
    assert one.sentence.startswith(f"its buffer was written to before {end} at test_in_use.py:")
    with pytest.raises(fakempi.FindingsError, match="buffer-in-use: rank 0: "):
        fakempi.run(main, 2, epoch, call, True, backend=backend, strict=True)
    done = fakempi.run(main, 2, epoch, call, False, backend=backend, strict=True)
    assert done.returns == [7 if call in ("Get", "Fetch_and_op") else 0] * 2


def test_a_request_ends_the_use_and_two_results_in_one_place_are_reported() -> None:
    """The use of Rput ends with its Wait. Two Gets to one buffer leave its content undefined."""

    def requested(comm: Any) -> None:
        window = MPI.Win.Allocate(8, 8, comm=comm)
        b, other = np.ones(1), 1 - comm.rank
        window.Lock(other)
        window.Rput(b, other).Wait()
        b[0] = 5
        window.Unlock(other)
        window.Fence()
        window.Fetch_and_op(b, b, other, op=MPI.NO_OP)  # it does not read the buffer
        window.Fence()
        window.Free()

    def twice(comm: Any) -> None:
        window = MPI.Win.Allocate(8, 8, comm=comm)
        b = np.ones(1)
        window.Fence()
        window.Get(b, 0)
        window.Get(b, 1)
        window.Fence()
        window.Free()

    assert not fakempi.run(requested, 2, strict=True).findings
    (one,) = fakempi.run(twice, 2, check_buffers=True).findings
    assert (one.kind, one.ranks, one.call) == ("buffer-overlap", (0, 1), "Get")
