"""One rank writes and synchronizes a file in small pieces, the others wait."""

import os
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
end = time.monotonic() + float(sys.argv[1])
if comm.rank == 0:
    with open(sys.argv[2], "wb") as file:
        while time.monotonic() < end:
            file.seek(0)
            file.write(bytes(1 << 20))
            os.fsync(file.fileno())
comm.Barrier()
