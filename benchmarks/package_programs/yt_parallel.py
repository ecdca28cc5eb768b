"""yt distributes the chunks of a grid and a loop over objects over ranks."""

import numpy as np
import yt
from mpi4py import MPI

yt.set_log_level(50)
yt.enable_parallelism(suppress_logging=True)
comm = MPI.COMM_WORLD
density = np.random.RandomState(3).rand(8, 8, 8)
data = yt.load_uniform_grid({"density": density}, density.shape, nprocs=4).all_data()
found = [round(float(value), 6) for value in data.quantities.extrema("density")]
squares = {}
for store, number in yt.parallel_objects(range(4), storage=squares):
    store.result = number * number
print(f"{comm.rank}: {found} {sorted((int(key), int(value)) for key, value in squares.items())}\n", end="", flush=True)
