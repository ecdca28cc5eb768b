"""MBI invalid root; MUST argument checks."""

from __future__ import annotations

from typing import Any

EXPECTED = "RankError"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    comm.bcast(1, root=2)  # here


def right(comm: Any) -> None:
    comm.bcast(1, root=1)
