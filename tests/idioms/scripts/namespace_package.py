import os
import sys
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
d = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
if comm.rank == 0:
    for part in ("one", "two"):
        os.makedirs(f"{d}/{part}/spaced")
        open(f"{d}/{part}/spaced/{part}.py", "w").write("from mpi4py import MPI\nvalue = MPI.COMM_WORLD.rank\n")
comm.barrier()
sys.path[:0] = [d + "/one", d + "/two"]
import spaced.one  # noqa: E402
import spaced.two  # noqa: E402

comm.barrier()
print(
    comm.rank,
    spaced.one.value,
    spaced.two.value,
    spaced.__file__ if hasattr(spaced, "__file__") else None,
    len(spaced.__path__),
)
# when: full
