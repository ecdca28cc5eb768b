"""One rank raises an exception; MPI_Finalize of this rank waits for the others."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
print("before", flush=True)
if comm.rank == 1:
    raise ValueError("no data")
comm.Barrier()
