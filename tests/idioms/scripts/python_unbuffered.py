"""`mpiexec -n 2 python -u script.py`."""
# ranks: 2
# python: -u -s

import sys

from mpi4py import MPI

sys.stdout.write(f"{MPI.COMM_WORLD.allreduce(1)} {sys.argv[1:]}\n")
