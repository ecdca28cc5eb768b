"""Lines at once."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

sys.stdout.reconfigure(line_buffering=True)
print("from", rank, sys.stdout.line_buffering)
