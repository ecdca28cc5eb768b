import os
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
with tempfile.TemporaryDirectory() as d:
    start = os.getcwd()
    if comm.rank == 1:
        os.chdir(d)
    comm.barrier()
    open("relative.txt", "w").write(str(comm.rank)) if comm.rank == 1 else None
    comm.barrier()
    print(comm.rank, os.path.exists("relative.txt"), os.getcwd() == start, os.path.basename(os.path.abspath("x")))
    os.chdir(start)
# when: full
