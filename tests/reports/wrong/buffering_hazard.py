"""MBI buffering hazard: the program ends only with buffering."""

from __future__ import annotations

from typing import Any

EXPECTED = "unsafe-send"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    comm.send(1, dest=1 - comm.rank)  # here
    comm.recv(source=1 - comm.rank)


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1, dest=1)
        comm.recv(source=1)
    else:
        comm.recv(source=0)
        comm.send(1, dest=0)
