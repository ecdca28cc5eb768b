"""Data next to the script."""

import sys
from pathlib import Path

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

here = Path(__file__).resolve().parent
print(rank, (here / Path(__file__).name).exists(), Path(sys.argv[0]).name == Path(__file__).name)
