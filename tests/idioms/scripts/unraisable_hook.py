import sys
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank
sys.unraisablehook = lambda info: print(rank, type(info.exc_value).__name__, info.exc_value, info.object.__qualname__)


class Bad:
    def __del__(self):
        raise ValueError(f"of rank {rank}")


b = Bad()
del b
MPI.COMM_WORLD.barrier()
print(rank, "continues")
# when: full
