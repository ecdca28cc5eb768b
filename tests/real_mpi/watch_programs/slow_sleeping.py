"""Ranks sleep in turns, always at the same line."""

import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
for _ in range(int(float(sys.argv[1]) / 0.5)):
    time.sleep(0.5)
comm.Barrier()
