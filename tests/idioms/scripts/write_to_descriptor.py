"""Output by a system call."""

import os
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

sys.stdout.flush()
os.write(1, b"written by " + str(rank).encode() + b"\n")
