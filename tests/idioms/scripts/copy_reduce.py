"""Objects with `__reduce__` and properties."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    def __reduce__(self):
        return Angle, (self.degrees % 360,)


print(rank, comm.bcast(Angle(730) if rank == 0 else None).degrees)
