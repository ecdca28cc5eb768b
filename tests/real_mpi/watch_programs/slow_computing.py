"""One rank computes, the others wait."""

import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
end = time.monotonic() + float(sys.argv[1])
total = 0
if comm.rank == 1:
    while time.monotonic() < end:
        for number in range(1000):
            total += number
comm.Barrier()
