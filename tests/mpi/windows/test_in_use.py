"""Buffers of one-sided operations at the origin are in use until the program is told that the operation is over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def by_fence(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """All together."""
    window.Fence()
    begin()
    meanwhile()
    window.Fence()


def by_lock(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """Until Unlock."""
    window.Lock(other)
    begin()
    meanwhile()
    window.Unlock(other)


def by_flush(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """Until a flush of this target; from then on the buffer is the program's, though the epoch goes on."""
    window.Lock_all()
    begin()
    meanwhile()
    window.Flush_local(other)


def by_groups(window: Any, begin: Any, meanwhile: Any, other: int) -> None:
    """Until Complete."""
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
    """One operation on the other rank's memory, whose buffer is written to too early, or in time."""
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


@pytest.mark.parametrize("call", ["Put", "Accumulate", "Get", "Fetch_and_op"])
@pytest.mark.parametrize("epoch", [by_fence, by_lock, by_flush, by_groups])
def test_who_writes_to_the_buffer_of_an_operation_too_early_is_told(epoch: Any, call: str, carrier: str) -> None:
    """Where it began and what ended it; who waits is told nothing, and gets what was there."""
    end = {by_fence: "Fence", by_lock: "Unlock", by_flush: "Flush_local", by_groups: "Complete"}[epoch]
    (one,) = fakempi.run(main, 2, epoch, call, True, carrier=carrier, buffers=True).findings
    assert (one.kind, one.ranks, one.call) == ("buffer-in-use", (0,), call)
    assert one.sentence.startswith(f"its buffer was written to before {end} at test_in_use.py:")
    with pytest.raises(fakempi.FindingsError, match="buffer-in-use: rank 0: "):
        fakempi.run(main, 2, epoch, call, True, carrier=carrier, strict=True)
    done = fakempi.run(main, 2, epoch, call, False, carrier=carrier, strict=True)
    assert done.returns == [7 if call in ("Get", "Fetch_and_op") else 0] * 2


def test_a_request_ends_it_too_and_two_results_in_one_place_are_told() -> None:
    """Rput is over with its Wait. Of two Gets to one buffer nobody knows what is in it."""

    def requested(comm: Any) -> None:
        window = MPI.Win.Allocate(8, 8, comm=comm)
        b, other = np.ones(1), 1 - comm.rank
        window.Lock(other)
        window.Rput(b, other).Wait()
        b[0] = 5
        window.Unlock(other)
        window.Fence()
        window.Fetch_and_op(b, b, other, op=MPI.NO_OP)  # which does not read it
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
    (one,) = fakempi.run(twice, 2, buffers=True).findings
    assert (one.kind, one.ranks, one.call) == ("buffer-overlap", (0, 1), "Get")
