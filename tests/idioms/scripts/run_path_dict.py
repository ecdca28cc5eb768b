import os
import runpy
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
fd, p = tempfile.mkstemp(suffix=".py")
os.close(fd)
open(p, "w").write("from mpi4py import MPI\nresult = MPI.COMM_WORLD.rank * factor\nname = __name__\n")
out = runpy.run_path(p, init_globals={"factor": 3}, run_name="other")
print(comm.rank, out["result"], out["name"], __name__)
os.unlink(p)
# when: full
