"""MBI invalid communicator: used after it was freed."""

from __future__ import annotations

from typing import Any

EXPECTED = "RankError"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    twin = comm.Dup()
    twin.Free()
    twin.Barrier()  # here


def right(comm: Any) -> None:
    twin = comm.Dup()
    twin.Barrier()
    twin.Free()
