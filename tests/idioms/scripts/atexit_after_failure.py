"""Functions registered with atexit run when `sys.exit` ends the rank with an error."""

import atexit
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

atexit.register(lambda: print("cleaning up on", rank))
comm.Barrier()
sys.exit(4)
