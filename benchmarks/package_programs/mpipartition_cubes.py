"""mpipartition sends particles to the rank whose cube contains them."""

import numpy as np
from mpi4py import MPI
from mpipartition import Partition, distribute

partition = Partition(3)
rng = np.random.RandomState(partition.rank)
found = distribute(partition, 1.0, {name: rng.uniform(0, 1, 50) for name in "xyz"}, list("xyz"))
low, high = np.array(partition.origin), np.array(partition.origin) + np.array(partition.extent)
inside = all(((low[axis] <= found[name]) & (found[name] <= high[axis])).all() for axis, name in enumerate("xyz"))
total = MPI.COMM_WORLD.allreduce(len(found["x"]))
print(f"{partition.rank}: {len(found['x'])} of {total} {bool(inside)}\n", end="", flush=True)
