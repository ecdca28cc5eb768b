"""sqlite3 on the root, shelve and dbm on every rank."""

import sqlite3
import shelve
import tempfile
import os
from mpi4py import MPI

comm = MPI.COMM_WORLD
rows = comm.gather((comm.rank, comm.rank**2))
if comm.rank == 0:
    db = sqlite3.connect(":memory:")
    with db:
        db.execute("create table t (r integer, v integer)")
        db.executemany("insert into t values (?, ?)", rows)
    print(db.execute("select sum(v) from t").fetchone())
    db.close()
with tempfile.TemporaryDirectory() as d:
    with shelve.open(os.path.join(d, "s")) as s:
        s["rank"] = {"r": comm.rank}
    with shelve.open(os.path.join(d, "s"), "r") as s:
        print(dict(s))
