"""Checkpoint and restart: pickle by rank, atomic rename, glob."""

import glob
import os
import pickle
import shutil
import tempfile
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
base = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
for step in range(3):
    state = {
        "step": step,
        "x": np.full(3, comm.rank + step),
        "rng": np.random.RandomState(comm.rank).get_state()[1][:2].tolist(),
    }
    tmp = os.path.join(base, f".ck-{comm.rank}.tmp")
    with open(tmp, "wb") as f:
        pickle.dump(state, f, protocol=pickle.HIGHEST_PROTOCOL)
        f.flush()
        os.fsync(f.fileno())
    os.replace(tmp, os.path.join(base, f"ck-{step:03d}-{comm.rank}.pkl"))
comm.Barrier()
found = sorted(glob.glob(os.path.join(base, f"ck-*-{comm.rank}.pkl")))
with open(found[-1], "rb") as f:
    s = pickle.load(f)
print(comm.rank, len(found), s["step"], s["x"].tolist(), s["rng"])
comm.Barrier()
if comm.rank == 0:
    print(len(os.listdir(base)))
    shutil.rmtree(base)
comm.Barrier()
print(os.path.exists(base))
