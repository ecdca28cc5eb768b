"""Splits a communicator into master and workers."""

from __future__ import annotations

from typing import Any

from fakempi import MPI


def comm_split(comm: MPI.Intracomm, root: int) -> tuple[Any, Any]:
    """Return an intercommunicator between root and the other ranks, and an intracommunicator of the other ranks.

    Both are COMM_NULL if the communicator has 1 rank; the second is COMM_NULL on root.
    """
    if comm.Get_size() == 1:
        return MPI.COMM_NULL, MPI.COMM_NULL
    master = comm.Get_rank() == root
    side = comm.Split(0 if master else 1)
    assert isinstance(side, MPI.Intracomm)
    intercomm = side.Create_intercomm(0, comm, (1 if root == 0 else 0) if master else root)
    if master:
        side.Free()
        return intercomm, MPI.COMM_NULL
    return intercomm, side
