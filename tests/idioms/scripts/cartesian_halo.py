"""The exchange with the neighbors of a periodic grid."""
# ranks: 4

import numpy as np

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

grid = comm.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False])
field = np.full(2, float(grid.rank))
for direction in range(2):
    source, dest = grid.Shift(direction, 1)
    halo = np.full(2, -1.0)
    grid.Sendrecv(field, dest, recvbuf=halo, source=source)
    print(rank, grid.coords, direction, halo)
