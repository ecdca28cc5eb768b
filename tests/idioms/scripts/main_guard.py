"""Functions, a guard, and an exit status from `main`."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

def main():
    print("sum", comm.allreduce(rank))
    return 0


if __name__ == "__main__":
    sys.exit(main())
