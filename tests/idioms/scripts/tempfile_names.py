import os
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
with tempfile.NamedTemporaryFile("w+", suffix=f".{comm.rank}") as f:
    f.write("x")
    f.flush()
    names = comm.allgather(f.name)
    print(comm.rank, len(set(names)), all(map(os.path.exists, names)))
    comm.barrier()
with tempfile.SpooledTemporaryFile() as s:
    s.write(b"abc")
    s.seek(0)
    print(s.read())
# when: full
