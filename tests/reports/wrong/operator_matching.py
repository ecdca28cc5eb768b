"""MBI parameter matching: ranks name different operations."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "RankError"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    comm.allreduce(1, op=MPI.MAX if comm.rank else MPI.SUM)  # here


def right(comm: Any) -> None:
    comm.allreduce(1, op=MPI.MAX)
