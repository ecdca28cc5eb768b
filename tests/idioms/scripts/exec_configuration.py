"""A configuration file in Python."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

settings = {}
if rank == 0:
    exec(compile("steps = 2 ** 4\nname = 'wave'", "config.py", "exec"), settings)
    settings.pop("__builtins__")
print(rank, sorted(comm.bcast(settings).items()))
