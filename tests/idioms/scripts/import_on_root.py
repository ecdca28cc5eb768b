"""A module that only rank 0 imports."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

if rank == 0:
    import sqlite3

    base = sqlite3.connect(":memory:")
    print(base.execute("select 6 * 7").fetchone())
comm.Barrier()
print(rank, "sqlite3" in globals())
