import os
import sys
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
d = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
if comm.rank == 0:
    os.mkdir(d + "/circle")
    open(d + "/circle/__init__.py", "w").write("from . import a\n")
    open(d + "/circle/a.py", "w").write(
        "from mpi4py import MPI\nfrom . import b\nrank = MPI.COMM_WORLD.rank\ndef get(): return b.get()\n"
    )
    open(d + "/circle/b.py", "w").write("import circle.a\ndef get(): return circle.a.rank\n")
comm.barrier()
sys.path.insert(0, d)
import circle  # noqa: E402

comm.barrier()
print(comm.rank, circle.a.get(), sorted(n for n in sys.modules if n.startswith("circle")))
# when: full
