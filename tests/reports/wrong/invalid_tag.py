"""MBI invalid tag; MUST argument checks."""

from __future__ import annotations

from typing import Any

EXPECTED = "RankError"
WORDS = "tag -5 is not in"
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1, dest=1, tag=-5)  # here


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1, dest=1, tag=5)
    else:
        comm.recv(source=0, tag=5)
