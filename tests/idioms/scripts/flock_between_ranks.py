import fcntl
import os
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = comm.bcast(tempfile.mkstemp()[1] if comm.rank == 0 else None)
with open(path, "r+") as f:
    if comm.rank == 0:
        fcntl.flock(f, fcntl.LOCK_EX)
    comm.barrier()
    busy = False
    if comm.rank == 1:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            busy = True
    comm.barrier()
    if comm.rank == 0:
        fcntl.flock(f, fcntl.LOCK_UN)
    comm.barrier()
    print(comm.rank, busy)
if comm.rank == 0:
    os.unlink(path)
# when: full
