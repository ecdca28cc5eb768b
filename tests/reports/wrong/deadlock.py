"""MBI call ordering, MUST deadlock: both wait for the other's message."""

from __future__ import annotations

from typing import Any

EXPECTED = "DeadlockError"
WORDS = "cycle: 0 → 1 → 0"
RANKS = 2


def wrong(comm: Any) -> None:
    comm.recv(source=1 - comm.rank)  # here
    comm.send(1, dest=1 - comm.rank)


def right(comm: Any) -> None:
    comm.sendrecv(1, dest=1 - comm.rank, source=1 - comm.rank)
