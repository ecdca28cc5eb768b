"""Parts of a line, and a progress bar."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    for step in range(3):
        print(f"\rstep {step}", end="", flush=True)
    print()
    print("a", end="")
    sys.stdout.write("b")
    sys.stdout.write("c\n")
