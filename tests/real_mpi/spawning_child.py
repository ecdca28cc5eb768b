"""The program that `spawning_parent.py` spawns. Not a test itself."""

from __future__ import annotations

import sys

from mpi4py import MPI

comm, parent = MPI.COMM_WORLD, MPI.Comm.Get_parent()
what, *words = sys.argv[1:]
facts = (comm.rank, comm.size, parent.remote_size, comm.Get_attr(MPI.APPNUM), words)

if what == "merge":
    merged = parent.Merge(True)
    merged.gather((merged.rank, "child", *facts))
    parent.Split(parent.rank % 2)
elif what == "tell":
    parent.send(facts, 0)
else:
    port = parent.bcast(None, 0)
    for turn in range(2):
        inter = comm.Connect(port, root=1)
        if comm.rank == 1:
            inter.send((turn, inter.size, inter.remote_size), 0)
        inter.Disconnect()
parent.Disconnect()
