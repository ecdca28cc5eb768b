"""A rank replaces a function of the standard library."""

import json

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    json.dumps = lambda value: "replaced"
comm.Barrier()
print(rank, json.dumps([1]))
