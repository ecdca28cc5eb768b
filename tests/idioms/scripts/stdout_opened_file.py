import os
import sys
import tempfile
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank
path = os.path.join(tempfile.gettempdir(), f"out_{os.getpid()}_{rank}")
saved = sys.stdout
sys.stdout = open(path, "w")
print("into the file", rank)
MPI.COMM_WORLD.barrier()
print("again")
sys.stdout.close()
sys.stdout = saved
print(rank, open(path).read().split("\n"))
os.unlink(path)
# when: full
