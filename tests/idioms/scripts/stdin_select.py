"""select on stdin"""

# stdin: line\n
import select
import sys
import os
from mpi4py import MPI

comm = MPI.COMM_WORLD
comm.Barrier()
r, _, _ = select.select([sys.stdin], [], [], 0.1)
print(comm.rank, sys.stdin.fileno() >= 0)
if comm.rank == 0:
    print(os.read(sys.stdin.fileno(), 100))
