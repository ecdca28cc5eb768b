"""MBI call ordering: collectives in different orders."""

from __future__ import annotations

from typing import Any

EXPECTED = "RankError"
WORDS = "all ranks must make the same collective calls in the same order"
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.barrier()
        comm.allreduce(1)
    else:
        comm.allreduce(1)  # here
        comm.barrier()


def right(comm: Any) -> None:
    comm.barrier()
    comm.allreduce(1)
