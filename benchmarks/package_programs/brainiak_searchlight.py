"""BrainIAK distributes the blocks of a volume over ranks and evaluates a function around each voxel."""

import numpy as np
from brainiak.searchlight.searchlight import Searchlight
from mpi4py import MPI

comm = MPI.COMM_WORLD
shape = (6, 6, 6)
data = [np.random.RandomState(5).rand(*shape, 4) if comm.rank == 0 else None]
mask = np.ones(shape, dtype=bool)
search = Searchlight(sl_rad=1, max_blk_edge=3)
search.distribute(data, mask)
search.broadcast(2.0)
found = search.run_searchlight(lambda values, mask, radius, factor: factor * values[0][mask].mean(), pool_size=1)
if comm.rank == 0:
    inner = found[1:-1, 1:-1, 1:-1].astype(float)
    print(inner.shape, round(float(inner.sum()), 6))
