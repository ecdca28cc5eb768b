"""Rank 0 reads the arguments; wrong ones end all ranks with exit status 2."""
# args: --steps many

import argparse
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

args = None
try:
    if rank == 0:
        parser = argparse.ArgumentParser(prog="work", description="an example")
        parser.add_argument("--steps", type=int, default=3)
        args = parser.parse_args()
except SystemExit:
    pass
finally:
    args = comm.bcast(args, root=0)
if args is None:
    print("no arguments on", rank)
    sys.exit(2)
