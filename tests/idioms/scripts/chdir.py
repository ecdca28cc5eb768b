"""Every rank works in its own directory."""

import os
import shutil
import tempfile
from pathlib import Path

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

top = comm.bcast(tempfile.mkdtemp() if rank == 0 else None)
os.makedirs(f"{top}/{rank}")
os.chdir(f"{top}/{rank}")
comm.Barrier()
Path("result.txt").write_text(f"result of {rank}\n")
comm.Barrier()
print(Path.cwd().name, Path("result.txt").read_text().strip())
comm.Barrier()
if rank == 0:
    os.chdir("/")
    shutil.rmtree(top)
