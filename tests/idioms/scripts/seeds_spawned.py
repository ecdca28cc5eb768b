"""Monte carlo with SeedSequence.spawn"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
seeds = np.random.SeedSequence(42).spawn(comm.size) if comm.rank == 0 else None
rng = np.random.default_rng(comm.scatter(seeds))
x = rng.random((1000, 2))
hits = int(((x**2).sum(1) < 1).sum())
print(comm.rank, hits, comm.allreduce(hits))
print(np.random.Generator(np.random.PCG64(comm.rank)).integers(10, size=3), comm.scan(hits), comm.exscan(hits))
