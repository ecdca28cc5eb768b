"""MBI invalid rank; MUST argument checks."""

from __future__ import annotations

from typing import Any

EXPECTED = "RankError"
WORDS = "dest 2 is not in 0..1"
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1, dest=comm.size)  # here


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1, dest=comm.size - 1)
    else:
        comm.recv(source=0)
