"""A script runs another file."""

import os
import runpy
import tempfile

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

name = os.path.join(tempfile.gettempdir(), f"idiom-{os.getpid()}-{rank}.py")
with open(name, "w") as file:
    file.write("value = 6 * 7\nname = __name__\n")
found = runpy.run_path(name, run_name="other")
os.remove(name)
print(rank, found["value"], found["name"])
