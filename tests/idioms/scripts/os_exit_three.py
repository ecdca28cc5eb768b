# ranks: 1
import atexit
import os
from mpi4py import MPI

atexit.register(print, "never")
print("flushed", flush=True)
MPI.Finalize()
os._exit(3)
# when: full
