"""An exit status is a byte."""
# ranks: 1

import sys

from mpi4py import MPI

MPI.COMM_WORLD.Barrier()
sys.exit(300)
