"""sqlite, shelve, zip, tar, mmap, fcntl"""

import sqlite3
import shelve
import zipfile
import mmap
import fcntl
import os
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
r = comm.rank
d = comm.bcast(tempfile.mkdtemp() if r == 0 else None)
os.chdir(d)
db = sqlite3.connect(f"{r}.db")
db.execute("create table t (x)")
db.execute("insert into t values (?)", (r,))
db.commit()
print(db.execute("select * from t").fetchall())
db.close()
with shelve.open(f"s{r}") as s:
    s["a"] = [r]
with shelve.open(f"s{r}") as s:
    print(s["a"])
with zipfile.ZipFile(f"{r}.zip", "w") as z:
    z.writestr("a", "b" * r)
comm.Barrier()
print(zipfile.ZipFile(f"{(r + 1) % comm.size}.zip").read("a"))
for _ in range(comm.size):
    with open("log", "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(f"{r}\n")
        f.flush()
        fcntl.flock(f, fcntl.LOCK_UN)
    comm.Barrier()
print(sorted(open("log").read().split()))
if r == 0:
    open("map", "wb").write(bytes(comm.size))
comm.Barrier()
with open("map", "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    m[r] = r + 65
    comm.Barrier()
    print(bytes(m))
    comm.Barrier()
if r == 0:
    import shutil

    os.chdir("/")
    shutil.rmtree(d)
