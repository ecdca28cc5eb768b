"""Rank 0 reads the arguments and broadcasts the namespace."""
# args: water -n 5

import argparse

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

args = None
if rank == 0:
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("-n", "--steps", type=int, default=3)
    args = parser.parse_args()
args = comm.bcast(args)
print(rank, args.name, args.steps)
