"""MBI resource leak, MUST leak checks: group-leak."""

from __future__ import annotations

from typing import Any

EXPECTED = "group-leak"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    whole = comm.Get_group()
    thing = whole.Incl([0])  # here
    whole.Free()
    del thing


def right(comm: Any) -> None:
    whole = comm.Get_group()
    thing = whole.Incl([0])
    whole.Free()
    thing.Free()
