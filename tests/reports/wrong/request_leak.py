"""MBI resource leak, MUST leak checks: request-leak."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "request-leak"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    thing = comm.Recv_init(bytearray(1), source=MPI.PROC_NULL)  # here
    thing.Start()
    thing.Wait()


def right(comm: Any) -> None:
    thing = comm.Recv_init(bytearray(1), source=MPI.PROC_NULL)
    thing.Start()
    thing.Wait()
    thing.Free()
