"""`sys.exit` with a tuple: printed on standard error, exit status 1."""
# ranks: 1

import sys

from mpi4py import MPI

MPI.COMM_WORLD.Barrier()
sys.exit((1, 2))
