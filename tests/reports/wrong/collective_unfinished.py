"""MUST: a collective that some ranks never call."""

from __future__ import annotations

from typing import Any

EXPECTED = "collective-unfinished"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 1:
        comm.gather(1, root=0)  # here


def right(comm: Any) -> None:
    comm.gather(1, root=0)
