"""stdout closed by ranks"""

import sys
import os
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank:
    sys.stdout.close()
    sys.stdout = None
print("hello", comm.rank)
sys.stderr = open(os.devnull, "w")
print("x", file=sys.stderr)
comm.Barrier()
sys.stdout = sys.__stdout__
if comm.rank == 0:
    os.system("echo from shell >/dev/null")
    print("end")
else:
    sys.stdout = open(os.devnull, "w")
