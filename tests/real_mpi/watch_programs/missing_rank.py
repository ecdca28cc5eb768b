"""One rank does not call the collective operation: it waits for a message."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 2:
    comm.recv(source=0, tag=1)
comm.Barrier()
