"""Attributes of the main module, and the command line as typed."""
# ranks: 2
# args: --steps 3

import sys

from mpi4py import MPI

names = __name__, __package__, __spec__, __doc__, __loader__.name, type(__loader__).__name__
print(MPI.COMM_WORLD.rank, names, sys.orig_argv == [sys.executable, *sys.argv])
