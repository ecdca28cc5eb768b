"""MUST lost messages."""

from __future__ import annotations

from typing import Any

EXPECTED = "message-lost"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1, dest=1, tag=7)  # here


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1, dest=1, tag=7)
    else:
        comm.recv(source=0, tag=7)
