"""MBI resource leak, MUST leak checks: datatype-leak."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "datatype-leak"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    thing = MPI.INT.Create_contiguous(2).Commit()  # here
    assert thing


def right(comm: Any) -> None:
    thing = MPI.INT.Create_contiguous(2).Commit()
    thing.Free()
