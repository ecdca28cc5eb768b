"""MBI request lifecycle: missing start."""

from __future__ import annotations

from typing import Any

from fakempi import MPI

EXPECTED = "missing-start"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    request = comm.Send_init(bytearray(1), dest=MPI.PROC_NULL)  # here
    request.Wait()
    request.Free()


def right(comm: Any) -> None:
    request = comm.Send_init(bytearray(1), dest=MPI.PROC_NULL)
    request.Start()
    request.Wait()
    request.Free()
