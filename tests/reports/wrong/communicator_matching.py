"""MBI parameter matching: sent on one communicator, received on another."""

from __future__ import annotations

from typing import Any

EXPECTED = "DeadlockError"
WORDS = "on another communicator"
RANKS = 2


def wrong(comm: Any) -> None:
    duplicate = comm.Dup()
    if comm.rank == 0:
        duplicate.send(1, dest=1)
    else:
        comm.recv(source=0)  # here
    duplicate.Free()


def right(comm: Any) -> None:
    duplicate = comm.Dup()
    if comm.rank == 0:
        duplicate.send(1, dest=1)
    else:
        duplicate.recv(source=0)
    duplicate.Free()
