"""Environment variables that a rank sets are its own, and its children inherit them."""
# ranks: 2

import os
import subprocess
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

os.environ["WORK_RANK"] = str(rank)
comm.Barrier()
code = "import os; print('child of', os.environ['WORK_RANK'])"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
