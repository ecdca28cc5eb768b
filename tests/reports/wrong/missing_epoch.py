"""MBI epoch lifecycle: an access without an epoch."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "epoch"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    window = MPI.Win.Allocate(8, comm=comm)
    window.Put(bytearray(8), 0)  # here
    window.Free()


def right(comm: Any) -> None:
    window = MPI.Win.Allocate(8, comm=comm)
    window.Fence()
    if comm.rank == 0:
        window.Put(bytearray(8), 0)
    window.Fence()
    window.Free()
