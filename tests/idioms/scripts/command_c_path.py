# command: -c
# args: a b
import sys
from mpi4py import MPI

print(MPI.COMM_WORLD.rank, repr(sys.path[0]), sys.argv, __name__, "__file__" in globals(), __spec__)
# when: full
