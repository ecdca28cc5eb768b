"""A Tee class that copies stdout to a file; sys.stdout assigned for the rest of the program."""

import sys
import tempfile
import os
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Tee:
    def __init__(self, name):
        self.file = open(name, "w")
        self.out = sys.stdout
        sys.stdout = self

    def __getattr__(self, n):
        return getattr(self.out, n)

    def write(self, s):
        self.file.write(s)
        self.out.write(s)

    def flush(self):
        self.file.flush()
        self.out.flush()

    def close(self):
        sys.stdout = self.out
        self.file.close()


name = os.path.join(tempfile.gettempdir(), f"tee{os.getpid()}_{comm.rank}")
tee = Tee(name)
print("both", comm.rank)
comm.Barrier()
print("again", comm.rank, flush=True)
tee.close()
print(open(name).read().split("\n"))
os.remove(name)
