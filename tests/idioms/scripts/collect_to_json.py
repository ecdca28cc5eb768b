"""Rank 0 gathers and writes one file."""

import json

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

results = comm.gather({"rank": rank, "square": rank**2})
if rank == 0:
    print(json.dumps(results, sort_keys=True))
