"""MBI request lifecycle: missing wait."""

from __future__ import annotations

from typing import Any

EXPECTED = "missing-wait"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.isend(1, dest=1)  # here
    else:
        comm.recv(source=0)


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.isend(1, dest=1).wait()
    else:
        comm.recv(source=0)
