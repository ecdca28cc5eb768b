"""A rank raises KeyboardInterrupt and catches it; prints in finally."""

import signal
import os
from mpi4py import MPI

comm = MPI.COMM_WORLD
try:
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10**6):
            pass
        print("not here")
    print("no interrupt", comm.rank)
except KeyboardInterrupt:
    print("interrupted", comm.rank)
finally:
    comm.Barrier()
    print("finally", comm.rank)
