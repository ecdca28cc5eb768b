"""Only one rank polls, with a sleep between two probes; no other rank moves until it stops."""

import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
end = time.monotonic() + float(sys.argv[1])
if comm.rank == 0:
    while not comm.Iprobe() and time.monotonic() < end:
        time.sleep(0.3)
comm.Barrier()
