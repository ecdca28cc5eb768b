"""fcntl.lockf around an update of a shared file; polling of a flag file with sleep."""

import fcntl
import os
import tempfile
import time
from mpi4py import MPI

comm = MPI.COMM_WORLD
d = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
p = os.path.join(d, "counter")
for _ in range(3):
    with open(p, "a+") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        n = int(f.read() or 0)
        f.seek(0)
        f.truncate()
        f.write(str(n + 1))
        f.flush()
        fcntl.flock(f, fcntl.LOCK_UN)
flag = os.path.join(d, "flag")
if comm.rank == comm.size - 1:
    time.sleep(0.02)
    open(flag, "w").close()
else:
    while not os.path.exists(flag):
        time.sleep(0.005)
comm.Barrier()
print(open(p).read())
comm.Barrier()
if comm.rank == 0:
    for n in os.listdir(d):
        os.remove(os.path.join(d, n))
    os.rmdir(d)
