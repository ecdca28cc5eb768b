"""One rank holds the lock of a file and waits for a rank that waits for the lock."""

import fcntl
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
with open(sys.argv[1], "w") as file:
    if comm.rank == 0:
        fcntl.flock(file, fcntl.LOCK_EX)
        comm.send("locked", dest=1)
        comm.Barrier()
    else:
        comm.recv(source=0)
        fcntl.flock(file, fcntl.LOCK_EX)
        comm.Barrier()
