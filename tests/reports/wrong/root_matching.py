"""MBI parameter matching: ranks name different roots."""

from __future__ import annotations

from typing import Any

EXPECTED = "RankError"
WORDS = "root=comm.rank is"
RANKS = 2


def wrong(comm: Any) -> None:
    comm.bcast(1, root=comm.rank)  # here


def right(comm: Any) -> None:
    comm.bcast(1, root=0)
