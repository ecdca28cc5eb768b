"""os.fork after import of MPI; child writes a file through a pipe and leaves with os._exit."""

# ranks: 2
import os
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
r, wr = os.pipe()
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    os.close(r)
    os.write(wr, f"child of {comm.rank}".encode())
    os._exit(5)
os.close(wr)
text = os.read(r, 100).decode()
_, st = os.waitpid(pid, 0)
print(comm.rank, text, os.WEXITSTATUS(st))
print(comm.allreduce(1))
