"""One rank waits in a loop for a value that no thread changes."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
ready = False
if comm.rank == 1:
    while not ready:
        pass
comm.Barrier()
