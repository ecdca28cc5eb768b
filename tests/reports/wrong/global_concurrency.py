"""MBI global concurrency: two ranks write to the same location of a window."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "window-race"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    window = MPI.Win.Allocate(8, comm=comm)
    window.Fence()
    window.Put(bytearray(8), 0)  # here
    window.Fence()
    window.Free()


def right(comm: Any) -> None:
    window = MPI.Win.Allocate(16, comm=comm)
    window.Fence()
    window.Put(bytearray(8), 0, 8 * comm.rank)
    window.Fence()
    window.Free()
