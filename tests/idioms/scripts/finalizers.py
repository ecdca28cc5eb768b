"""weakref.finalize and __del__ that frees"""

import weakref
import atexit
from mpi4py import MPI


class Solver:
    def __init__(self, comm):
        self.comm = comm.Dup()
        self.f = weakref.finalize(self, print, "finalized", comm.rank)

    def __enter__(self):
        return self

    def __exit__(self, *e):
        self.comm.Free()
        print("freed", e[0])

    def __del__(self):
        if self.comm and not MPI.Is_finalized():
            self.comm.Free()
            print("del")


a = Solver(MPI.COMM_WORLD)
del a
with Solver(MPI.COMM_WORLD) as s:
    print(s.comm.allreduce(1))
kept = Solver(MPI.COMM_WORLD)
atexit.register(lambda: print("atexit", MPI.Is_finalized()))
