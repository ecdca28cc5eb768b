"""MBI invalid communicator: used after it was freed."""

from __future__ import annotations

from typing import Any

EXPECTED = "RankError"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    duplicate = comm.Dup()
    duplicate.Free()
    duplicate.Barrier()  # here


def right(comm: Any) -> None:
    duplicate = comm.Dup()
    duplicate.Barrier()
    duplicate.Free()
