"""MBI message race: a wildcard receive with two candidates."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "wildcard-race"
WORDS = ""
RANKS = 3


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        for _ in range(2):
            comm.recv(source=MPI.ANY_SOURCE)  # here
    else:
        comm.send(1, dest=0)


def right(comm: Any) -> None:
    if comm.rank == 0:
        for rank in (1, 2):
            comm.recv(source=rank)
    else:
        comm.send(1, dest=0)
