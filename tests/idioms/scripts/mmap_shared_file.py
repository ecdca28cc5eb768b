import mmap
import os
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
fd, path = tempfile.mkstemp() if comm.rank == 0 else (None, None)
if comm.rank == 0:
    os.write(fd, bytes(comm.size * 8))
    os.close(fd)
path = comm.bcast(path)
with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    m[comm.rank * 8 : comm.rank * 8 + 4] = f"r{comm.rank:03}".encode()
    m.flush()
    comm.barrier()
    print(comm.rank, m[:].replace(b"\0", b"."))
    comm.barrier()
if comm.rank == 0:
    os.unlink(path)
# when: full
