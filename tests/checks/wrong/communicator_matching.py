"""MBI parameter matching: sent on one communicator, awaited on another."""

from __future__ import annotations

from typing import Any

EXPECTED = "DeadlockError"
WORDS = "on another communicator"
RANKS = 2


def wrong(comm: Any) -> None:
    twin = comm.Dup()
    if comm.rank == 0:
        twin.send(1, dest=1)
    else:
        comm.recv(source=0)  # here
    twin.Free()


def right(comm: Any) -> None:
    twin = comm.Dup()
    if comm.rank == 0:
        twin.send(1, dest=1)
    else:
        twin.recv(source=0)
    twin.Free()
