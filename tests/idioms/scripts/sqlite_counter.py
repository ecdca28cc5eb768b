import os
import sqlite3
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
path = comm.bcast(os.path.join(tempfile.mkdtemp(), "a.db") if comm.rank == 0 else None)
if comm.rank == 0:
    with sqlite3.connect(path) as db:
        db.execute("create table t (r integer, x real)")
    db.close()
comm.barrier()
for r in range(comm.size):
    if r == comm.rank:
        db = sqlite3.connect(path, timeout=20)
        with db:
            db.executemany("insert into t values (?, ?)", [(r, i / 2) for i in range(3)])
        db.close()
    comm.barrier()
db = sqlite3.connect(path)
print(comm.rank, db.execute("select count(*), sum(x), max(r) from t").fetchone())
db.close()
# when: full
