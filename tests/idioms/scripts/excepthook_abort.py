"""An exception on one rank ends all: the usual hook."""
# ranks: 2

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def hook(kind, value, trace):
    print(f"{kind.__name__} on rank {rank}: {value}", flush=True)
    comm.Abort(7)


sys.excepthook = hook
if rank == 1:
    raise ValueError("bad input")
comm.Barrier()
