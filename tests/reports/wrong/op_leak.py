"""MBI resource leak, MUST leak checks: op-leak."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "op-leak"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    thing = MPI.Op.Create(lambda one, two, datatype: None)  # here
    assert thing


def right(comm: Any) -> None:
    thing = MPI.Op.Create(lambda one, two, datatype: None)
    thing.Free()
