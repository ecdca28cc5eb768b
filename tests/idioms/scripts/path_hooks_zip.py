import os
import sys
import tempfile
import zipfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
p = comm.bcast(os.path.join(tempfile.mkdtemp(), "lib.zip") if comm.rank == 0 else None)
if comm.rank == 0:
    with zipfile.ZipFile(p, "w") as z:
        z.writestr("zipped_pack/__init__.py", "from mpi4py import MPI\nrank = MPI.COMM_WORLD.Get_rank()\n")
        z.writestr("zipped_pack/data.txt", "content")
comm.barrier()
sys.path.insert(0, p)
import zipped_pack  # noqa: E402
import importlib.resources  # noqa: E402

print(
    comm.rank,
    zipped_pack.rank,
    importlib.resources.files("zipped_pack").joinpath("data.txt").read_text(),
    type(zipped_pack.__loader__).__name__,
)
# when: full
