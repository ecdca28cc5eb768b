"""Context variables belong to a rank."""

import contextvars

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

current = contextvars.ContextVar("current", default="nothing")
current.set(f"rank {rank}")
comm.Barrier()
print(current.get())
