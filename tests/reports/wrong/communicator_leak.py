"""MBI resource leak, MUST leak checks: communicator-leak."""

from __future__ import annotations

from typing import Any

EXPECTED = "communicator-leak"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    thing = comm.Dup()  # here
    assert thing


def right(comm: Any) -> None:
    thing = comm.Dup()
    thing.Free()
