"""`--help` is printed by rank 0 only."""
# args: --help

import argparse
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

parser = argparse.ArgumentParser(prog="work", add_help=False)
parser.add_argument("--help", action="store_true", help="show this text")
args = parser.parse_args()
if args.help:
    if rank == 0:
        parser.print_help()
    sys.exit(0)
