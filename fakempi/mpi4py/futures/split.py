"""One rank of a communicator on one side, the others on the other."""

from __future__ import annotations

from typing import Any

from fakempi import MPI


def comm_split(comm: MPI.Intracomm, root: int) -> tuple[Any, Any]:
    """Between the root and all others: an intercommunicator, and for the others one of their own. Of one rank, neither."""
    if comm.Get_size() == 1:
        return MPI.COMM_NULL, MPI.COMM_NULL
    master = comm.Get_rank() == root
    side = comm.Split(0 if master else 1)
    between = side.Create_intercomm(0, comm, (1 if root == 0 else 0) if master else root)
    if master:
        side.Free()
        return between, MPI.COMM_NULL
    return between, side
